// SPDX-License-Identifier: MIT
// Checked launches on several host threads. Each host thread has its own checkers for the blocks that it
// runs. Conflicts between threads of one block are found by the checkers of its host thread. Conflicts in
// global memory between blocks of different host threads are looked for when the launch has ended.
// If there are neither findings nor conflicts, a single host thread would have found nothing either.
// Otherwise memory is restored and the launch is repeated on one host thread, which produces the findings. So
// the findings never depend on the number of host threads.
// Only for kernels whose blocks can neither wait for each other nor see each other's results: see suits().
#pragma once

#include <cstdint>
#include <memory>
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
  // Creates observers for `n` host threads, or fewer if memory does not suffice. They belong to this object.
  // `main`: the checkers that follow memory from launch to launch. `init`: the one of them whose marks must
  // be restored before a repetition, or nullptr if the mode does not include it.
  std::vector<Observer*> begin(std::uint32_t mode, std::size_t n, const CheckerSet& main, Initcheck* init);
  // After the launch. put_back() restores memory as it was at begin().
  bool nothing_found() const;
  void put_back();
  // Called between launches, see KernelChecker::released().
  void released(std::uint64_t address, std::uint64_t n_bytes);
  // Adds what the launch accessed. Only in a mode with kHostcheck.
  void add_footprints(Footprint& all) const;

 private:
  class Part;
  bool nobody_met() const;

  const Arena& arena_;
  Initcheck* init_ = nullptr;  // the checker whose marks `undo_` saves
  std::unique_ptr<Undo> undo_;
  std::vector<std::unique_ptr<Part>> parts_;
  std::size_t n_used_ = 0;
};

}  // namespace course::sim
