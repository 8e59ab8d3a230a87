// SPDX-License-Identifier: MIT
// What the workers of a launch count: prepared before the launch, summed up after it. ops/memory.hpp and the
// run loop do the counting.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/grid/grid.hpp"
#include "sim/grid/signal_times.hpp"
#include "sim/machine/gap.hpp"
#include "sim/machine/op_table.hpp"

namespace course::sim {

// What the counters miss of a row, or of an op of that row.
Gap gap_of_counters(const OpRow& row, const MicroOp* op = nullptr);

// Gives a worker the constants of the chip and the launch that the timing model needs. `signals`: where it
// records the communication between blocks; nullptr if blocks cannot communicate.
void prepare_model(Worker& worker, const GridOptions& options, SignalTimes* signals);

// Adds to block.own what the worker has counted in the block's turn that has just ended. Waiting is no work.
void add_turn(Block& block, Worker& worker);

// How long the units are busy if one multiprocessor does all that was counted.
UnitClocks unit_clocks(const Counters& c, const Timing& t);

// Adds up the workers' counts, per basic block and per op, to the launch's counters.
void sum_up(const Program& program, const std::vector<std::unique_ptr<Worker>>& workers, GridOutcome& o);

// The time, in clocks, of a chained look-back over `blocks` blocks, `resident` of them at a time. Each block
// reads the states of its predecessors, `width` of them per look, until one knows its prefix. After k looks,
// k² / 2 · width of R resident blocks know theirs, so a round of R blocks takes √(2 R ÷ width) looks. A look
// takes as long as a word needs from one block to another, plus a fence if values and flags are in different
// words (`fences`).
std::uint64_t look_back_clocks(const SignalTimes& signals, std::uint64_t resident, std::uint64_t blocks,
                               bool fences, const Timing& t);

}  // namespace course::sim
