// SPDX-License-Identifier: MIT
//@student // Beyond one GPU: your file.
//@student // Read labs/multi_gpu/lab.hpp (Rank, the shards, the jobs), then handouts/08-multi-gpu.md.
//@student // The kernels that work within one device are those of labs 1 and 2; given.cuh in the same folder
//@student // has them. You write what the ranks do together. Work from the top down. Grade one task with
//@student //   ./lab grade multi_gpu --task scan
//@student // Until you write it, a task returns "not implemented". Do not change the given lines at the end.
//@reference
// Beyond one GPU: all rungs of the ladder, on NCCL. Read from the top: what is given works within one device,
// then each task says what its ranks exchange and why.
// Lines that start with //@ control the generator of the students' file (make_skeleton.py).
// Invariants: one host thread drives all ranks. Each rank's kernels and NCCL calls are in its own stream, so
// they need no synchronisation by the host. Every rank makes every NCCL call, also if its shard is empty.
// Shards are combined in the order of the ranks, since Affine is not commutative. Nothing writes d_in.
//
// Sources: NVIDIA, "NCCL API" and "Group Calls" (2.28); R. Thakur, R. Rabenseifner, W. Gropp, "Optimization
// of Collective Communication Operations in MPICH" (2005) for the costs of the collectives.
//@end
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
//@reference
// Why: a rank sends one value to the others, whatever the length of its shard. The rest is work of its own,
// so k devices take a k-th of the time, and the latency of one collective.
// An empty shard takes part with the identity. A rank that skipped the call would let all others wait
// forever.
// Drawback: NCCL chooses the order in which it combines the ranks' values, by the algorithm and the topology,
// so the bits of a float sum may differ between machines.
//@end
template <typename Op>
Status reduce(const ReduceJob<Op>& job) {
  //@solution Reduce each shard, then combine the totals of all ranks with ncclAllReduce.
  //@how Call reduce_shard for each shard. Then all ranks, in one group (ncclGroupStart, ncclGroupEnd),
  //@how call ncclAllReduce from d_total to d_out, with one value of nccl_type and the operation nccl_op.
  //@instead return not_implemented(job);
  using Value = typename Op::Value;
  for (const auto& shard : job.shards) reduce_shard(shard, job.op);
  ncclGroupStart();
  for (const auto& shard : job.shards)
    ncclAllReduce(shard.d_total, shard.d_out, 1, nccl_type<Value>(), nccl_op<Op>(), shard.comm, shard.stream);
  ncclGroupEnd();
  return Status::ok;
  //@end
}

// --- For task "scan": what each rank has to know of the others is one value of each.

// d_totals[q] of every rank becomes d_total of rank q.
template <typename Value>
void gather_totals(std::span<const Shard<Value>> shards) {
  //@solution Gather the totals of all ranks with ncclAllGather.
  //@how In one group, all ranks call ncclAllGather from d_total to d_totals. The count is that of the
  //@how values that one rank sends.
  ncclGroupStart();
  for (const auto& shard : shards)
    ncclAllGather(shard.d_total, shard.d_totals, 1, nccl_type<Value>(), shard.comm, shard.stream);
  ncclGroupEnd();
  //@end
}

// Turns d_parts into exclusive prefixes in the whole array, in place: d_parts[b] becomes the combination of
// all items of the ranks before `rank`, whose totals are in d_totals, then those of the parts before b. One
// block.
template <typename Value, typename Op>
__global__ void k02_prefixes(Value* d_parts, unsigned n_parts, const Value* d_totals, int rank, Op op) {
  //@solution Store the prefix of each part: what the ranks before have, then the parts before.
  //@how Each thread combines the totals of the ranks before `rank`, in their order. Load the parts into
  //@how item[kRows] as k01_combine does, and call scan_tile. Store op(prefix of the ranks, before[r]).
  Value of_ranks = op.identity();
  for (int q = 0; q < rank; ++q) of_ranks = op(of_ranks, d_totals[q]);
  Value item[kRows], before[kRows];
#pragma unroll
  for (unsigned r = 0; r < kRows; ++r)
    item[r] = index_in_tile(r) < n_parts ? d_parts[index_in_tile(r)] : op.identity();
  scan_tile(item, before, op);
#pragma unroll
  for (unsigned r = 0; r < kRows; ++r) {
    if (index_in_tile(r) < n_parts) d_parts[index_in_tile(r)] = op(of_ranks, before[r]);
  }
  //@end
}

// Scans part b, beginning with its prefix d_parts[b]. One block for each part.
template <typename Value, typename Op>
__global__ void k02_scan_parts(const Value* d_in, Parts parts, Value* d_out, const Value* d_parts, Kind kind,
                               Op op) {
  //@solution Scan part blockIdx.x, tile by tile, starting with its prefix.
  //@how The carry begins with d_parts[blockIdx.x]. For each tile (for_each_tile), call scan_tile. The
  //@how exclusive result of item[r] is op(carry, before[r]); combine it with item[r] for the inclusive
  //@how one. Write only below the end of the part and of the shard. Then combine the carry with the
  //@how tile's total.
  Value carry = d_parts[blockIdx.x], before[kRows];
  const std::uint64_t end = min((blockIdx.x + 1) * parts.part_items, parts.n);
  for_each_tile(d_in, parts, op, [&](std::uint64_t first, const Value(&item)[kRows]) {
    const Value total = scan_tile(item, before, op);
#pragma unroll
    for (unsigned r = 0; r < kRows; ++r) {
      const std::uint64_t i = first + index_in_tile(r);
      const Value prefix = op(carry, before[r]);
      if (i < end) d_out[i] = kind == Kind::inclusive ? op(prefix, item[r]) : prefix;
    }
    carry = op(carry, total);
  });
  //@end
}

// --- Task 2, "scan": reduce, exchange the totals, then scan with the right prefix.
// Limits: instructions per item ≤ 103, bytes_ratio ≤ 1.05.
//@reference
// Changed from rung 1: the ranks need the totals of the ranks before them, in their order, so they gather all
// totals and each combines its own.
// Why: the scan of lab 7 that reduces first has one level more, which costs a value of each rank: a rank
// reads its shard twice and writes once, as on one device. No rank waits for another one's scan.
// Drawback: a rank's second pass starts only after the slowest rank's first pass and the latency of a
// collective.
//@end
template <typename Op>
Status scan(const ScanJob<Op>& job) {
  //@solution Do the steps of the scan: totals, prefixes, parts. A shard may be empty.
  //@how Call reduce_shard for each shard, then gather_totals. Then launch k02_prefixes (one block) and
  //@how k02_scan_parts (one block for each part) for each shard that is not empty. Set the device
  //@how before.
  //@instead return not_implemented(job);
  for (const auto& shard : job.shards) reduce_shard(shard, job.op);
  gather_totals(job.shards);
  for (const auto& shard : job.shards) {
    const Parts parts = parts_of(shard.n);
    if (parts.n_parts == 0) continue;
    cudaSetDevice(shard.device);
    k02_prefixes<<<1, kBlock, 0, shard.stream>>>(shard.d_parts, parts.n_parts, shard.d_totals, shard.rank,
                                                 job.op);
    k02_scan_parts<<<parts.n_parts, kBlock, 0, shard.stream>>>(shard.d_in, parts, shard.d_out, shard.d_parts,
                                                               job.kind, job.op);
  }
  return Status::ok;
  //@end
}

//@reference
// --- Rung 2b: the histogram by an all-reduce.
// Changed from rung 1: the values that the ranks combine are n_padded counts each, so their bytes count, too.
// Drawback: for up to some MB, an all-reduce is fastest if every rank sends all its counts to every other
// one, so each sends n_ranks - 1 times their bytes and adds up all of them.
inline Status histogram_all_reduce(const HistogramJob& job) {
  for (const auto& shard : job.shards) count_shard(shard, job.n_bins, job.n_padded);
  ncclGroupStart();
  for (const auto& shard : job.shards)
    ncclAllReduce(shard.d_local, shard.d_counts, job.n_padded, ncclUint64, ncclSum, shard.comm, shard.stream);
  ncclGroupEnd();
  return Status::ok;
}

//@end
// --- Task 3, "histogram": each rank adds up a slice of the bins, then all ranks get all slices.
// Limits: bytes_ratio ≤ 1.3, instructions per sample ≤ 60.
//@reference
// Changed from rung 2b: a reduce-scatter gives each rank the sums of its slice, an n_ranks-th of the bins; an
// all-gather in place gives the slices to all.
// Why: a rank sends each other rank only that rank's slice, then its own slice: 2 (n_ranks - 1) / n_ranks
// times the bytes of its counts, nearly independent of the number of ranks. And between the two steps each
// rank can work on its slice alone, for example scan it.
// Drawback: two operations begin one after the other, so a small histogram takes longer than with an
// all-reduce. A large one does not: there, an all-reduce takes the same two steps.
//@end
inline Status histogram(const HistogramJob& job) {
  //@solution Count each shard, add up the counts with ncclReduceScatter, and gather the slices with
  //@hint ncclAllGather.
  //@how Call count_shard for each shard. Each rank has a slice of n_padded / n_ranks counts, at rank
  //@how times this number in d_counts. In one group, all ranks add up d_local into their slices with
  //@how ncclReduceScatter (ncclUint64, ncclSum); its count is that of one slice. In another group, all
  //@how ranks call ncclAllGather in place: the send buffer is the rank's slice in d_counts.
  //@instead return not_implemented(job);
  for (const auto& shard : job.shards) count_shard(shard, job.n_bins, job.n_padded);
  const std::size_t slice = job.n_padded / job.shards.size();
  const auto slice_of = [&](const HistogramShard& shard) {
    return shard.d_counts + static_cast<std::size_t>(shard.rank) * slice;
  };
  ncclGroupStart();
  for (const auto& shard : job.shards)
    ncclReduceScatter(shard.d_local, slice_of(shard), slice, ncclUint64, ncclSum, shard.comm, shard.stream);
  ncclGroupEnd();
  ncclGroupStart();
  for (const auto& shard : job.shards)
    ncclAllGather(slice_of(shard), shard.d_counts, slice, ncclUint64, shard.comm, shard.stream);
  ncclGroupEnd();
  return Status::ok;
  //@end
}

// --- Task "sort", first part: the splitters. The splitter of boundary j is the largest key that has at most
// first[j] keys of the whole array before it. It is found digit by digit, from the most significant one. In
// arrays, boundary j is at index j - 1, since shard 0 needs no boundary.

// Counts for the next digit: d_below[(j - 1) · kDigitValues + x] becomes the number of this shard's keys that
// are less than the splitter's known digits followed by digit x. One block; (n_ranks - 1) · kDigitValues
// threads have work.
__global__ void k04_count_below(const Key* d_sorted, std::uint64_t n, const Key* d_splitters,
                                unsigned n_ranks, unsigned shift, Count* d_below) {
  //@solution Count the keys below each candidate of each splitter.
  //@how Thread t counts for boundary index t / kDigitValues and digit t % kDigitValues, if there is such
  //@how a boundary. The digit is shifted by `shift` and combined with the known digits. Call count_less.
  const unsigned t = threadIdx.x, n_candidates = (n_ranks - 1) * kDigitValues;
  if (t >= n_candidates) return;
  const Key candidate = d_splitters[t / kDigitValues] | (t % kDigitValues) << shift;
  d_below[t] = count_less(d_sorted, 0, n, candidate, false);
  //@end
}

// Finds the splitters. Every rank computes the same ones.
inline void find_splitters(const SortJob& job, const Boundaries& all) {
  //@solution Find the splitters digit by digit, most significant first.
  //@how Clear the n_ranks - 1 splitters of each rank with cudaMemsetAsync. For each digit, from shift 32
  //@how - kDigitBits down to 0: launch k04_count_below for each shard; in one group, all ranks add up
  //@how d_below in place with ncclAllReduce; launch k04_choose_digits for each shard.
  const std::size_t n_boundaries = all.n_ranks - 1;
  for (const auto& shard : job.shards) {
    cudaSetDevice(shard.device);
    cudaMemsetAsync(shard.d_splitters, 0, n_boundaries * sizeof(Key), shard.stream);
  }
  for (unsigned digit = kDigits; digit-- > 0;) {
    const unsigned shift = digit * kDigitBits;
    for (const auto& shard : job.shards) {
      cudaSetDevice(shard.device);
      k04_count_below<<<1, kBlock, 0, shard.stream>>>(shard.d_sorted, shard.n, shard.d_splitters, all.n_ranks,
                                                      shift, shard.d_below);
    }
    ncclGroupStart();
    for (const auto& shard : job.shards)
      ncclAllReduce(shard.d_below, shard.d_below, n_boundaries * kDigitValues, ncclUint64, ncclSum,
                    shard.comm, shard.stream);
    ncclGroupEnd();
    for (const auto& shard : job.shards) {
      cudaSetDevice(shard.device);
      k04_choose_digits<<<1, kBlock, 0, shard.stream>>>(shard.d_below, all, shift, shard.d_splitters);
    }
  }
  //@end
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
  //@solution Find where the rank's sorted keys are cut, so that each rank gets exactly as many as it had.
  //@hint Consider equal keys.
  //@how For 0 < q < n_ranks: first[q] keys of the whole array go before boundary q. Subtract those that
  //@how are less than splitter q, of all ranks, and the equal ones of the ranks before r: `rest` remain.
  //@how The cut is after the rank's less keys and min(rest, its equal keys) equal ones. No difference
  //@how may get negative.
  if (q > 0 && q < all.n_ranks) {
    const auto count = [&](unsigned rank, unsigned which) {
      return std::uint64_t{d_all_counts[rank * 2 * (all.n_ranks - 1) + 2 * (q - 1) + which]};
    };
    std::uint64_t rest = all.first[q];
    for (unsigned rank = 0; rank < all.n_ranks; ++rank) rest -= count(rank, 0);
    for (unsigned rank = 0; rank < r; ++rank) rest -= min(rest, count(rank, 1) - count(rank, 0));
    cut = count(r, 0) + min(rest, count(r, 1) - count(r, 0));
  }
  //@end
  d_cuts[threadIdx.x] = cut;
}

// Computes the cuts of all ranks on every rank.
inline void find_cuts(const SortJob& job, const Boundaries& all) {
  for (const auto& shard : job.shards) {
    cudaSetDevice(shard.device);
    k04_count_splitters<<<1, kBlock, 0, shard.stream>>>(shard.d_sorted, shard.n, shard.d_splitters,
                                                        all.n_ranks, shard.d_counts);
  }
  //@solution In one group, all ranks gather their 2 (n_ranks - 1) d_counts into d_all_counts.
  ncclGroupStart();
  for (const auto& shard : job.shards)
    ncclAllGather(shard.d_counts, shard.d_all_counts, 2 * (all.n_ranks - 1), ncclUint64, shard.comm,
                  shard.stream);
  ncclGroupEnd();
  //@end
  for (const auto& shard : job.shards) {
    cudaSetDevice(shard.device);
    k04_cuts<<<1, kBlock, 0, shard.stream>>>(shard.d_all_counts, all, shard.d_cuts);
  }
}

// --- Third part: the exchange.

// All ranks send the parts of d_sorted, and receive in d_received, in the order of the ranks.
inline void exchange(const SortJob& job, const Cuts& cuts) {
  //@solution Exchange the keys: from each rank to each rank, in one group.
  //@how In one group, for each rank r and each rank q (also q = r): rank r sends cuts.count(r, q) keys
  //@how (ncclUint32) from d_sorted + cuts.first(r, q) to q, and receives cuts.count(q, r) keys from q,
  //@how behind those of the ranks before q.
  ncclGroupStart();
  for (unsigned r = 0; r < cuts.n_ranks; ++r) {
    const auto& shard = job.shards[r];
    Key* d_to = shard.d_received;
    for (unsigned q = 0; q < cuts.n_ranks; ++q) {
      const int peer = static_cast<int>(q);
      ncclSend(shard.d_sorted + cuts.first(r, q), cuts.count(r, q), ncclUint32, peer, shard.comm,
               shard.stream);
      ncclRecv(d_to, cuts.count(q, r), ncclUint32, peer, shard.comm, shard.stream);
      d_to += cuts.count(q, r);
    }
  }
  ncclGroupEnd();
  //@end
}

// --- Task 4, "sort": sort the shards, find exact cuts, exchange, merge.
// Limits: bytes_ratio ≤ 1.2, instructions per key ≤ 3500.
//@reference
// Changed from the rungs before: what a rank sends depends on the keys, so the host has to wait for the cuts.
// Why: each key crosses to another device at most once, and the searches send a few KB. The cuts are exact,
// so every rank receives as many keys as it has space for, whatever the keys are. With sampled splitters, a
// rank may receive more, and with whole keys as boundaries, all equal keys would go to one rank.
// Drawback: kDigits small all-reduces, one after the other, and a wait of the host before the exchange can
// begin. A radix sort of the shard would read it fewer times.
//@end
inline Status sort(const SortJob& job) {
  //@solution Do the steps of the sort: sort each shard, find the splitters and the cuts, exchange, merge.
  //@how Call sort_shard for each shard; then find_splitters, find_cuts, read_cuts and exchange. Then
  //@how launch k04_merge_runs for each shard that is not empty: run q has the keys from rank q.
  //@instead return not_implemented(job);
  const Boundaries all = boundaries_of(job);
  for (const auto& shard : job.shards) sort_shard(shard);
  find_splitters(job, all);
  find_cuts(job, all);
  const Cuts cuts = read_cuts(job);
  exchange(job, cuts);
  for (const auto& shard : job.shards) {
    if (shard.n == 0) continue;
    Runs runs;
    runs.n_runs = all.n_ranks;
    for (unsigned q = 0; q < all.n_ranks; ++q)
      runs.begin[q + 1] = runs.begin[q] + cuts.count(q, static_cast<unsigned>(shard.rank));
    cudaSetDevice(shard.device);
    k04_merge_runs<<<blocks_for(shard.n), kBlock, 0, shard.stream>>>(shard.d_received, runs, shard.d_out);
  }
  return Status::ok;
  //@end
}

//@reference
// --- Rung 5: the reduction in the order of the ranks.
// Changed from rung 1: the ranks gather all totals, and each combines them from rank 0 on.
// Why: the order is fixed, so a float sum has the same bits on all ranks, in every run, with every algorithm
// of NCCL. It depends on the shards' lengths only.
// Drawback: every rank receives and combines n_ranks values. For one value this costs nothing; for a long
// array of values it is n_ranks / 2 times the bytes of an all-reduce.
template <typename Op>
Status reduce_in_order(const ReduceJob<Op>& job) {
  for (const auto& shard : job.shards) reduce_shard(shard, job.op);
  gather_totals(job.shards);
  for (const auto& shard : job.shards) {
    cudaSetDevice(shard.device);
    k01_combine<<<1, kBlock, 0, shard.stream>>>(shard.d_totals, static_cast<unsigned>(shard.n_ranks),
                                                shard.d_out, job.op);
  }
  return Status::ok;
}

// --- Rung 6: the scan without foresight, for comparison: scan the shard first, add the prefix later.
// Changed from rung 2: the shard is scanned as if it were alone, and another pass over the results combines
// them with the prefix of the ranks before.
// Why: this is what one gets from a library's scan for one device. It moves 5n items instead of 3n.
template <typename Value, typename Op>
__global__ void k06_add_prefix(Value* d_out, Parts parts, const Value* d_totals, int rank, Op op) {
  Value prefix = op.identity();
  for (int q = 0; q < rank; ++q) prefix = op(prefix, d_totals[q]);
  const std::uint64_t end = min((blockIdx.x + 1) * parts.part_items, parts.n);
  for (std::uint64_t i = blockIdx.x * parts.part_items + threadIdx.x; i < end; i += kBlock)
    d_out[i] = op(prefix, d_out[i]);
}

template <typename Op>
Status scan_then_add(const ScanJob<Op>& job) {
  for (const auto& shard : job.shards) {
    reduce_shard(shard, job.op);
    const Parts parts = parts_of(shard.n);
    if (parts.n_parts == 0) continue;
    k02_prefixes<<<1, kBlock, 0, shard.stream>>>(shard.d_parts, parts.n_parts, shard.d_totals, 0, job.op);
    k02_scan_parts<<<parts.n_parts, kBlock, 0, shard.stream>>>(shard.d_in, parts, shard.d_out, shard.d_parts,
                                                               job.kind, job.op);
  }
  gather_totals(job.shards);
  for (const auto& shard : job.shards) {
    const Parts parts = parts_of(shard.n);
    if (parts.n_parts == 0 || shard.rank == 0) continue;
    cudaSetDevice(shard.device);
    k06_add_prefix<<<parts.n_parts, kBlock, 0, shard.stream>>>(shard.d_out, parts, shard.d_totals, shard.rank,
                                                               job.op);
  }
  return Status::ok;
}

//@end
// --- Given: which function implements which task.
Status run(const lab::Request& request) {
  switch (static_cast<Rung>(request.task)) {
    case Rung::reduce: return with_reduce_job(request, [](const auto& job) { return reduce(job); });
    case Rung::scan: return with_scan_job(request, [](const auto& job) { return scan(job); });
    case Rung::histogram: return with_histogram_job(request, histogram);
    case Rung::sort: return with_sort_job(request, sort);
    //@reference
    case Rung::reduce_in_order:
      return with_reduce_job(request, [](const auto& job) { return reduce_in_order(job); });
    case Rung::scan_then_add:
      return with_scan_job(request, [](const auto& job) { return scan_then_add(job); });
    case Rung::histogram_all_reduce: return with_histogram_job(request, histogram_all_reduce);
    //@end
    default: return Status::unsupported;
  }
}

}  // namespace course::multi_gpu
