// SPDX-License-Identifier: MIT
// Hierarchical scan: turns a request, in which types and operators are numbers, into a Job, and calls the
// task with it. lab.hpp includes this file.
#pragma once

#include "hierarchical_scan/lab.hpp"
#include "lab/workspace.hpp"

namespace course::hierarchical_scan {

// The combinations of types and operators that are used.
constexpr bool offers(OpId op, lab::DType dtype) {
  using lab::DType;
  switch (op) {
    case OpId::sum: return dtype != DType::u8 && dtype != DType::u64;
    case OpId::max: return dtype == DType::i32 || dtype == DType::f32;
    case OpId::affine: return dtype == DType::u64;
  }
  return false;
}

inline lab::Workspace workspace_of(std::uint64_t n, lab::DType value) {
  return lab::Workspace().add("d_flags", lab::DType::u32, flags_count(n)).add("d_sums", value, sums_count(n));
}

template <typename Op>
Job<Op> job_of(const lab::Request& request, Op op) {
  using Value = typename Op::Value;
  Job<Op> job;
  job.d_in = static_cast<const Value*>(request.inputs[0].data);
  job.n = request.n;
  job.d_out = static_cast<Value*>(request.outputs[0].data);
  job.kind = static_cast<Kind>(request.params[0]);
  job.op = op;
  const lab::Workspace workspace = workspace_of(request.n, request.dtype);
  job.d_flags = workspace.address<std::uint32_t>(request.d_workspace, "d_flags");
  job.flags_count = flags_count(request.n);
  job.d_sums = workspace.address<Value>(request.d_workspace, "d_sums");
  job.sums_count = sums_count(request.n);
  job.multiprocessors = request.multiprocessors;
  job.stream = request.stream;
  return job;
}

// Calls f(op) with the operator of a combination that is offered.
template <typename F>
decltype(auto) with_op(OpId op, lab::DType dtype, F f) {
  if (op == OpId::affine) return f(Affine<std::uint32_t>{});
  if (op == OpId::max)
    return lab::with_type<float, std::int32_t>(dtype, [&]<typename T>(T) { return f(Max<T>{}); });
  return lab::with_type<std::uint32_t, std::int64_t, float, double, std::int32_t>(
      dtype, [&]<typename T>(T) { return f(Sum<T>{}); });
}

// Calls solve(job) with the Job of the request's operator and item type.
template <typename Solve>
Status dispatch(const lab::Request& request, Solve solve) {
  const OpId id = static_cast<OpId>(request.op);
  if (!offers(id, request.dtype)) return Status::unsupported;
  return with_op(id, request.dtype, [&](auto op) { return solve(job_of(request, op)); });
}

}  // namespace course::hierarchical_scan
