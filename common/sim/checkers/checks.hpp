// SPDX-License-Identifier: MIT
// The checkers that a mode asks for, as one observer of a launch.
// Reading order: checker.hpp for their names; finding.hpp for what comes out; checks.cpp for what they are
// told; racecheck/racecheck.hpp, initcheck.hpp, synccheck.hpp; checker_set.hpp for how they are made;
// together.hpp (with undo.hpp) for launches whose blocks several host threads run.
// Bounds, alignment and freed memory are the machine's business, which always looks at them (ops/memory.hpp); boundcheck.hpp
// adds what needs more than the memory's own bounds.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/checkers/kernel_checker.hpp"
#include "sim/machine/composite_observer.hpp"
#include "sim/machine/write_history.hpp"

namespace course::sim {

class Checks : public CompositeObserver {
 public:
  explicit Checks(std::vector<KernelChecker*> checkers);

  void launch_begins(const Program& program, const LaunchRequest& launch) override;
  void launch_ends() override;
  void block_begins(Block& block) override;
  void before(Warp& w, const MicroOp& op) override;
  WriteHistory* history() override { return &history_; }

 protected:
  void check_with(std::vector<KernelChecker*> checkers);

 private:
  std::vector<KernelChecker*> checkers_;
  WriteHistory history_;
  std::uint32_t kinds_ = 0;  // of ops that some checker looks at
};

}  // namespace course::sim
