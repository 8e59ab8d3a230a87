// SPDX-License-Identifier: MIT
// What the simulator counts of kernels beside what a profiler counted on a GPU: is the same loaded, and does
// the model name what was busy there?
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

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
  std::map<std::string, double> busy_percent;  // of the kernel's time, by the model's names
  // The busiest, and how busy; "" and 0 without any.
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
// common/sim/calibration/data/profiler_*.json; says where it is at fault.
Result<ProfilerRun> read_profiler_run(const std::string& text);

// Adds the launches of a report (common/cudart/sim_control.h), the first of each kernel and grid. `lab` names
// their lab.
void collect_kernels(std::map<KernelKey, CountedKernel>& kernels, const std::string& lab,
                     const std::string& report);

// The table of handouts/model.md: how many agree, then a row for each kernel that both have.
std::string kernels_markdown(const ProfilerRun& seen, const std::map<KernelKey, CountedKernel>& counted);

}  // namespace course::grader
