// SPDX-License-Identifier: MIT
// about: Takes hold of the simulator's controls to reset its counters; where its process has none, it is graded like any other.
// screen: simulator's controls
// expect: neighboured OK
// expect: single_launch OK
#include "right.cuh"

// Weak: whoever links it knows nothing of them, and they are found at run time.
extern "C" {
[[gnu::weak]] int simSetMode(unsigned mode);
[[gnu::weak]] int simResetReport(void);
}

namespace course::reduction {

Status run(const lab::Request& request) {
  return dispatch(request, [&](const auto& job) {
    const Status status = hostile::right(job);
    if (static_cast<Rung>(request.task) != Rung::single_launch) {
      if (simSetMode != nullptr) simSetMode(0);
      if (simResetReport != nullptr) simResetReport();
      if (simSetMode != nullptr || simResetReport != nullptr) __builtin_trap();  // they must not be here
    }
    return status;
  });
}
}  // namespace course::reduction
