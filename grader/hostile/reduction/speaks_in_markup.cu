// SPDX-License-Identifier: MIT
// about: Puts markup and escape sequences into names, output and exceptions, to break the reports.
// expect: neighboured CRASH
// expect: sequential CRASH assert
// expect: single_launch OK
#include <cassert>
#include <stdexcept>

#include "right.cuh"

namespace course::reduction {
namespace {
__global__ void fail() {
  const bool script_alert_1_script = false;
  assert(script_alert_1_script && "<script>alert(1)</script> \x1b[2J\x1b]0;owned\x07 ]]> &amp; \"'");
}
}  // namespace

Status run(const lab::Request& request) {
  switch (static_cast<Rung>(request.task)) {
    case Rung::neighboured:
      throw std::runtime_error(
          "</pre><script>alert(1)</script> \x1b[31m\x1b[2J ]]> \xff\xfe \r\n[  PASSED  ]");
    case Rung::sequential: fail<<<1, 1, 0, request.stream>>>(); return Status::ok;
    default: return dispatch(request, [](const auto& job) { return hostile::right(job); });
  }
}
}  // namespace course::reduction
