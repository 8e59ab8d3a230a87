// SPDX-License-Identifier: MIT
// Reduction: turns a request, in which types and operators are numbers, into a Job, and calls the task with
// it. lab.hpp includes this file.
#pragma once

#include "lab/workspace.hpp"
#include "reduction/lab.hpp"

namespace course::reduction {

// The combinations that are used: every operator on i32 and f32; sums of i64 and f64, too.
constexpr bool offers(OpId op, lab::DType dtype) {
  using lab::DType;
  if (dtype == DType::i32 || dtype == DType::f32) return true;
  return op == OpId::sum && (dtype == DType::i64 || dtype == DType::f64);
}

inline lab::Workspace workspace_of(std::uint64_t n, lab::DType value) {
  return lab::Workspace()
      .add("d_scratch_a", value, scratch_count(n))
      .add("d_scratch_b", value, scratch_count(n), lab::bytes_of(value));
}

template <typename T, typename Op>
Job<T, Op> job_of(const lab::Request& request, Op op) {
  using Value = typename Op::Value;
  Job<T, Op> job;
  job.d_in = static_cast<const T*>(request.inputs[0].data);
  job.n = request.n;
  job.d_out = static_cast<Value*>(request.outputs[0].data);
  job.op = op;
  job.scratch_count = scratch_count(request.n);
  const lab::Workspace workspace = workspace_of(request.n, lab::dtype_of<Value>());
  job.d_scratch_a = workspace.address<Value>(request.d_workspace, "d_scratch_a");
  job.d_scratch_b = workspace.address<Value>(request.d_workspace, "d_scratch_b");
  job.multiprocessors = request.multiprocessors;
  job.stream = request.stream;
  return job;
}

// Calls solve(job) with the Job of the request's operator and item type.
template <typename Solve>
Status dispatch(const lab::Request& request, Solve solve) {
  using lab::DType;
  const OpId op = static_cast<OpId>(request.op);
  const std::uint64_t n = request.n;
  switch (request.dtype) {
    case DType::i32:
      switch (op) {
        case OpId::sum: return solve(job_of<std::int32_t>(request, Sum<std::int32_t>{}));
        case OpId::product: return solve(job_of<std::int32_t>(request, Product<std::int32_t>{}));
        case OpId::min: return solve(job_of<std::int32_t>(request, Min<std::int32_t>{}));
        case OpId::max: return solve(job_of<std::int32_t>(request, Max<std::int32_t>{}));
        case OpId::mean: return solve(job_of<std::int32_t>(request, Mean<std::int32_t>{n}));
      }
      return Status::unsupported;
    case DType::f32:
      switch (op) {
        case OpId::sum: return solve(job_of<float>(request, Sum<float>{}));
        case OpId::product: return solve(job_of<float>(request, Product<float>{}));
        case OpId::min: return solve(job_of<float>(request, Min<float>{}));
        case OpId::max: return solve(job_of<float>(request, Max<float>{}));
        case OpId::mean: return solve(job_of<float>(request, Mean<float>{n}));
      }
      return Status::unsupported;
    case DType::i64:
      if (op == OpId::sum) return solve(job_of<std::int64_t>(request, Sum<std::int64_t>{}));
      return Status::unsupported;
    case DType::f64:
      if (op == OpId::sum) return solve(job_of<double>(request, Sum<double>{}));
      return Status::unsupported;
    default: return Status::unsupported;
  }
}

}  // namespace course::reduction
