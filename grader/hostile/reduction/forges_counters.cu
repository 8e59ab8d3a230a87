// SPDX-License-Identifier: MIT
// about: Resets the simulator's counters if it finds their functions; otherwise it is a right solution.
// screen: simulator's controls
// expect: neighboured OK
// expect: single_launch OK
#include "right.cuh"

// Weak, because they are not known at link time; they would be found at run time.
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
      if (simSetMode != nullptr || simResetReport != nullptr) __builtin_trap();  // must not exist here
    }
    return status;
  });
}
}  // namespace course::reduction
