// SPDX-License-Identifier: MIT
// Histogram: turns a request, in which types and operators are numbers, into a Job, and calls the task with
// it. lab.hpp includes this file.
#pragma once

#include "histogram/lab.hpp"
#include "lab/workspace.hpp"

namespace course::histogram {

// The sample types; each is used with both kinds of bins.
constexpr bool offers(OpId, lab::DType dtype) {
  return dtype == lab::DType::i32 || dtype == lab::DType::f32 || dtype == lab::DType::u8;
}

// Request::params: the number of bins; lo and hi of equal-width bins, as the bits of a float if the samples
// are floats.
inline constexpr std::size_t kBinsParam = 0, kLoParam = 1, kHiParam = 2;

template <typename T>
Bound<T> bound_of(std::int64_t param) {
  if constexpr (std::is_integral_v<T>) {
    return param;
  } else {
    T bound;
    std::memcpy(&bound, &param, sizeof bound);
    return bound;
  }
}
template <typename T>
std::int64_t param_of(Bound<T> bound) {
  std::int64_t param = 0;
  std::memcpy(&param, &bound, sizeof bound);
  return param;
}

template <typename T>
EvenBins<T> even_bins(const std::array<std::int64_t, 8>& params) {
  return EvenBins<T>(static_cast<std::uint32_t>(params[kBinsParam]), bound_of<T>(params[kLoParam]),
                     bound_of<T>(params[kHiParam]));
}

inline lab::Workspace workspace_of(std::uint64_t n, std::uint32_t n_bins) {
  return lab::Workspace().add("d_private", lab::DType::u32,
                              (std::uint64_t{n_bins} + 1) * n_private(n, n_bins));
}

template <typename T, typename Bins>
Job<T, Bins> job_of(const lab::Request& request, const Bins& bins) {
  Job<T, Bins> job{.bins = bins};
  job.d_in = static_cast<const T*>(request.inputs[0].data);
  job.n = request.n;
  job.d_counts = static_cast<Count*>(request.outputs[0].data);
  job.d_private = static_cast<std::uint32_t*>(request.d_workspace);
  job.n_private = n_private(request.n, bins.n_bins);
  job.multiprocessors = request.multiprocessors;
  job.stream = request.stream;
  return job;
}

// Calls solve(job) with the Job of the request's bins and sample type.
template <typename Solve>
Status dispatch(const lab::Request& request, Solve solve) {
  if (!offers(static_cast<OpId>(request.op), request.dtype)) return Status::unsupported;
  const auto with = [&]<typename T>(T) {
    if (static_cast<OpId>(request.op) == OpId::edges) {
      return solve(job_of<T>(request, EdgeBins<T>{static_cast<std::uint32_t>(request.params[kBinsParam]),
                                                  static_cast<const Edge<T>*>(request.inputs[1].data)}));
    }
    return solve(job_of<T>(request, even_bins<T>(request.params)));
  };
  return lab::with_type<float, std::uint8_t, std::int32_t>(request.dtype, with);
}

}  // namespace course::histogram
