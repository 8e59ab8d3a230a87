// SPDX-License-Identifier: MIT
// The folder for the compiled files of one run of the grader, build/runs/<random name>. Each run has its own,
// so that several runs do not disturb each other.
// Invariant: the folder is removed when the run ends. If the run is killed by SIGKILL, the next run removes
// it.
#pragma once

#include <string>

#include "base/result.hpp"
#include "layout.hpp"

namespace course::grader {

// The folder of this process, created by the first call.
Result<std::string> run_folder(const Layout& layout);

// From now on, SIGINT (Ctrl-C), SIGTERM and SIGHUP also remove this process's folder and control groups.
void tidy_up_on_signals();

// While this object exists, no other process with a BuildLock runs ninja in this build folder. The
// constructor waits for such a process, and shows which one it is.
class BuildLock {
 public:
  explicit BuildLock(const Layout& layout);
  ~BuildLock();
  BuildLock(const BuildLock&) = delete;
  BuildLock& operator=(const BuildLock&) = delete;

 private:
  int fd_ = -1;
};

}  // namespace course::grader
