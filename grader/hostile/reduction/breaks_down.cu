// SPDX-License-Identifier: MIT
// about: Fails an assert, traps, writes out of bounds, overflows the host's stack; the last task is right.
// expect: neighboured CRASH assert
// expect: sequential CRASH
// expect: shuffle WRONG_ANSWER breaks_down.cu:
// expect: coarsened CRASH deeper calls itself
// expect: single_launch OK
#include <cassert>

#include "right.cuh"

namespace course::reduction {
namespace {
__global__ void fail(std::uint64_t n) {
  assert(n == ~std::uint64_t{0});
}
__global__ void trap() {
  __trap();
}
template <typename Value>
__global__ void stray(Value* d_out) {
  d_out[1000000] = Value{};
}
[[gnu::noinline]] int deeper(int depth) {
  volatile char frame[4096];
  frame[0] = static_cast<char>(depth);
  return deeper(depth + 1) + frame[0];
}
}  // namespace

Status run(const lab::Request& request) {
  return dispatch(request, [&](const auto& job) {
    switch (static_cast<Rung>(request.task)) {
      case Rung::neighboured: fail<<<1, 32, 0, job.stream>>>(job.n); break;
      case Rung::sequential: trap<<<1, 32, 0, job.stream>>>(); break;
      case Rung::shuffle: stray<<<1, 1, 0, job.stream>>>(job.d_out); break;
      case Rung::coarsened: return deeper(0) == 0 ? Status::ok : Status::unsupported;
      default: return hostile::right(job);
    }
    return Status::ok;
  });
}
}  // namespace course::reduction
