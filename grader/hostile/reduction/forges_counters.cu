// SPDX-License-Identifier: MIT
// about: Takes hold of the simulator's controls: switches the checkers off, resets the counters, so that its work is not counted.
// screen: simulator's controls
// expect: neighboured WRONG_ANSWER
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
    }
    return status;
  });
}
}  // namespace course::reduction
