// SPDX-License-Identifier: MIT
// The clocks of each basic block for a warp that runs alone on a multiprocessor, from which the timing model
// computes the longest chain.
#pragma once

#include "ptx/ir.hpp"
#include "sim/machine/gap.hpp"
#include "sim/machine/op_table.hpp"
#include "sim/machine/program.hpp"
#include "sim/timing.hpp"

namespace course::sim {

InstructionKind kind_of(const ptx::Instruction& instruction);

// What the timing model misses of a row.
Gap gap_of_timing(const OpRow& row);

// Fills in clocks and waits of MicroOp and BasicBlock, and BasicBlock::mix.
void set_pace(Program& program, const Timing& timing);

}  // namespace course::sim
