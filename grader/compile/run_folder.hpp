// SPDX-License-Identifier: MIT
// Where one run of the grader keeps what it compiles: build/runs/<chance>, a folder of its own, so that two runs at once do not meet.
// Invariant: it is gone when the run has ended, however it ended; if by SIGKILL, the next run removes it.
#pragma once

#include <string>

#include "base/result.hpp"
#include "layout.hpp"

namespace course::grader {

// The folder of this process, made at the first call.
Result<std::string> run_folder(const Layout& layout);

// From here on Ctrl-C, SIGTERM and SIGHUP take along what this process has made: its folder and its control groups.
void tidy_up_on_signals();

// While it lives, no other process of this user runs ninja in this build folder.
class BuildLock {
 public:
  explicit BuildLock(const Layout& layout);
  ~BuildLock();
  BuildLock(const BuildLock&) = delete;
  BuildLock& operator=(const BuildLock&) = delete;

 private:
  int fd_;
};

}  // namespace course::grader
