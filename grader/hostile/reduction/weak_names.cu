// SPDX-License-Identifier: MIT
// about: Defines weak functions with the names of the harness's functions, so that the linker takes them.
// screen: serve_cases
// expect: neighboured WRONG_ANSWER
// expect: single_launch OK
#include "right.cuh"

namespace course::lab {
struct Device;
class Submission;
[[gnu::weak, gnu::used]] int serve_cases(const Device&, Submission&) {
  return 0;
}
[[gnu::weak, gnu::used]] void send_packet(int, int, const void*) {}
}  // namespace course::lab

namespace course::reduction {
Status run(const lab::Request& request) {
  return dispatch(request, [&](const auto& job) {
    if (static_cast<Rung>(request.task) == Rung::single_launch) return hostile::right(job);
    return Status::ok;
  });
}
}  // namespace course::reduction
