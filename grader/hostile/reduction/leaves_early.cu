// SPDX-License-Identifier: MIT
// about: Ends, kills or breaks the process in the middle of a case; one task is right and must pass.
// expect: neighboured CRASH ended the program
// expect: sequential CRASH ended the program
// expect: shuffle OK
// expect: coarsened CRASH ended the program
// expect: single_launch CRASH ended the program
#include <cstdlib>
#include <stdexcept>

#include "right.cuh"

namespace course::reduction {
Status run(const lab::Request& request) {
  switch (static_cast<Rung>(request.task)) {
    case Rung::neighboured: std::exit(0);
    case Rung::sequential: {
      volatile int* volatile nowhere = nullptr;
      *nowhere = 1;
      return Status::ok;
    }
    case Rung::coarsened: throw std::runtime_error("all tests passed");
    case Rung::single_launch: std::abort();
    default: return dispatch(request, [](const auto& job) { return hostile::right(job); });
  }
}
}  // namespace course::reduction
