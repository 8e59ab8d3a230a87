// SPDX-License-Identifier: MIT
// about: Keeps the answer of the first run of a size in device memory and returns it from then on.
// task: coarsened
// verdict: WRONG_ANSWER
// says: was an answer kept
#include "right.cuh"

namespace course::reduction {
namespace {
__device__ unsigned char kept_answer[16];

template <typename Value>
__global__ void keep(const Value* d_out) {
  *reinterpret_cast<Value*>(kept_answer) = *d_out;
}
template <typename Value>
__global__ void recall(Value* d_out) {
  *d_out = *reinterpret_cast<const Value*>(kept_answer);
}
}  // namespace

Status run(const lab::Request& request) {
  return dispatch(request, [](const auto& job) {
    static std::uint64_t kept_n = 0;
    if (kept_n == job.n) {
      recall<<<1, 1, 0, job.stream>>>(job.d_out);
      return Status::ok;
    }
    const Status status = hostile::right(job);
    keep<<<1, 1, 0, job.stream>>>(job.d_out);
    kept_n = job.n;
    return status;
  });
}
}  // namespace course::reduction
