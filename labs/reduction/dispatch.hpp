// SPDX-License-Identifier: MIT
// Reduction: turns a request, in which types and operators are numbers, into a Job, and calls the task with
// it. lab.hpp includes this file.
#pragma once

#include "lab/offers.hpp"
#include "reduction/lab.hpp"

namespace course::reduction {

using Offered =
    lab::Offers<lab::Offer<OpId::sum, Sum, std::int32_t>, lab::Offer<OpId::sum, Sum, float>,
                lab::Offer<OpId::sum, Sum, std::int64_t>, lab::Offer<OpId::sum, Sum, double>,
                lab::Offer<OpId::product, Product, std::int32_t>, lab::Offer<OpId::product, Product, float>,
                lab::Offer<OpId::min, Min, std::int32_t>, lab::Offer<OpId::min, Min, float>,
                lab::Offer<OpId::max, Max, std::int32_t>, lab::Offer<OpId::max, Max, float>,
                lab::Offer<OpId::mean, Mean, std::int32_t>, lab::Offer<OpId::mean, Mean, float>>;

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

// `op` for n items: a mean divides by their number.
template <typename Op>
Op for_items(Op op, std::uint64_t n) {
  if constexpr (requires { op.n; }) op.n = n;
  return op;
}

// Calls solve(job) with the Job of the request's operator and item type.
template <typename Solve>
Status dispatch(const lab::Request& request, Solve solve) {
  return Offered::answer(request, [&]<typename T, typename Op>(T, Op op) {
    return solve(job_of<T>(request, for_items(op, request.n)));
  });
}

}  // namespace course::reduction
