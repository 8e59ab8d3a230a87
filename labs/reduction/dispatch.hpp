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

// Calls f(T{}, op) with the item type and the operator of a combination that is offered.
template <typename F>
decltype(auto) with_types(OpId op, lab::DType dtype, std::uint64_t n, F f) {
  if (dtype == lab::DType::i64) return f(std::int64_t{}, Sum<std::int64_t>{});
  if (dtype == lab::DType::f64) return f(double{}, Sum<double>{});
  return lab::with_type<float, std::int32_t>(dtype, [&]<typename T>(T item) {
    switch (op) {
      case OpId::product: return f(item, Product<T>{});
      case OpId::min: return f(item, Min<T>{});
      case OpId::max: return f(item, Max<T>{});
      case OpId::mean: return f(item, Mean<T>{n});
      default: return f(item, Sum<T>{});
    }
  });
}

// Calls solve(job) with the Job of the request's operator and item type.
template <typename Solve>
Status dispatch(const lab::Request& request, Solve solve) {
  const OpId id = static_cast<OpId>(request.op);
  if (!offers(id, request.dtype)) return Status::unsupported;
  return with_types(id, request.dtype, request.n,
                    [&]<typename T, typename Op>(T, Op op) { return solve(job_of<T>(request, op)); });
}

}  // namespace course::reduction
