// SPDX-License-Identifier: MIT
// Scan: turns a request, in which types and operators are numbers, into a Job, and calls the task with it.
// lab.hpp includes this file.
#pragma once

#include "lab/offers.hpp"
#include "scan/lab.hpp"

namespace course::scan {

using Offered = lab::Offers<lab::Offer<OpId::sum, Sum, std::int32_t>, lab::Offer<OpId::sum, Sum, float>,
                            lab::Offer<OpId::sum, Sum, std::int64_t>, lab::Offer<OpId::sum, Sum, double>,
                            lab::Offer<OpId::min, Min, std::int32_t>, lab::Offer<OpId::min, Min, float>,
                            lab::Offer<OpId::max, Max, std::int32_t>, lab::Offer<OpId::max, Max, float>,
                            lab::Offer<OpId::affine, Affine, std::uint32_t>>;

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

// Calls solve(job) with the Job of the request's operator and item type.
template <typename Solve>
Status dispatch(const lab::Request& request, Solve solve) {
  return Offered::answer(request, [&]<typename Op>(auto, Op) { return solve(job_of<Op>(request)); });
}

}  // namespace course::scan
