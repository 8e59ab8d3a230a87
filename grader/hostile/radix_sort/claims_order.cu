// SPDX-License-Identifier: MIT
// about: Writes keys without sorting: the input, 0, 1, 2 …, a changed input, no kernel, an old answer.
// expect: split WRONG_ANSWER
// expect: tile_sort WRONG_ANSWER
// expect: merge WRONG_ANSWER
// expect: digits WRONG_ANSWER not a key of the input
// expect: any_key WRONG_ANSWER
#include "radix_sort/lab.hpp"

namespace course::radix_sort {
namespace {

template <typename Bits>
__global__ void copy(const Bits* d_in, Bits* d_out, std::uint64_t n) {
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n;
       i += std::uint64_t{gridDim.x} * blockDim.x)
    d_out[i] = d_in[i];
}
template <typename Bits>
__global__ void ascend(Bits* d_out, std::uint64_t n) {
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n;
       i += std::uint64_t{gridDim.x} * blockDim.x)
    d_out[i] = static_cast<Bits>(i);
}
// Changes the input so that the output is its sorted order.
template <typename Bits>
__global__ void agree(Bits* d_in, Bits* d_out, std::uint64_t n) {
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n;
       i += std::uint64_t{gridDim.x} * blockDim.x)
    d_in[i] = d_out[i] = static_cast<Bits>(i);
}

__device__ std::uint64_t kept_keys[1 << 16];
__device__ std::uint64_t n_kept;
template <typename Bits>
__global__ void old_answer(const Bits* d_in, Bits* d_out, std::uint64_t n) {
  const bool known = n_kept == n && n <= (1 << 16);
  for (std::uint64_t i = 0; i < n && i < (1 << 16); ++i) {
    if (!known) kept_keys[i] = d_in[i];
    d_out[i] = static_cast<Bits>(kept_keys[i]);
  }
  n_kept = n;
}

}  // namespace

Status run(const lab::Request& request) {
  return dispatch(request, [&](const auto& job) {
    using Bits = std::remove_cvref_t<decltype(*job.out.d_keys)>;
    switch (static_cast<Rung>(request.task)) {
      case Rung::split: copy<<<64, 256, 0, job.stream>>>(job.in.d_keys, job.out.d_keys, job.n); break;
      case Rung::tile_sort: ascend<<<64, 256, 0, job.stream>>>(job.out.d_keys, job.n); break;
      case Rung::merge:
        agree<<<64, 256, 0, job.stream>>>(const_cast<Bits*>(job.in.d_keys), job.out.d_keys, job.n);
        break;
      case Rung::digits: cudaMemsetAsync(job.out.d_keys, 0, job.n * sizeof(Bits), job.stream); break;
      default: old_answer<<<1, 1, 0, job.stream>>>(job.in.d_keys, job.out.d_keys, job.n); break;
    }
    return Status::ok;
  });
}
}  // namespace course::radix_sort
