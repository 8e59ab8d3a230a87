// SPDX-License-Identifier: MIT
// about: Returns at once; a host thread launches the work a moment later.
// screen: thread
// task: coarsened
// verdict: WRONG_ANSWER
#include <chrono>
#include <thread>

#include "right.cuh"

namespace course::reduction {
Status run(const lab::Request& request) {
  return dispatch(request, [](auto job) {
    std::thread([job] {
      std::this_thread::sleep_for(std::chrono::microseconds(300));
      static_cast<void>(hostile::right(job));
    }).detach();
    return Status::ok;
  });
}
}  // namespace course::reduction
