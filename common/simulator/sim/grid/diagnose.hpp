// SPDX-License-Identifier: MIT
// Turns a fault of the machine into a finding: which thread did what to which object, at which line.
#pragma once

#include "sim/finding.hpp"
#include "sim/grid/grid.hpp"

namespace course::sim {

Finding diagnose(const Program& program, const LaunchRequest& launch, const GridOutcome& outcome,
                 const Arena& arena);

}  // namespace course::sim
