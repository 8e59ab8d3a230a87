// SPDX-License-Identifier: MIT
// about: Loops forever on the host or in a kernel, sleeps, prints without end; the last task is right.
// screen: reads a clock or waits
// expect: neighboured TIME_LIMIT took longer than
// expect: sequential TIME_LIMIT
// expect: shuffle TIME_LIMIT took longer than
// expect: coarsened OUTPUT_LIMIT printed too much
// expect: single_launch OK
#include <unistd.h>

#include <cstdio>

#include "right.cuh"

namespace course::reduction {
namespace {
__global__ void spin(volatile unsigned* d_flag) {
  while (*d_flag != 1) continue;
}
}  // namespace

Status run(const lab::Request& request) {
  switch (static_cast<Rung>(request.task)) {
    case Rung::neighboured: {
      volatile bool stop = false;
      while (!stop) continue;
      return Status::ok;
    }
    case Rung::sequential:
      spin<<<1, 32, 0, request.stream>>>(static_cast<unsigned*>(request.d_workspace));
      return Status::ok;
    case Rung::shuffle:
      for (;;) pause();
    case Rung::coarsened:
      for (;;) std::puts("a line that says nothing, again and again and again and again and again and again");
    default: return dispatch(request, [](const auto& job) { return hostile::right(job); });
  }
}
}  // namespace course::reduction
