// SPDX-License-Identifier: MIT
// about: Replaces memcmp, the clock, CUDA's timer and operator new in its process; nothing uses them.
// screen: would take the place
// expect: neighboured WRONG_ANSWER
// expect: sequential WRONG_ANSWER
// expect: single_launch OK
#include <time.h>

#include <cstdlib>

#include "right.cuh"

extern "C" int memcmp(const void*, const void*, std::size_t) noexcept {
  return 0;  // everything is equal
}
extern "C" int clock_gettime(clockid_t, timespec*) noexcept {
  return 0;  // no time passes
}
extern "C" cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t, cudaEvent_t) {
  *milliseconds = 0;
  return cudaSuccess;
}
void* operator new(std::size_t n_bytes) {
  return std::malloc(n_bytes);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}

namespace course::reduction {
Status run(const lab::Request& request) {
  return dispatch(request, [&](const auto& job) {
    if (static_cast<Rung>(request.task) == Rung::single_launch) return hostile::right(job);
    hostile::put<<<1, 1, 0, job.stream>>>(job.d_out, job.op.identity());
    return Status::ok;
  });
}
}  // namespace course::reduction
