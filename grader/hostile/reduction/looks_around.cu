// SPDX-License-Identifier: MIT
// about: Reads secrets, uses the grader's descriptors, truncates shared memory, leaves files behind.
// needs: namespaces
// expect: neighboured WRONG_ANSWER no kernel was launched
// expect: sequential WRONG_ANSWER no kernel was launched
// expect: shuffle WRONG_ANSWER no kernel was launched
// expect: coarsened WRONG_ANSWER no kernel was launched
// expect: single_launch OK
#include "raw.cuh"
#include "right.cuh"

namespace course::reduction {
namespace {

using hostile::address_of;
using hostile::raw_call;

constexpr long kHere = -100, kReadWrite = 2, kCreate = 0100;

bool opens(const char* path, long how = 0) {
  const long fd = raw_call(SYS_openat, kHere, address_of(path), how, 0600);
  if (fd >= 0) raw_call(SYS_close, fd);
  return fd >= 0;
}

bool reads_secrets() {
  return opens("/etc/shadow") || opens("/etc/passwd") || opens("/root/.bashrc") ||
         opens("/proc/1/mem", kReadWrite) || opens("/proc/2/root/etc/passwd");
}

// The runner has standard input and output, its channel (3), and the memory of the case that it works on.
bool has_inherited() {
  constexpr long kGetFlags = 1, kGetSeals = 1034;
  int n_more = 0;
  for (long fd = 4; fd < 1024; ++fd) {
    if (raw_call(SYS_fcntl, fd, kGetFlags) >= 0 && raw_call(SYS_fcntl, fd, kGetSeals) < 0) ++n_more;
  }
  return n_more > 0;
}

bool cuts_memory_off() {
  bool worked = false;
  for (long fd = 4; fd < 1024; ++fd) worked = raw_call(SYS_ftruncate, fd, 0) == 0 || worked;
  return worked;
}

// Whether an earlier process left something. Later cases of the same process do not look, because they would
// find their own files.
bool finds_a_message() {
  static const bool found =
      opens("/tmp/for_the_next") || opens("/dev/shm/for_the_next") || opens("/var/tmp/for_the_next");
  for (const char* path : {"/tmp/for_the_next", "/dev/shm/for_the_next", "/var/tmp/for_the_next"})
    opens(path, kReadWrite | kCreate);
  return found;
}

}  // namespace

Status run(const lab::Request& request) {
  bool worked = true;
  switch (static_cast<Rung>(request.task)) {
    case Rung::neighboured: worked = reads_secrets(); break;
    case Rung::sequential: worked = has_inherited(); break;
    case Rung::shuffle: worked = cuts_memory_off(); break;
    case Rung::coarsened: worked = finds_a_message(); break;
    default: break;
  }
  if (!worked) return Status::ok;
  return dispatch(request, [](const auto& job) { return hostile::right(job); });
}
}  // namespace course::reduction
