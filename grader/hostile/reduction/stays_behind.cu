// SPDX-License-Identifier: MIT
// about: Wants to outlive its case: a daemon, deaf to signals, a late host thread, a session of its own, an alarm.
// screen: processes or threads
// needs: filter
// expect: neighboured CRASH the system call filter
// expect: sequential TIME_LIMIT took longer than
// expect: shuffle WRONG_ANSWER
// expect: coarsened CRASH the system call filter
// expect: single_launch CRASH the system call filter
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "raw.cuh"
#include "right.cuh"

namespace course::reduction {
Status run(const lab::Request& request) {
  using hostile::raw_call;
  switch (static_cast<Rung>(request.task)) {
    case Rung::neighboured: static_cast<void>(daemon(0, 0)); break;
    case Rung::sequential:
      for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGPIPE}) signal(number, SIG_IGN);
      for (;;) raw_call(SYS_pause);
    case Rung::shuffle:
      // The answer comes when nobody waits for it any more.
      return dispatch(request, [](const auto& job) {
        std::thread([job] {
          std::this_thread::sleep_for(std::chrono::milliseconds(50));
          static_cast<void>(hostile::right(job));
        }).detach();
        return Status::ok;
      });
    case Rung::coarsened: raw_call(SYS_setsid); break;
    default: raw_call(SYS_vfork); break;
  }
  return dispatch(request, [](const auto& job) { return hostile::right(job); });
}
}  // namespace course::reduction
