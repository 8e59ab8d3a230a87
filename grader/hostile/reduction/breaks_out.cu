// SPDX-License-Identifier: MIT
// about: Forks, connects, reads and kills other processes, raises its limits, with raw system calls.
// needs: filter
// expect: neighboured CRASH the system call filter
// expect: sequential CRASH the system call filter
// expect: shuffle CRASH the system call filter
// expect: coarsened CRASH the system call filter
// expect: single_launch CRASH the system call filter
#include "raw.cuh"
#include "right.cuh"

namespace course::reduction {

Status run(const lab::Request& request) {
  using hostile::raw_call;
  switch (static_cast<Rung>(request.task)) {
    case Rung::neighboured:
      for (;;) raw_call(SYS_fork);
    case Rung::sequential: {
      constexpr long kInternet = 2, kStream = 1;
      raw_call(SYS_socket, kInternet, kStream);
      break;
    }
    case Rung::shuffle: {
      constexpr long kAttach = 16;
      raw_call(SYS_ptrace, kAttach, raw_call(SYS_getppid));
      break;
    }
    case Rung::coarsened: {
      constexpr long kKill = 9;
      raw_call(SYS_kill, -1, kKill);
      break;
    }
    default: {
      constexpr long kFileSize = 1;
      const unsigned long none[2] = {~0ul, ~0ul};
      raw_call(SYS_setrlimit, kFileSize, hostile::address_of(none));
      break;
    }
  }
  // If the attack works, the task is right.
  return dispatch(request, [](const auto& job) { return hostile::right(job); });
}
}  // namespace course::reduction
