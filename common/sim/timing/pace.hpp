// SPDX-License-Identifier: MIT
// How long a warp that has a multiprocessor for itself takes for each basic block: what the timing model's
// longest chain is made of.
#pragma once

#include "ptx/ir.hpp"
#include "sim/machine/program.hpp"
#include "sim/timing.hpp"

namespace course::sim {

InstructionKind kind_of(const ptx::Instruction& instruction);

// Fills in BasicBlock::mix, clocks and waits.
void set_pace(Program& program, const Timing& timing);

}  // namespace course::sim
