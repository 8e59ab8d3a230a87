// SPDX-License-Identifier: MIT
// about: Tries to outlive its case: daemon, ignored signals, late thread, own session, alarm.
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
      // The answer comes after the verifier has stopped waiting.
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
