// SPDX-License-Identifier: MIT
// What the user's environment variables ask of the simulator. parse_environment is pure, so it is tested without one.
//   SIM_DEVICE=h200          which chip (presets.hpp)           SIM_DEVICES=2   how many of them
//   SIM_THREADS=4            host threads that execute blocks   SIM_SCHEDULE_SEED=7   another order of blocks and warps
//   SIM_MODE=counters,all    what to look at (sim_control.h)    SIM_REPORT=FILE writes the JSON report at exit
//   SIM_CHECK=1              all checks, findings on stderr at exit, and exit code 86 where there are any
//   SIM_WATCHDOG=20          seconds of the processor, of all threads, after which a launch is ended
//   SIM_VERBOSE=1            says that this is a simulator      SIM_QUIET=1     prints nothing
// A value that makes no sense gets a message and the default: a typo must not stop somebody's program.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/device.hpp"

namespace course::cudart {

struct Environment {
  sim::DeviceOptions device;
  std::uint32_t mode = sim::kCounters;  // what modelled times need
  int n_devices = 1;
  std::string report_file;  // "" = none
  bool check = false;
  bool verbose = false;
  bool quiet = false;
  std::vector<std::string> complaints;  // about values that were not understood
};

// `get` returns a variable's value or nullptr.
Environment parse_environment(const std::function<const char*(const char*)>& get);

}  // namespace course::cudart
