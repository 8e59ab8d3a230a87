// SPDX-License-Identifier: MIT
// The set of observers that a mode asks for, behind the single Observer that the run loop calls.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/device.hpp"
#include "sim/finding.hpp"
#include "sim/warp.hpp"

namespace course::sim {

class Dataflow;

class Observers {
 public:
  Observers();
  ~Observers();

  // What host code did to memory.
  void allocated(std::uint64_t address, std::uint64_t n_bytes);
  void host_wrote(std::uint64_t address, std::uint64_t n_bytes);

  // The observer for a launch in `mode`, or nullptr when the mode needs none. Findings go to `findings`.
  Observer* begin(std::uint32_t mode, const Program& program, Arena& arena, std::vector<Finding>& findings);
  // After the launch: adds what the observers counted.
  void end(Counters& counters);
  // Forgets what was followed so far: data ranges start afresh.
  void reset();

 private:
  std::unique_ptr<Dataflow> dataflow_;
  bool active_ = false;
};

}  // namespace course::sim
