// SPDX-License-Identifier: MIT
// Passes over a checked launch that only find out whether there is anything to report. They take less care
// (Racecheck::Care) or several host threads. If a pass finds nothing, the launch is done. Otherwise memory is
// restored, and the launch is repeated with more care, in the end on one host thread, which produces the
// findings. So these never depend on the passes. Later launches of the program begin with that care.
// On several host threads, each has its own checkers for the blocks that it runs. Conflicts between threads
// of one block are found by the checkers of its host thread. Conflicts in global memory between blocks of
// different host threads are looked for when the launch has ended. Only for kernels whose blocks can neither
// wait for each other nor see each other's results: see suits().
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "sim/checkers/checker_set.hpp"
#include "sim/checkers/initcheck/initcheck.hpp"
#include "sim/checkers/undo.hpp"
#include "sim/finding.hpp"
#include "sim/machine/warp.hpp"
#include "sim/memory/memory.hpp"
#include "sim/types.hpp"

namespace course::sim {

class ParallelChecks {
 public:
  explicit ParallelChecks(const Arena& arena);
  ~ParallelChecks();
  ParallelChecks(const ParallelChecks&) = delete;
  ParallelChecks& operator=(const ParallelChecks&) = delete;

  static bool suits(const Program& program, const LaunchRequest& launch);
  // Creates observers for `n` host threads, or fewer if memory or the program does not allow them; none if
  // the launch needs all care or cannot be repeated. They belong to this object. `main`: the checkers that
  // follow memory from launch to launch. `init`: the one of them whose marks must be restored before a
  // repetition, or nullptr if the mode does not include it.
  std::vector<Observer*> begin(std::uint32_t mode, std::size_t n, const Program& program,
                               const LaunchRequest& launch, const CheckerSet& main, Initcheck* init);
  // After the launch. put_back() restores memory as it was at begin().
  bool nothing_found() const;
  void put_back();
  // Called between launches, see KernelChecker::released().
  void released(std::uint64_t address, std::uint64_t n_bytes);
  // Adds what the launch accessed. Only in a mode with kHostcheck.
  void add_footprints(Footprint& all) const;

 private:
  class Part;
  static bool can_repeat(const Program& program);
  bool nobody_met() const;

  const Arena& arena_;
  Initcheck* init_ = nullptr;  // the checker whose marks `undo_` saves
  std::unique_ptr<Undo> undo_;
  std::vector<std::unique_ptr<Part>> parts_;
  std::size_t n_used_ = 0;
  std::unordered_map<const Program*, int> attempts_;  // that have failed: Racecheck::Care, then none
  int* attempt_ = nullptr;                            // of the current program
};

}  // namespace course::sim
