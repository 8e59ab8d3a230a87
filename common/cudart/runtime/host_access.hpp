// SPDX-License-Identifier: MIT
// Finds host code that reads or writes page-locked or managed memory which unfinished work may still use, since the host
// has not waited for it ("host-race", "host-writes-during-copy"). For SIM_CHECK=1.
// While host code runs, the pages that such work has written cannot be accessed, and those that it has read cannot be
// written (mprotect). The first access to a page faults, is noted, and goes on; the next call of the runtime judges it.
// Not seen: a page's second access between two calls; memory of cudaHostRegister; work that may tell the host of its
// progress, by atomic or volatile writes to such memory. System calls that are given a protected page fail with EFAULT.
#pragma once

namespace course::cudart {

// Around every call of the runtime: inside, all memory can be accessed.
class InsideRuntime {
 public:
  InsideRuntime();
  ~InsideRuntime();
  InsideRuntime(const InsideRuntime&) = delete;
  InsideRuntime& operator=(const InsideRuntime&) = delete;
};

}  // namespace course::cudart
