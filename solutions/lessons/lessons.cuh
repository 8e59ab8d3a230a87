// SPDX-License-Identifier: MIT
// The kernels of divergence.cu and atomics.cu, which lessons.cpp measures: host functions that launch them
// and do not synchronise.
#pragma once

#include <cstdint>

struct CUstream_st;

namespace course::lessons {

constexpr unsigned kMostPaths = 32;

// d_out[i] = d_in[i] after `rounds` multiply-adds with the constants of path d_path[i] < kMostPaths.
void along_paths(const float* d_in, const std::uint8_t* d_path, float* d_out, std::uint64_t n,
                 unsigned rounds, CUstream_st* stream);

// What an atomicAdd to shared memory adds, and whether the value before it is used.
enum class Addition : unsigned { of_one, of_a_variable, with_old_value };

// Each of `n_blocks` · 1,024 threads does `rounds` additions in shared memory; the lanes of a warp use
// `addresses` different words (a power of two up to 32).
void add_in_shared(Addition addition, unsigned n_blocks, unsigned addresses, unsigned rounds, unsigned* d_out,
                   CUstream_st* stream);

}  // namespace course::lessons
