// SPDX-License-Identifier: MIT
// Beyond one GPU: reduction, scan, histogram and sort of an array that lies on several devices, with NCCL.
// The lab's API. Read: Rank and the shards (what each rank has), the jobs (what a task gets), the sizes, Rung
// (the tasks). points.hpp says what the tasks are worth; dispatch.hpp turns a request into a job. The
// student's .cu file, the solutions, the CPU side (problem.cpp) and the tests include this header, so it
// includes no large header.
// Invariants: rank r has device r and shard r; the array is shard 0, then shard 1, and so on. Shards have any
// lengths, also 0. One host thread makes the calls of all ranks, so NCCL's calls for one operation stand
// between ncclGroupStart and ncclGroupEnd, and every rank makes them, also one whose shard is empty.
#pragma once

#include <cstdint>
#include <span>

#include "lab/operators.hpp"
#include "lab/request.hpp"
#include "lab/scan_kinds.hpp"

namespace course::multi_gpu {

using lab::Affine;
using lab::AffineMap;
using lab::Max;
using lab::not_implemented;
using lab::Status;
using lab::Sum;

// --- Operators: lab/operators.hpp defines them. NCCL has operations for sum and max (reduce). Affine
// combines maps x -> scale * x + shift of 32-bit numbers: first a, then b. It is not commutative, and NCCL
// does not know it (scan). A map is an item of 8 bytes (DType::u64): scale, then shift.
using OpId = lab::ScanOp;

// inclusive: d_out[i] = x0 op x1 op … op xi. exclusive: without xi itself, so the first one is the identity.
using Kind = lab::ScanKind;

// A count in global memory, as in the histogram lab.
using Count = unsigned long long;
using Key = std::uint32_t;

// --- Sizes.

// The most parts of a shard: one block reduces or scans one part.
inline constexpr std::uint32_t kMaxParts = 1024;
inline constexpr std::uint32_t kMaxRanks = lab::kMaxDevices;
// The digits of a key in the search for splitters: kDigits of kDigitBits bits.
inline constexpr std::uint32_t kDigitBits = 4;
inline constexpr std::uint32_t kDigits = 32 / kDigitBits;
inline constexpr std::uint32_t kDigitValues = 1u << kDigitBits;

// n_bins, rounded up to a multiple of n_ranks, so that each rank can have an equal slice of the counts.
constexpr std::uint32_t padded_bins(std::uint32_t n_bins, std::uint32_t n_ranks) {
  return (n_bins + n_ranks - 1) / n_ranks * n_ranks;
}

// Given: the bin of a sample. The n_bins bins divide the 2^32 possible samples into ranges of (nearly) equal
// width, so that every sample is in a bin.
COURSE_HD constexpr std::uint32_t bin_of(std::uint32_t sample, std::uint32_t n_bins) {
  return static_cast<std::uint32_t>((std::uint64_t{sample} * n_bins) >> 32);
}

// --- What each rank has. All pointers of a rank are memory of its device, which the harness owns: do not
// allocate memory, and never write d_in. The contents of everything but d_in are undefined.

struct Rank {
  int rank = 0;     // its index among the job's shards
  int n_ranks = 1;  // 1 to 8
  int device = 0;   // call cudaSetDevice(device) before you launch a kernel for this rank
  // Kernels, copies and NCCL's calls of this rank go here. There is no need to synchronise at the end.
  CUstream_st* stream = nullptr;
  ncclComm* comm = nullptr;  // of all ranks of the job
  int multiprocessors = 1;   // of each device
};

// Tasks `reduce` and `scan`.
template <typename Value>
struct Shard : Rank {
  const Value* d_in = nullptr;  // n items; aligned to sizeof(Value) only
  std::uint64_t n = 0;          // may be 0
  Value* d_out = nullptr;       // reduce: 1 value; scan: n values
  Value* d_parts = nullptr;     // space for kMaxParts values, those of the blocks
  Value* d_total = nullptr;     // space for 1 value, that of this shard
  Value* d_totals = nullptr;    // space for n_ranks values, one of each rank
};

// Task `histogram`.
struct HistogramShard : Rank {
  const std::uint32_t* d_in = nullptr;  // n samples
  std::uint64_t n = 0;                  // may be 0
  Count* d_counts = nullptr;            // n_padded counts: the result
  Count* d_local = nullptr;             // space for n_padded counts, those of this shard alone
};

// Task `sort`. Of the boundaries between shards, the one before shard j is at index j - 1.
struct SortShard : Rank {
  const Key* d_in = nullptr;        // n keys
  std::uint64_t n = 0;              // may be 0
  Key* d_out = nullptr;             // n keys
  Key* d_sorted = nullptr;          // space for n keys: those of this shard, sorted
  Key* d_received = nullptr;        // space for n keys: those that the ranks have sent
  Key* d_splitters = nullptr;       // space for n_ranks keys: a splitter for each boundary
  Count* d_below = nullptr;         // space for n_ranks * kDigitValues counts
  Count* d_counts = nullptr;        // space for 2 * n_ranks counts, those of this shard
  Count* d_all_counts = nullptr;    // space for n_ranks * 2 * n_ranks counts, those of all shards
  std::uint64_t* d_cuts = nullptr;  // space for n_ranks * (n_ranks + 1) indices
};

// --- What a task gets: the shards of all ranks, in the order of the ranks.

// Every rank's *d_out becomes the combination of all items of all shards; the identity if there is no item.
template <typename Op_>
struct ReduceJob {
  using Op = Op_;
  using Value = typename Op::Value;
  std::span<const Shard<Value>> shards;
  Op op{};  // op(a, b), op.identity()
};

// Every rank's d_out becomes its part of the scan of the whole array: the items of lower ranks come first.
template <typename Op_>
struct ScanJob {
  using Op = Op_;
  using Value = typename Op::Value;
  std::span<const Shard<Value>> shards;
  Kind kind = Kind::inclusive;
  Op op{};
};

// Every rank's d_counts[b] becomes the number of samples in bin b of all shards; the counts from n_bins to
// n_padded become 0.
struct HistogramJob {
  std::span<const HistogramShard> shards;
  std::uint32_t n_bins = 1;    // 1 to 65,536
  std::uint32_t n_padded = 1;  // padded_bins(n_bins, n_ranks)
};

// All keys are sorted, in ascending order, across the ranks: rank 0 gets the smallest ones. Each rank gets as
// many keys as it had, so d_out of all ranks, one after the other, is the sorted array. Equal keys may be on
// both sides of a boundary.
struct SortJob {
  std::span<const SortShard> shards;
};

// --- Tasks, in the order of points.hpp, then the rungs of the ladder that only the solutions have.
enum class Rung : std::uint32_t {
  reduce,
  scan,
  histogram,
  sort,
  // only in the solutions:
  reduce_in_order,
  scan_then_add,
  histogram_all_reduce,
};

Status run(const lab::Request& request);  // the last lines of multi_gpu.cu

}  // namespace course::multi_gpu

#include "multi_gpu/dispatch.hpp"
