// SPDX-License-Identifier: MIT
// Compares the simulator's counts of kernels with a profiler's on a GPU: do both count the same loads, and
// does the model report the unit that was busiest?
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "base/result.hpp"

namespace course::grader {

// A kernel of a lab, launched with a grid.
struct KernelKey {
  std::string lab, kernel;  // without namespaces and parameters
  std::array<std::uint64_t, 3> grid{};
  auto operator<=>(const KernelKey&) const = default;
};

struct SeenKernel {
  double us = 0;
  std::uint64_t loaded_sectors = 0;            // of global memory, before any cache
  std::map<std::string, double> busy_percent;  // of the kernel's time, by the model's name of the unit
  // The busiest unit and its percentage; "" and 0 if there is none.
  std::pair<std::string, double> busiest() const;
};

struct CountedKernel {
  double us = 0;  // modelled
  std::uint64_t loaded_sectors = 0;
  std::string bound_by;
};

struct ProfilerRun {
  std::string device, date;
  std::uint64_t items = 0;  // of every rung's case
  std::map<KernelKey, SeenKernel> kernels;
};
// Reads the text of common/simulator/sim/calibration/data/profiler_*.json. An Error says what is wrong with
// it.
Result<ProfilerRun> read_profiler_run(const std::string& text);

// Adds the launches of a report (common/simulator/cudart/sim_control.h) of the lab `lab`: the first one of
// each kernel and grid.
void collect_kernels(std::map<KernelKey, CountedKernel>& kernels, const std::string& lab,
                     const std::string& report);

// The table of `./lab model --kernels`: how many agree, then a row for each kernel that both have.
std::string kernels_markdown(const ProfilerRun& seen, const std::map<KernelKey, CountedKernel>& counted);

}  // namespace course::grader
