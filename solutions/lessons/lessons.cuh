// SPDX-License-Identifier: MIT
// Host functions that launch the kernels of the lessons, and do not synchronise.
#pragma once

#include <cstdint>

struct CUstream_st;

namespace course::lessons {

constexpr unsigned kMaxPaths = 32;

// d_out[i] = d_in[i] after `rounds` multiply-adds with the constants of path d_path[i] < kMaxPaths.
void along_paths(const float* d_in, const std::uint8_t* d_path, float* d_out, std::uint64_t n,
                 unsigned rounds, CUstream_st* stream);

// What an atomicAdd to shared memory adds, and whether the value before it is used.
enum class Addition : unsigned { of_one, of_a_variable, with_old_value };

// Each of `n_blocks` · 1,024 threads does `rounds` additions in shared memory; the lanes of a warp use
// `addresses` different words (a power of two up to 32).
void add_in_shared(Addition addition, unsigned n_blocks, unsigned addresses, unsigned rounds, unsigned* d_out,
                   CUstream_st* stream);

// networks.cu: scans rows of kRow items, row after row. In a step, thread t adds the item at position
// d_sources[step * kRow + t] to its own; none if that is negative. kLogRow steps, with two arrays if a step
// reads what it writes, or 2 * kLogRow - 2.
constexpr unsigned kLogRow = 10, kRow = 1u << kLogRow;
void scan_rows(unsigned n_steps, bool two_arrays, const int* d_in, const short* d_sources, unsigned n_rows,
               int* d_out, unsigned n_blocks, CUstream_st* stream);

// levels.cu: the exclusive scan of n items, a power of two that is at least 2; returns the number of launches.
unsigned scan_by_levels(const int* d_in, std::uint64_t n, int* d_out, CUstream_st* stream);

// runs.cu: a histogram by sorting is keys_of, a sort of the keys, and lengths_of_runs. Keys are below
// n_counts; d_ends has space for 2 * n_counts numbers.
void keys_of(const std::int32_t* d_samples, std::uint64_t n, std::uint32_t n_bins, std::int64_t lo,
             std::int64_t hi, std::uint32_t* d_keys, CUstream_st* stream);
void lengths_of_runs(const std::uint32_t* d_sorted, std::uint64_t n, std::uint32_t n_counts,
                     std::uint64_t* d_ends, std::uint64_t* d_counts, CUstream_st* stream);

}  // namespace course::lessons
