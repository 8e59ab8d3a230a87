// SPDX-License-Identifier: MIT
// Beyond one GPU: turns a request, in which types and operators are numbers, into the job of a task, and
// calls the task with it. lab.hpp includes this file.
#pragma once

#include <array>
#include <cstddef>

#include "multi_gpu/lab.hpp"

namespace course::multi_gpu {

// The operators and types of each task.
constexpr bool reduces(OpId op, lab::DType dtype) {
  using lab::DType;
  return (op == OpId::sum && (dtype == DType::i32 || dtype == DType::f32)) ||
         (op == OpId::max && dtype == DType::i32);
}
constexpr bool scans(OpId op, lab::DType dtype) {
  using lab::DType;
  return (op == OpId::sum && (dtype == DType::i32 || dtype == DType::f32)) ||
         (op == OpId::affine && dtype == DType::u64);
}

// The arrays of a workspace, one after the other, each from a multiple of 256 bytes on.
class Workspace {
 public:
  explicit Workspace(void* d_begin = nullptr) : d_begin_(reinterpret_cast<std::uintptr_t>(d_begin)) {}
  template <typename T>
  T* take(std::uint64_t count) {
    T* d_array = reinterpret_cast<T*>(d_begin_ + n_bytes_);
    n_bytes_ += (count * sizeof(T) + 255) / 256 * 256;
    return d_array;
  }
  std::uint64_t n_bytes() const { return n_bytes_; }

 private:
  std::uintptr_t d_begin_;
  std::uint64_t n_bytes_ = 0;
};

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

// --- Tasks `reduce` and `scan`: values take 8 bytes at most.
inline constexpr std::uint64_t kShardWorkspace = (kMaxParts + 1 + kMostRanks) * 8 + 3 * 256;

template <typename Value>
using Shards = std::array<Shard<Value>, kMostRanks>;

template <typename Value>
Shards<Value> shards_of(const lab::Request& request) {
  Shards<Value> shards;
  for (std::size_t r = 0; r < request.ranks.size(); ++r) {
    Shard<Value>& shard = shards[r];
    static_cast<Rank&>(shard) = rank_of(request, r);
    shard.d_in = static_cast<const Value*>(request.inputs[r].data);
    shard.n = request.inputs[r].count;
    shard.d_out = static_cast<Value*>(request.outputs[r].data);
    Workspace space(request.ranks[r].d_workspace);
    shard.d_parts = space.take<Value>(kMaxParts);
    shard.d_total = space.take<Value>(1);
    shard.d_totals = space.take<Value>(kMostRanks);
  }
  return shards;
}

// Call solve(job) with the job of the request's operator and item type.
template <typename Solve>
Status with_reduce_job(const lab::Request& request, Solve solve) {
  const auto call = [&]<typename Op>(Op op) {
    const auto shards = shards_of<typename Op::Value>(request);
    return solve(ReduceJob<Op>{std::span(shards).first(request.ranks.size()), op});
  };
  const OpId op = static_cast<OpId>(request.op);
  if (!reduces(op, request.dtype)) return Status::unsupported;
  if (op == OpId::max) return call(Max<std::int32_t>{});
  return request.dtype == lab::DType::f32 ? call(Sum<float>{}) : call(Sum<std::int32_t>{});
}

template <typename Solve>
Status with_scan_job(const lab::Request& request, Solve solve) {
  const auto call = [&]<typename Op>(Op op) {
    const auto shards = shards_of<typename Op::Value>(request);
    const Kind kind = static_cast<Kind>(request.params[0]);
    return solve(ScanJob<Op>{std::span(shards).first(request.ranks.size()), kind, op});
  };
  const OpId op = static_cast<OpId>(request.op);
  if (!scans(op, request.dtype)) return Status::unsupported;
  if (op == OpId::affine) return call(Affine<std::uint32_t>{});
  return request.dtype == lab::DType::f32 ? call(Sum<float>{}) : call(Sum<std::int32_t>{});
}

// --- Task `histogram`. Parameter 3 of the request is the number of bins.
constexpr std::uint64_t histogram_workspace(std::uint32_t n_padded) {
  return n_padded * sizeof(Count) + 256;
}

template <typename Solve>
Status with_histogram_job(const lab::Request& request, Solve solve) {
  if (request.dtype != lab::DType::u32) return Status::unsupported;
  HistogramJob job;
  job.n_bins = static_cast<std::uint32_t>(request.params[3]);
  job.n_padded = padded_bins(job.n_bins, static_cast<std::uint32_t>(request.ranks.size()));
  std::array<HistogramShard, kMostRanks> shards;
  for (std::size_t r = 0; r < request.ranks.size(); ++r) {
    static_cast<Rank&>(shards[r]) = rank_of(request, r);
    shards[r].d_in = static_cast<const std::uint32_t*>(request.inputs[r].data);
    shards[r].n = request.inputs[r].count;
    shards[r].d_counts = static_cast<Count*>(request.outputs[r].data);
    shards[r].d_local = Workspace(request.ranks[r].d_workspace).take<Count>(job.n_padded);
  }
  job.shards = std::span(shards).first(request.ranks.size());
  return solve(job);
}

// --- Task `sort`. Every workspace has space for the longest shard.
inline std::uint64_t take_sort_space(Workspace& space, SortShard& shard, std::uint64_t longest) {
  shard.d_sorted = space.take<Key>(longest);
  shard.d_received = space.take<Key>(longest);
  shard.d_splitters = space.take<Key>(kMostRanks);
  shard.d_below = space.take<Count>(std::uint64_t{kMostRanks} * kDigitValues);
  shard.d_counts = space.take<Count>(2 * kMostRanks);
  shard.d_all_counts = space.take<Count>(2 * kMostRanks * kMostRanks);
  shard.d_cuts = space.take<std::uint64_t>(kMostRanks * (kMostRanks + 1));
  return space.n_bytes();
}
inline std::uint64_t sort_workspace(std::uint64_t longest) {
  SortShard shard;
  Workspace space;
  return take_sort_space(space, shard, longest);
}

template <typename Solve>
Status with_sort_job(const lab::Request& request, Solve solve) {
  if (request.dtype != lab::DType::u32) return Status::unsupported;
  std::uint64_t longest = 0;
  for (const lab::DeviceBuffer& input : request.inputs)
    if (input.count > longest) longest = input.count;
  std::array<SortShard, kMostRanks> shards;
  for (std::size_t r = 0; r < request.ranks.size(); ++r) {
    static_cast<Rank&>(shards[r]) = rank_of(request, r);
    shards[r].d_in = static_cast<const Key*>(request.inputs[r].data);
    shards[r].n = request.inputs[r].count;
    shards[r].d_out = static_cast<Key*>(request.outputs[r].data);
    Workspace space(request.ranks[r].d_workspace);
    take_sort_space(space, shards[r], longest);
  }
  return solve(SortJob{std::span(shards).first(request.ranks.size())});
}

}  // namespace course::multi_gpu
