// SPDX-License-Identifier: MIT
// A fault of the machine: where it happened, and the finding that says which thread did what to which object,
// at which line.
#pragma once

#include "sim/finding.hpp"
#include "sim/grid/grid.hpp"

namespace course::sim {

// Writes down where `worker` met the fault in a block, as the outcome of the launch.
void note_fault(GridOutcome& o, const DeviceFault& fault, const Block& block, const Worker& worker);

Finding diagnose(const Program& program, const LaunchRequest& launch, const GridOutcome& outcome,
                 const Arena& arena);

}  // namespace course::sim
