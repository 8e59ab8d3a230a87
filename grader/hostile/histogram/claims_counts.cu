// SPDX-License-Identifier: MIT
// about: Writes made-up counts: of every second sample, or the expected ones. The first task is right.
// expect: global_atomics OK
// expect: private_counts WRONG_ANSWER
// expect: shared_counts WRONG_ANSWER
// expect: sort_reduce WRONG_ANSWER
// expect: combined WRONG_ANSWER
#include "right.cuh"

namespace course::histogram {
namespace {

// Counts as if the samples were distributed evenly; the sum is right.
__global__ void spread_evenly(std::uint64_t n, std::uint32_t n_bins, Count* d_counts) {
  for (std::uint32_t b = threadIdx.x; b <= n_bins; b += blockDim.x)
    d_counts[b] = b == n_bins ? 0 : n / n_bins + (b < n % n_bins ? 1 : 0);
}

// All counts go to the first sample's bin, which is right if all samples are equal.
template <typename T, typename Bins>
__global__ void all_like_the_first(const T* d_in, std::uint64_t n, Bins bins, Count* d_counts) {
  using hostile::bin_of;
  const std::uint32_t bin = n > 0 ? bin_of(bins, d_in[0]) : 0;
  for (std::uint32_t b = threadIdx.x; b <= bins.n_bins; b += blockDim.x) d_counts[b] = b == bin ? n : 0;
}

}  // namespace

Status run(const lab::Request& request) {
  return dispatch(request, [&](const auto& job) {
    switch (static_cast<Rung>(request.task)) {
      case Rung::private_counts: return hostile::right(job, 2);
      case Rung::shared_counts:
        cudaMemsetAsync(job.d_counts, 0, (job.bins.n_bins + 1) * sizeof(Count), job.stream);
        return Status::ok;
      case Rung::sort_reduce:
        spread_evenly<<<1, 256, 0, job.stream>>>(job.n, job.bins.n_bins, job.d_counts);
        return Status::ok;
      case Rung::combined:
        all_like_the_first<<<1, 256, 0, job.stream>>>(job.d_in, job.n, job.bins, job.d_counts);
        return Status::ok;
      default: return hostile::right(job);
    }
  });
}
}  // namespace course::histogram
