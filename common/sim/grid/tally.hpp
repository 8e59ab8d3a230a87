// SPDX-License-Identifier: MIT
// What the workers of a launch count: prepared before it, summed up after it. The counting itself is ops/memory.hpp's and the
// run loop's.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/grid/grid.hpp"
#include "sim/grid/signals.hpp"

namespace course::sim {

// Tells a worker what the model's clocks need to know of the chip and of the launch. `signals`: where it notes what blocks
// look for in each other's memory; nullptr: nowhere.
void prepare_model(Worker& worker, const GridOptions& options, Signals* signals);

// Folds the workers' counts, by basic block and by op, into the launch's counters.
void sum_up(const Program& program, const std::vector<std::unique_ptr<Worker>>& workers, GridOutcome& o);

// How long, in clocks, `blocks` blocks of which `resident` run at a time are at it when each looks back from one predecessor to
// the next until one knows its prefix. Of R blocks the k-th has to go back so far that k² / 2 · width of them are known after
// k looks; so a round of R takes √(2 R ÷ width) looks. A look takes as long as a word needs from block to block, and where
// values and flags lie apart (`fences`) the fence between them as well.
std::uint64_t look_back_clocks(const Signals& signals, std::uint64_t resident, std::uint64_t blocks,
                               bool fences, const Timing& t);

}  // namespace course::sim
