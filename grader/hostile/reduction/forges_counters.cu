// SPDX-License-Identifier: MIT
// about: Takes hold of the simulator's controls: switches the checkers off, resets the counters, so that its work is not counted.
// screen: simulator's controls
// expect: neighboured WRONG_ANSWER
// expect: single_launch OK
#include "cudart/sim_control.h"
#include "right.cuh"

namespace course::reduction {

Status run(const lab::Request& request) {
  return dispatch(request, [&](const auto& job) {
    const Status status = hostile::right(job);
    if (static_cast<Rung>(request.task) != Rung::single_launch) {
      simSetMode(SIM_FAST);
      simResetReport();
    }
    return status;
  });
}
}  // namespace course::reduction
