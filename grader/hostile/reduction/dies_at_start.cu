// SPDX-License-Identifier: MIT
// about: A constructor ends the process with success before main, so that nothing is graded.
// screen: runs before main
// expect: neighboured CRASH ended the program
// expect: sequential CRASH ended the program
#include <unistd.h>
#include <cstdio>

#include "runs_right.cuh"

namespace {
struct Leave {
  Leave() {
    std::puts("[  PASSED  ] 5 tests.");
    std::fflush(stdout);
    _exit(0);
  }
} leave;
}  // namespace
