// SPDX-License-Identifier: MIT
// Scan: turns a request, in which types and operators are numbers, into a Job, and calls the task with it.
// lab.hpp includes this file.
#pragma once

#include "lab/workspace.hpp"
#include "scan/lab.hpp"

namespace course::scan {

// The combinations that are used: sums of i32, i64, f32 and f64; min and max of i32 and f32; affine maps of
// u32.
constexpr bool offers(OpId op, lab::DType dtype) {
  using lab::DType;
  switch (op) {
    case OpId::sum:
      return dtype == DType::i32 || dtype == DType::i64 || dtype == DType::f32 || dtype == DType::f64;
    case OpId::min:
    case OpId::max: return dtype == DType::i32 || dtype == DType::f32;
    case OpId::affine: return dtype == DType::u64;  // one element per map
  }
  return false;
}

// Indices of a request's parameters.
constexpr std::size_t kRowLengthParam = 0, kKindParam = 1;

inline lab::Workspace workspace_of(std::uint64_t n, lab::DType value) {
  return lab::Workspace().add("d_scratch", value, n);
}

template <typename Op>
Job<Op> job_of(const lab::Request& request) {
  using Value = typename Op::Value;
  Job<Op> job;
  job.d_in = static_cast<const Value*>(request.inputs[0].data);
  if (request.inputs.size() > 1) job.d_heads = static_cast<const std::uint8_t*>(request.inputs[1].data);
  job.n = request.n;
  job.row_length = static_cast<std::uint32_t>(request.params[kRowLengthParam]);
  job.n_rows = rows_of(job.n, job.row_length);
  job.d_out = static_cast<Value*>(request.outputs[0].data);
  job.kind = static_cast<Kind>(request.params[kKindParam]);
  job.d_scratch = static_cast<Value*>(request.d_workspace);
  job.stream = request.stream;
  return job;
}

// Calls f(op) with the operator of a combination that is offered.
template <typename F>
decltype(auto) with_op(OpId op, lab::DType dtype, F f) {
  if (dtype == lab::DType::u64) return f(Affine<std::uint32_t>{});
  if (dtype == lab::DType::i64) return f(Sum<std::int64_t>{});
  if (dtype == lab::DType::f64) return f(Sum<double>{});
  return lab::with_type<float, std::int32_t>(dtype, [&]<typename T>(T) {
    switch (op) {
      case OpId::min: return f(Min<T>{});
      case OpId::max: return f(Max<T>{});
      default: return f(Sum<T>{});
    }
  });
}

// Calls solve(job) with the Job of the request's operator and item type.
template <typename Solve>
Status dispatch(const lab::Request& request, Solve solve) {
  const OpId id = static_cast<OpId>(request.op);
  if (!offers(id, request.dtype)) return Status::unsupported;
  return with_op(id, request.dtype, [&]<typename Op>(Op) { return solve(job_of<Op>(request)); });
}

}  // namespace course::scan
