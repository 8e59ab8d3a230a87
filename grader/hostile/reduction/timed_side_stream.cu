// SPDX-License-Identifier: MIT
// about: Works in a stream of its own, for which the clock does not wait.
// screen: cudaStreamCreateWithFlags
// task: coarsened
// verdict: WRONG_ANSWER
#include "right.cuh"

namespace course::reduction {
Status run(const lab::Request& request) {
  return dispatch(request, [](auto job) {
    static cudaStream_t stream = nullptr;
    if (stream == nullptr) cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    job.stream = stream;
    return hostile::right(job);
  });
}
}  // namespace course::reduction
