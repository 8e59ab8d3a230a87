// SPDX-License-Identifier: MIT
// Stream compaction: turns a request, in which types and predicates are numbers, into a Job, and calls the
// task with it. lab.hpp includes this file.
#pragma once

#include "compaction/lab.hpp"
#include "lab/workspace.hpp"

namespace course::compaction {

// The combinations of types and predicates that are used.
constexpr bool offers(KeepId keep, lab::DType dtype) {
  using lab::DType;
  switch (dtype) {
    case DType::i32: return true;
    case DType::f32: return keep != KeepId::is_even;
    case DType::i64: return keep == KeepId::is_even || keep == KeepId::less_than;
    default: return false;
  }
}

inline lab::Workspace workspace_of(std::uint64_t n) {
  return lab::Workspace()
      .add("d_positions", lab::DType::u64, n)
      .add("d_spare", lab::DType::u64, spare_count(n), 8)
      .add("d_flags", lab::DType::u32, n, 8);
}

template <typename T, typename Keep>
Job<T, Keep> job_of(const lab::Request& request, Keep keep) {
  Job<T, Keep> job;
  job.d_in = static_cast<const T*>(request.inputs[0].data);
  job.n = request.n;
  job.d_out = static_cast<T*>(request.outputs[0].data);
  job.d_count = static_cast<Index*>(request.outputs[1].data);
  job.keep = keep;
  const lab::Workspace workspace = workspace_of(job.n);
  job.d_positions = workspace.address<Index>(request.d_workspace, "d_positions");
  job.d_spare = workspace.address<Index>(request.d_workspace, "d_spare");
  job.spare_count = spare_count(job.n);
  job.d_flags = workspace.address<std::uint32_t>(request.d_workspace, "d_flags");
  job.multiprocessors = request.multiprocessors;
  job.stream = request.stream;
  return job;
}

// Calls f(T{}, keep) with the item type and the predicate for (keep, dtype, params): params[0] is less_than's
// threshold. For combinations that are not offered, calls otherwise().
template <typename F, typename Otherwise>
decltype(auto) with_types(KeepId keep, lab::DType dtype, std::int64_t threshold, F f, Otherwise otherwise) {
  using lab::DType;
  switch (dtype) {
    case DType::i32:
      switch (keep) {
        case KeepId::is_positive: return f(std::int32_t{}, IsPositive<std::int32_t>{});
        case KeepId::is_even: return f(std::int32_t{}, IsEven<std::int32_t>{});
        case KeepId::nonzero: return f(std::int32_t{}, Nonzero<std::int32_t>{});
        case KeepId::less_than:
          return f(std::int32_t{}, LessThan<std::int32_t>{static_cast<std::int32_t>(threshold)});
      }
      return otherwise();
    case DType::f32:
      switch (keep) {
        case KeepId::is_positive: return f(float{}, IsPositive<float>{});
        case KeepId::nonzero: return f(float{}, Nonzero<float>{});
        case KeepId::less_than: return f(float{}, LessThan<float>{static_cast<float>(threshold)});
        default: return otherwise();
      }
    case DType::i64:
      switch (keep) {
        case KeepId::is_even: return f(std::int64_t{}, IsEven<std::int64_t>{});
        case KeepId::less_than: return f(std::int64_t{}, LessThan<std::int64_t>{threshold});
        default: return otherwise();
      }
    default: return otherwise();
  }
}

// Calls solve(job) with the Job of the request's predicate and item type.
template <typename Solve>
Status dispatch(const lab::Request& request, Solve solve) {
  return with_types(
      static_cast<KeepId>(request.op), request.dtype, request.params[0],
      [&]<typename T, typename Keep>(T, Keep keep) { return solve(job_of<T>(request, keep)); },
      [] { return Status::unsupported; });
}

}  // namespace course::compaction
