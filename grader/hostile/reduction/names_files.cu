// SPDX-License-Identifier: MIT
// about: Gives its source dangerous names with #line: markup, escape sequences, a secret, a very long path.
// expect: neighboured WRONG_ANSWER outside of any allocation
// expect: sequential WRONG_ANSWER outside of any allocation
// expect: shuffle WRONG_ANSWER outside of any allocation
// expect: single_launch OK
#include "right.cuh"

namespace course::reduction {
namespace {
// clang-format off
template <typename Value>
__global__ void from_markup(Value* d_out) {
#line 1 "</pre><script>alert(1)</script>\033[2J\033]0;owned\007 & more.cu"
  d_out[1 << 20] = Value{};
}
template <typename Value>
__global__ void from_a_secret(Value* d_out) {
#line 1 "/etc/shadow"
  d_out[1 << 20] = Value{};
}
template <typename Value>
__global__ void from_nowhere(Value* d_out) {
#line 4294967 "../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../solutions/reduction/reduction.cu"
  d_out[1 << 20] = Value{};
}
#line 40 "names_files.cu"
// clang-format on
}  // namespace

Status run(const lab::Request& request) {
  return dispatch(request, [&](const auto& job) {
    switch (static_cast<Rung>(request.task)) {
      case Rung::neighboured: from_markup<<<1, 1, 0, job.stream>>>(job.d_out); return Status::ok;
      case Rung::sequential: from_a_secret<<<1, 1, 0, job.stream>>>(job.d_out); return Status::ok;
      case Rung::shuffle: from_nowhere<<<1, 1, 0, job.stream>>>(job.d_out); return Status::ok;
      default: return hostile::right(job);
    }
  });
}
}  // namespace course::reduction
