// SPDX-License-Identifier: MIT
// Stream compaction: turns a request, in which types and predicates are numbers, into a Job, and calls the
// task with it. lab.hpp includes this file.
#pragma once

#include "compaction/lab.hpp"
#include "lab/offers.hpp"

namespace course::compaction {

using Offered = lab::Offers<
    lab::Offer<KeepId::is_positive, IsPositive, std::int32_t>,
    lab::Offer<KeepId::is_positive, IsPositive, float>, lab::Offer<KeepId::is_even, IsEven, std::int32_t>,
    lab::Offer<KeepId::is_even, IsEven, std::int64_t>, lab::Offer<KeepId::nonzero, Nonzero, std::int32_t>,
    lab::Offer<KeepId::nonzero, Nonzero, float>, lab::Offer<KeepId::less_than, LessThan, std::int32_t>,
    lab::Offer<KeepId::less_than, LessThan, float>, lab::Offer<KeepId::less_than, LessThan, std::int64_t>>;

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

// The predicate with the threshold that it may have: params[0].
template <typename T, template <typename> typename Keep>
Keep<T> with_threshold(Keep<T> keep, std::int64_t threshold) {
  if constexpr (requires { keep.threshold; }) keep.threshold = static_cast<T>(threshold);
  return keep;
}

// Calls solve(job) with the Job of the request's predicate and item type.
template <typename Solve>
Status dispatch(const lab::Request& request, Solve solve) {
  return Offered::answer(request, [&]<typename T>(T, auto keep) {
    return solve(job_of<T>(request, with_threshold(keep, request.params[0])));
  });
}

}  // namespace course::compaction
