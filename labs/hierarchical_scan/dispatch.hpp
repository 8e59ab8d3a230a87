// SPDX-License-Identifier: MIT
// Hierarchical scan: turns a request, in which types and operators are numbers, into a Job, and calls the
// task with it. lab.hpp includes this file.
#pragma once

#include "hierarchical_scan/lab.hpp"
#include "lab/offers.hpp"

namespace course::hierarchical_scan {

using Offered =
    lab::Offers<lab::Offer<OpId::sum, Sum, std::int32_t>, lab::Offer<OpId::sum, Sum, std::uint32_t>,
                lab::Offer<OpId::sum, Sum, std::int64_t>, lab::Offer<OpId::sum, Sum, float>,
                lab::Offer<OpId::sum, Sum, double>, lab::Offer<OpId::max, Max, std::int32_t>,
                lab::Offer<OpId::max, Max, float>, lab::Offer<OpId::affine, Affine, std::uint32_t>>;

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

// Calls solve(job) with the Job of the request's operator and item type.
template <typename Solve>
Status dispatch(const lab::Request& request, Solve solve) {
  return Offered::answer(request, [&](auto, auto op) { return solve(job_of(request, op)); });
}

}  // namespace course::hierarchical_scan
