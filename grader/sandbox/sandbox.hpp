// SPDX-License-Identifier: MIT
// Sandboxes for student code: which features this machine offers, found by trying them once, and the command
// line that runs a program in a sandbox. Read isolation.hpp first (the levels), then view.hpp (visible
// files), filter.hpp and cgroup.hpp; enter_main.cpp is the program that drops rights. Works as root and as an
// ordinary user, with and without user namespaces. A missing feature is left out and may lower the level;
// Machine::missing says how to get it. The environment variable LAB_SANDBOX=none|limits|namespaces|full is an
// upper bound.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "sandbox/cgroup.hpp"
#include "sandbox/filter.hpp"
#include "sandbox/isolation.hpp"
#include "sandbox/leftover_files.hpp"
#include "sandbox/view.hpp"

namespace course::grader::sandbox {

// The features that this machine offers.
struct Machine {
  Isolation level = Isolation::none;
  Namespaces namespaces = Namespaces::none;
  bool disable_userns = false;  // bubblewrap can forbid nested user namespaces
  bool proc = true;             // a /proc of its own can be mounted
  bool filter = false;
  bool other_user = false;  // the grader is root, and a sandbox takes on a user of its own
  int cgroup_version = 0;   // 0 for none
  std::string enter;        // the program sandbox_enter
  std::string bwrap;
  std::vector<std::string> missing;  // features that are missing and why, one sentence each

  // The features for display: "namespaces", "filter", "own user", …
  std::vector<std::string> parts() const;
};

// Finds the features by trying them, up to the level `most`. `enter` is the path of sandbox_enter.
Machine probe(const std::string& enter, Isolation most);
// The same with the upper bound of LAB_SANDBOX; probes once per process.
const Machine& this_machine(const std::string& enter);

// `compile`: runs as the owner of the one folder that it may write to.
// `device`: a simulated device, which runs a student's kernels but no host code of the student.
// `run_with_nccl`: on GPUs, of a lab for several devices.
enum class Purpose : unsigned char { run, run_on_gpu, run_with_nccl, compile, device };

struct Bounds {
  std::uint64_t memory_bytes = std::uint64_t{6} << 30;
  // Of one process; 0 for no limit, because the simulator reserves far more than it uses.
  std::uint64_t address_bytes = 0;
  std::uint64_t threads = 1024;
  std::uint64_t file_bytes = std::uint64_t{64} << 20;
  std::uint64_t cpu_seconds = 3600;  // of one process; the verifier limits the time of a case
};

// A user id that no other sandbox in this PID namespace has; after 64 the process's ids repeat.
unsigned fresh_uid();
// Whether this user id is one that sandboxes of this process use; other graders use others.
bool is_uid_of_this_process(unsigned uid);

// One sandbox: programs started with its launcher share a control group and a user id.
class Sandbox {
 public:
  Sandbox(const Machine& machine, Purpose purpose, View view, const Bounds& bounds = {});

  // argv to put before the program's own. Empty at level none.
  const std::vector<std::string>& launcher() const { return launcher_; }

 private:
  // The control group is destroyed first. It ends all processes that could still write files.
  LeftoverFiles leftover_files_;
  std::optional<Cgroup> cgroup_;
  std::vector<std::string> launcher_;
};

}  // namespace course::grader::sandbox
