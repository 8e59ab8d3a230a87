// SPDX-License-Identifier: MIT
// about: Adds to a register that it never sets, and relies on all lanes being together after a branch.
// expect: neighboured WRONG_ANSWER
// expect: shuffle WRONG_ANSWER
#include <type_traits>

#include "right.cuh"

namespace course::reduction::hostile {

template <typename Value>
__global__ void fold_onto_nothing(const Value* d_in, std::uint64_t n, Value* d_out) {
  __shared__ Value s_data[kBlock];
  Value sum;  // a GPU's registers contain what an earlier block has left there
  for (std::uint64_t i = threadIdx.x; i < n; i += kBlock) sum = sum + d_in[i];
  s_data[threadIdx.x] = threadIdx.x < n ? sum : 0;
  for (unsigned stride = kBlock / 2; stride > 0; stride /= 2) {
    __syncthreads();
    if (threadIdx.x < stride) s_data[threadIdx.x] += s_data[threadIdx.x + stride];
  }
  if (threadIdx.x == 0) *d_out = s_data[0];
}

template <typename Value>
__global__ void fold_active_lanes(const Value* d_in, std::uint64_t n, Value* d_out) {
  __shared__ Value s_data[kBlock / 32];
  const unsigned lane = threadIdx.x % 32;
  Value sum = 0;
  for (std::uint64_t i = threadIdx.x; i < n; i += kBlock) sum += d_in[i];
  const unsigned lanes = __activemask();  // some may still be in the loop
  for (unsigned step = 16; step > 0; step /= 2) sum += __shfl_down_sync(lanes, sum, step);
  if (lane == 0) s_data[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (unsigned warp = 1; warp < kBlock / 32; ++warp) sum += s_data[warp];
  *d_out = sum;
}

}  // namespace course::reduction::hostile

namespace course::reduction {

Status run(const lab::Request& request) {
  return dispatch(request, [&](const auto& job) {
    using Given = std::remove_cvref_t<decltype(job)>;
    if constexpr (std::is_same_v<decltype(Given::op), Sum<std::int32_t>> &&
                  std::is_same_v<std::remove_cvref_t<decltype(*job.d_in)>, std::int32_t>) {
      if (static_cast<Rung>(request.task) == Rung::shuffle)
        hostile::fold_active_lanes<<<1, hostile::kBlock, 0, job.stream>>>(job.d_in, job.n, job.d_out);
      else
        hostile::fold_onto_nothing<<<1, hostile::kBlock, 0, job.stream>>>(job.d_in, job.n, job.d_out);
      return Status::ok;
    }
    return hostile::right(job);
  });
}

}  // namespace course::reduction
