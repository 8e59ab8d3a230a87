// SPDX-License-Identifier: MIT
// Beyond one GPU: turns a request, in which types and operators are numbers, into the job of a task, and
// calls the task with it. lab.hpp includes this file.
#pragma once

#include <array>
#include <cstddef>

#include "lab/offers.hpp"
#include "multi_gpu/lab.hpp"

namespace course::multi_gpu {

// The operators and types of the tasks `reduce` and `scan`.
using Reductions = lab::Offers<lab::Offer<OpId::sum, Sum, std::int32_t>, lab::Offer<OpId::sum, Sum, float>,
                               lab::Offer<OpId::max, Max, std::int32_t>>;
using Scans = lab::Offers<lab::Offer<OpId::sum, Sum, std::int32_t>, lab::Offer<OpId::sum, Sum, float>,
                          lab::Offer<OpId::affine, Affine, std::uint32_t>>;

inline Rank rank_of(const lab::Request& request, std::size_t r) {
  const lab::Rank& given = request.ranks[r];
  Rank rank;
  rank.rank = static_cast<int>(r);
  rank.n_ranks = static_cast<int>(request.ranks.size());
  rank.device = given.device;
  rank.stream = given.stream;
  rank.comm = given.comm;
  rank.multiprocessors = request.multiprocessors;
  return rank;
}

// --- Tasks `reduce` and `scan`.
inline lab::Workspace shard_workspace(lab::DType value) {
  return lab::Workspace()
      .add("d_parts", value, kMaxParts)
      .add("d_total", value, 1)
      .add("d_totals", value, kMaxRanks);
}

template <typename Value>
using Shards = std::array<Shard<Value>, kMaxRanks>;

template <typename Value>
Shards<Value> shards_of(const lab::Request& request) {
  Shards<Value> shards;
  const lab::Workspace space = shard_workspace(request.dtype);
  for (std::size_t r = 0; r < request.ranks.size(); ++r) {
    Shard<Value>& shard = shards[r];
    static_cast<Rank&>(shard) = rank_of(request, r);
    shard.d_in = static_cast<const Value*>(request.inputs[r].data);
    shard.n = request.inputs[r].count;
    shard.d_out = static_cast<Value*>(request.outputs[r].data);
    void* const d_workspace = request.ranks[r].d_workspace;
    shard.d_parts = space.address<Value>(d_workspace, "d_parts");
    shard.d_total = space.address<Value>(d_workspace, "d_total");
    shard.d_totals = space.address<Value>(d_workspace, "d_totals");
  }
  return shards;
}

// Call solve(job) with the job of the request's operator and item type.
template <typename Solve>
Status with_reduce_job(const lab::Request& request, Solve solve) {
  return Reductions::answer(request, [&]<typename Op>(auto, Op op) {
    const auto shards = shards_of<typename Op::Value>(request);
    return solve(ReduceJob<Op>{std::span(shards).first(request.ranks.size()), op});
  });
}

template <typename Solve>
Status with_scan_job(const lab::Request& request, Solve solve) {
  return Scans::answer(request, [&]<typename Op>(auto, Op op) {
    const auto shards = shards_of<typename Op::Value>(request);
    const Kind kind = static_cast<Kind>(request.params[0]);
    return solve(ScanJob<Op>{std::span(shards).first(request.ranks.size()), kind, op});
  });
}

// --- Task `histogram`. Parameter 3 of the request is the number of bins.
inline lab::Workspace histogram_workspace(std::uint32_t n_padded) {
  return lab::Workspace().add("d_local", lab::DType::u64, n_padded);
}

template <typename Solve>
Status with_histogram_job(const lab::Request& request, Solve solve) {
  if (request.dtype != lab::DType::u32) return Status::unsupported;
  HistogramJob job;
  job.n_bins = static_cast<std::uint32_t>(request.params[3]);
  job.n_padded = padded_bins(job.n_bins, static_cast<std::uint32_t>(request.ranks.size()));
  std::array<HistogramShard, kMaxRanks> shards;
  for (std::size_t r = 0; r < request.ranks.size(); ++r) {
    static_cast<Rank&>(shards[r]) = rank_of(request, r);
    shards[r].d_in = static_cast<const std::uint32_t*>(request.inputs[r].data);
    shards[r].n = request.inputs[r].count;
    shards[r].d_counts = static_cast<Count*>(request.outputs[r].data);
    shards[r].d_local = static_cast<Count*>(request.ranks[r].d_workspace);
  }
  job.shards = std::span(shards).first(request.ranks.size());
  return solve(job);
}

// --- Task `sort`. Every workspace has space for the longest shard.
inline lab::Workspace sort_workspace(std::uint64_t longest) {
  using lab::DType;
  return lab::Workspace()
      .add("d_sorted", DType::u32, longest)
      .add("d_received", DType::u32, longest)
      .add("d_splitters", DType::u32, kMaxRanks)
      .add("d_below", DType::u64, std::uint64_t{kMaxRanks} * kDigitValues)
      .add("d_counts", DType::u64, 2 * kMaxRanks)
      .add("d_all_counts", DType::u64, 2 * kMaxRanks * kMaxRanks)
      .add("d_cuts", DType::u64, kMaxRanks * (kMaxRanks + 1));
}

template <typename Solve>
Status with_sort_job(const lab::Request& request, Solve solve) {
  if (request.dtype != lab::DType::u32) return Status::unsupported;
  std::uint64_t longest = 0;
  for (const lab::DeviceBuffer& input : request.inputs)
    if (input.count > longest) longest = input.count;
  const lab::Workspace space = sort_workspace(longest);
  std::array<SortShard, kMaxRanks> shards;
  for (std::size_t r = 0; r < request.ranks.size(); ++r) {
    static_cast<Rank&>(shards[r]) = rank_of(request, r);
    shards[r].d_in = static_cast<const Key*>(request.inputs[r].data);
    shards[r].n = request.inputs[r].count;
    shards[r].d_out = static_cast<Key*>(request.outputs[r].data);
    void* const d_workspace = request.ranks[r].d_workspace;
    shards[r].d_sorted = space.address<Key>(d_workspace, "d_sorted");
    shards[r].d_received = space.address<Key>(d_workspace, "d_received");
    shards[r].d_splitters = space.address<Key>(d_workspace, "d_splitters");
    shards[r].d_below = space.address<Count>(d_workspace, "d_below");
    shards[r].d_counts = space.address<Count>(d_workspace, "d_counts");
    shards[r].d_all_counts = space.address<Count>(d_workspace, "d_all_counts");
    shards[r].d_cuts = space.address<std::uint64_t>(d_workspace, "d_cuts");
  }
  return solve(SortJob{std::span(shards).first(request.ranks.size())});
}

}  // namespace course::multi_gpu
