// SPDX-License-Identifier: MIT
// about: Makes private members public, halves floats, uses longjmp, throws through the harness.
// screen: changes how errors end the program
// expect: neighboured CRASH
// expect: sequential CRASH
// expect: shuffle WRONG_ANSWER
// expect: single_launch OK
#define private public
#define protected public
#include <csetjmp>

#include "right.cuh"
#undef private
#undef protected

namespace course::reduction {
namespace {
std::jmp_buf away;

// Sums floats in a type with half as many bits.
template <typename T>
__global__ void halve(T* d_out) {
  if constexpr (sizeof(T) == 4) {
    *reinterpret_cast<unsigned*>(d_out) &= 0xffff0000u;
  } else {
    *reinterpret_cast<unsigned long long*>(d_out) &= 0xffffffff00000000ull;
  }
}
}  // namespace

Status run(const lab::Request& request) {
  switch (static_cast<Rung>(request.task)) {
    case Rung::neighboured: std::longjmp(away, 1);  // setjmp was never called
    case Rung::sequential: throw 42;
    case Rung::shuffle:
      return dispatch(request, [](const auto& job) {
        const Status status = hostile::right(job);
        halve<<<1, 1, 0, job.stream>>>(job.d_out);
        return status;
      });
    default: return dispatch(request, [](const auto& job) { return hostile::right(job); });
  }
}
}  // namespace course::reduction
