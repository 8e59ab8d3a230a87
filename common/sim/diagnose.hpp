// SPDX-License-Identifier: MIT
// From a fault of the machine to a finding in words: which thread did what to which object, at which line.
#pragma once

#include "sim/finding.hpp"
#include "sim/grid.hpp"

namespace course::sim {

Finding diagnose(const Program& program, const LaunchRequest& launch, const GridOutcome& outcome,
                 const Arena& arena);

// "s_data[17]", "d_in, element 1000 of 1000 (one past the end)", "freed memory": the object at a generic address.
std::string describe_address(const Program& program, const Arena& arena, std::uint64_t address);

std::string describe_thread(const ThreadId& id);

}  // namespace course::sim
