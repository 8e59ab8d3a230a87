// SPDX-License-Identifier: MIT
// Beyond one GPU: your file.
// Read labs/multi_gpu/lab.hpp (Rank, the shards, the jobs), then handouts/08-multi-gpu.md.
// The kernels that work within one device are those of labs 1 and 2; given.cuh in the same folder
// has them. You write what the ranks do together. Work from the top down. Grade one task with
//   ./lab grade multi_gpu --task scan
// Until you write it, a task returns "not implemented". Do not change the given lines at the end.
#include <cuda_runtime.h>
#include <nccl.h>

#include <algorithm>
#include <cstring>

#include "multi_gpu/lab.hpp"

namespace course::multi_gpu {

inline constexpr unsigned kBlock = 256;  // threads in a block
inline constexpr unsigned kWarp = 32;    // threads in a warp
inline constexpr unsigned kWarps = kBlock / kWarp;
inline constexpr unsigned kRows = 4;  // items of a thread in a tile
inline constexpr unsigned kTile = kBlock * kRows;
inline constexpr unsigned kFullMask = ~0u;  // every lane of a warp takes part

#include "multi_gpu/given.cuh"

// --- Task 1, "reduce": each rank reduces its shard, and an all-reduce combines the ranks' totals.
// Limits: bytes_ratio ≤ 1.05, instructions per item ≤ 60.
template <typename Op>
Status reduce(const ReduceJob<Op>& job) {
  // TODO(student): Reduce each shard, then combine the totals of all ranks with ncclAllReduce. (roughly 7
  // lines)
  return not_implemented(job);
}

// --- For task "scan": what each rank has to know of the others is one value of each.

// d_totals[q] of every rank becomes d_total of rank q.
template <typename Value>
void gather_totals(std::span<const Shard<Value>> shards) {
  // TODO(student): Gather the totals of all ranks with ncclAllGather. (roughly 4 lines)
}

// Turns d_parts into exclusive prefixes in the whole array, in place: d_parts[b] becomes the combination of
// all items of the ranks before `rank`, whose totals are in d_totals, then those of the parts before b. One
// block.
template <typename Value, typename Op>
__global__ void k02_prefixes(Value* d_parts, unsigned n_parts, const Value* d_totals, int rank, Op op) {
  // TODO(student): Store the prefix of each part: what the ranks before have, then the parts before. (roughly
  // 10 lines)
}

// Scans part b, beginning with its prefix d_parts[b]. One block for each part.
template <typename Value, typename Op>
__global__ void k02_scan_parts(const Value* d_in, Parts parts, Value* d_out, const Value* d_parts, Kind kind,
                               Op op) {
  // TODO(student): Scan part blockIdx.x, tile by tile, starting with its prefix. (roughly 10 lines)
}

// --- Task 2, "scan": reduce, exchange the totals, then scan with the right prefix.
// Limits: instructions per item ≤ 103, bytes_ratio ≤ 1.05.
template <typename Op>
Status scan(const ScanJob<Op>& job) {
  // TODO(student): Do the steps of the scan: totals, prefixes, parts. A shard may be empty. (roughly 10
  // lines)
  return not_implemented(job);
}

// --- Task 3, "histogram": each rank adds up a slice of the bins, then all ranks get all slices.
// Limits: bytes_ratio ≤ 1.3, instructions per sample ≤ 60.
inline Status histogram(const HistogramJob& job) {
  // TODO(student): Count each shard, add up the counts with ncclReduceScatter, and gather the slices with
  // ncclAllGather. (roughly 15 lines)
  return not_implemented(job);
}

// --- Task "sort", first part: the splitters. The splitter of boundary j is the largest key that has at most
// first[j] keys of the whole array before it. It is found digit by digit, from the most significant one. In
// arrays, boundary j is at index j - 1, since shard 0 needs no boundary.

// Counts for the next digit: d_below[(j - 1) · kDigitValues + x] becomes the number of this shard's keys that
// are less than the splitter's known digits followed by digit x. One block; (n_ranks - 1) · kDigitValues
// threads have work.
__global__ void k04_count_below(const Key* d_sorted, std::uint64_t n, const Key* d_splitters,
                                unsigned n_ranks, unsigned shift, Count* d_below) {
  // TODO(student): Count the keys below each candidate of each splitter. (roughly 4 lines)
}

// Finds the splitters. Every rank computes the same ones.
inline void find_splitters(const SortJob& job, const Boundaries& all) {
  // TODO(student): Find the splitters digit by digit, most significant first. (roughly 20 lines)
}

// --- Second part: the cuts. Keys less than splitter j go before boundary j, and as many equal ones as fit
// there: those of the lower ranks first. So the boundaries are exact, however often a key occurs.

// d_all_counts has the d_counts of rank 0, of rank 1, and so on. d_cuts[r · (n_ranks + 1) + q] becomes the
// index of the first key in d_sorted of rank r that goes to rank q; for q = n_ranks, the number of its keys.
// One thread for each r and q.
__global__ void k04_cuts(const Count* d_all_counts, Boundaries all, std::uint64_t* d_cuts) {
  const unsigned r = threadIdx.x / (all.n_ranks + 1), q = threadIdx.x % (all.n_ranks + 1);
  if (r >= all.n_ranks) return;
  std::uint64_t cut = q == 0 ? 0 : all.first[r + 1] - all.first[r];
  // TODO(student): Find where the rank's sorted keys are cut, so that each rank gets exactly as many as it
  // had. Consider equal keys. (roughly 9 lines)
  d_cuts[threadIdx.x] = cut;
}

// Computes the cuts of all ranks on every rank.
inline void find_cuts(const SortJob& job, const Boundaries& all) {
  for (const auto& shard : job.shards) {
    cudaSetDevice(shard.device);
    k04_count_splitters<<<1, kBlock, 0, shard.stream>>>(shard.d_sorted, shard.n, shard.d_splitters,
                                                        all.n_ranks, shard.d_counts);
  }
  // TODO(student): In one group, all ranks gather their 2 (n_ranks - 1) d_counts into d_all_counts. (roughly
  // 5 lines)
  for (const auto& shard : job.shards) {
    cudaSetDevice(shard.device);
    k04_cuts<<<1, kBlock, 0, shard.stream>>>(shard.d_all_counts, all, shard.d_cuts);
  }
}

// --- Third part: the exchange.

// All ranks send the parts of d_sorted, and receive in d_received, in the order of the ranks.
inline void exchange(const SortJob& job, const Cuts& cuts) {
  // TODO(student): Exchange the keys: from each rank to each rank, in one group. (roughly 15 lines)
}

// --- Task 4, "sort": sort the shards, find exact cuts, exchange, merge.
// Limits: bytes_ratio ≤ 1.2, instructions per key ≤ 3500.
inline Status sort(const SortJob& job) {
  // TODO(student): Do the steps of the sort: sort each shard, find the splitters and the cuts, exchange,
  // merge. (roughly 15 lines)
  return not_implemented(job);
}

// --- Given: which function implements which task.
Status run(const lab::Request& request) {
  switch (static_cast<Rung>(request.task)) {
    case Rung::reduce: return with_reduce_job(request, [](const auto& job) { return reduce(job); });
    case Rung::scan: return with_scan_job(request, [](const auto& job) { return scan(job); });
    case Rung::histogram: return with_histogram_job(request, histogram);
    case Rung::sort: return with_sort_job(request, sort);
    default: return Status::unsupported;
  }
}

}  // namespace course::multi_gpu
