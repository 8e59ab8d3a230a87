// SPDX-License-Identifier: MIT
// The environment variables that configure the simulator. parse_environment reads them through a function,
// so that tests need not change the process's environment.
//   SIM_DEVICE=h200        the simulated chip (sim/chips/presets.hpp)
//   SIM_DEVICES=2          the number of devices
//   SIM_THREADS=4          host threads that execute blocks
//   SIM_SCHEDULE_SEED=7    another order of blocks and warps
//   SIM_MODE=counters,all  what is observed: words for the bits of SimMode (sim_control.h)
//   SIM_REPORT=FILE        writes the JSON report to FILE at exit
//   SIM_CHECK=1            all checks; findings on stderr at exit; errors change exit code 0 to 86
//   SIM_CHECK_FD=9         with SIM_CHECK: see note_activity (host_checks.hpp)
//   SIM_WATCHDOG=20        CPU seconds, summed over all threads, after which a launch is stopped; with
//                          checkers kSlowdownByCheckers times as many, until one has found an error
//   SIM_VERBOSE=1          prints that a device is simulated, and findings whole
//   SIM_QUIET=1            prints nothing, not even findings
// SIM_LINK is read by ../nccl.
// A value that makes no sense is reported and ignored, so that a typo does not stop a program.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/device.hpp"

namespace course::cudart {

struct Environment {
  sim::DeviceOptions device;
  std::uint32_t mode = sim::kCounters;  // required for modelled times
  int n_devices = 1;
  std::string report_file;  // "" = none
  bool check = false;
  bool verbose = false;
  bool quiet = false;
  std::vector<std::string> complaints;  // one message per ignored value
};

// `get` returns a variable's value or nullptr.
Environment parse_environment(const std::function<const char*(const char*)>& get);

}  // namespace course::cudart
