// SPDX-License-Identifier: MIT
// about: Starts threads without end, runs another program, uses up descriptors, files and memory maps.
// screen: processes or threads
// needs: filter
// expect: neighboured CRASH ended the program
// expect: sequential CRASH the system call filter
// expect: shuffle OK
// expect: coarsened OK
// expect: single_launch CRASH ended the program
#include <cstdio>
#include <thread>

#include "raw.cuh"
#include "right.cuh"

namespace course::reduction {
namespace {

using hostile::address_of;
using hostile::raw_call;

constexpr long kHere = -100;

void use_up_descriptors() {
  while (raw_call(SYS_dup, 1) >= 0) continue;
  for (long fd = 4; fd < 4096; ++fd) raw_call(SYS_close, fd);  // so that later cases can open files
}

void use_up_files() {
  constexpr long kWriteCreate = 0101;
  for (const char* folder : {"/tmp", "/dev/shm", "/var/tmp"}) {
    for (int i = 0; i < 2000; ++i) {
      char path[64];
      std::snprintf(path, sizeof path, "%s/for_the_next%d", folder, i);
      const long fd = raw_call(SYS_openat, kHere, address_of(path), kWriteCreate, 0600);
      if (fd < 0) break;
      raw_call(SYS_close, fd);
    }
  }
}

// The largest first: a kernel that allows a million maps (Ubuntu 24.04) runs out of addresses before.
void use_up_maps() {
  constexpr long kPrivateAnonymousNoReserve = 0x4022;
  for (long size = 1L << 30; size >= 4096; size >>= 9)
    for (long protection = 0; raw_call(SYS_mmap, 0, size, protection, kPrivateAnonymousNoReserve, -1, 0) > 0;)
      protection = 3 - protection;  // none, all, none …: equal neighbours would be merged
}

}  // namespace

Status run(const lab::Request& request) {
  static bool done = false;
  switch (static_cast<Rung>(request.task)) {
    case Rung::neighboured:
      for (;;) std::thread([] { raw_call(SYS_pause); }).detach();
    case Rung::sequential: {
      const char* const program[] = {"/usr/bin/env", nullptr};
      const char* const environment[] = {"LD_PRELOAD=/tmp/own.so", nullptr};
      raw_call(SYS_execve, address_of(program[0]), address_of(program), address_of(environment));
      break;
    }
    case Rung::shuffle:
      if (!done) use_up_descriptors();
      break;
    case Rung::coarsened:
      if (!done) use_up_files();
      break;
    default:
      if (!done) use_up_maps();
      break;
  }
  done = true;
  return dispatch(request, [](const auto& job) { return hostile::right(job); });
}
}  // namespace course::reduction
