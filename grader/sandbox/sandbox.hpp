// SPDX-License-Identifier: MIT
// Sandboxes for student code: what this machine offers, found once by trying, and the command line that shuts
// a program in. Read isolation.hpp first (the levels), then view.hpp (what is seen), filter.hpp and
// cgroup.hpp; enter_main.cpp is the program that gives up rights. Works as root and as an ordinary user, with
// and without user namespaces: what can't be had lowers the level, and Machine::missing says what mends it.
// LAB_SANDBOX=none|limits|namespaces|full in the environment is an upper bound.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "sandbox/cgroup.hpp"
#include "sandbox/filter.hpp"
#include "sandbox/isolation.hpp"
#include "sandbox/leavings.hpp"
#include "sandbox/view.hpp"

namespace course::grader::sandbox {

// What this machine offers.
struct Machine {
  Isolation level = Isolation::none;
  Namespaces namespaces = Namespaces::none;
  bool disable_userns = false;  // bubblewrap can forbid further user namespaces
  bool proc = true;             // a /proc of its own can be mounted
  bool filter = false;
  bool other_user = false;  // the grader is root, and a sandbox takes on a user of its own
  int cgroup_version = 0;   // 0 for none
  std::string enter;        // the program sandbox_enter
  std::string bwrap;
  std::vector<std::string> missing;  // what would raise the level, one sentence each

  // For people: "namespaces", "system-call filter", …
  std::vector<std::string> parts() const;
};

// Tries everything, at most up to `most`. `enter` is the path of sandbox_enter.
Machine probe(const std::string& enter, Isolation most);
// The same for the environment's upper bound, once per process.
const Machine& this_machine(const std::string& enter);

// `compile`: its user is the owner of the one folder that it may write to.
// `device`: a simulated device, which runs a student's kernels but none of his host code.
enum class Purpose : unsigned char { run, run_on_gpu, compile, device };

struct Bounds {
  std::uint64_t memory_bytes = std::uint64_t{6} << 30;
  std::uint64_t address_bytes =
      0;  // of one process; 0 for no bound: the simulator reserves far more than it uses
  std::uint64_t threads = 1024;
  std::uint64_t file_bytes = std::uint64_t{64} << 20;
  std::uint64_t cpu_seconds = 3600;  // of one process; the time of a case is the verifier's to watch
};

// A user id that no other sandbox of this machine has.
unsigned fresh_uid();
// Whether sandboxes of this process take on this user id; another grader on the machine has others.
bool is_uid_of_this_process(unsigned uid);

// One sandbox: programs started with its launcher share a control group and a user id.
class Sandbox {
 public:
  Sandbox(const Machine& machine, Purpose purpose, View view, const Bounds& bounds = {});

  // argv to put before the program's own. Empty at level none.
  const std::vector<std::string>& launcher() const { return launcher_; }

 private:
  Leavings leavings_;             // removed last,
  std::optional<Cgroup> cgroup_;  // when this has ended who may write
  std::vector<std::string> launcher_;
};

}  // namespace course::grader::sandbox
