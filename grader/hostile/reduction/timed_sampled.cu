// SPDX-License-Identifier: MIT
// about: Reduces one item in sixteen and scales the sum.
// task: coarsened
// verdict: WRONG_ANSWER
#include "right.cuh"

namespace course::reduction {
namespace {
template <typename Value>
__global__ void scale(Value* d_out, Value factor) {
  *d_out = static_cast<Value>(*d_out * factor);
}
}  // namespace

Status run(const lab::Request& request) {
  return dispatch(request, [](auto job) {
    using Value = std::remove_reference_t<decltype(*job.d_out)>;
    if (job.n < 1 << 20) return hostile::right(job);
    job.n /= 16;
    const Status status = hostile::right(job);
    scale<<<1, 1, 0, job.stream>>>(job.d_out, static_cast<Value>(16));
    return status;
  });
}
}  // namespace course::reduction
