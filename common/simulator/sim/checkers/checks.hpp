// SPDX-License-Identifier: MIT
// The checkers that a mode asks for, as one observer of a launch.
// Reading order: checker.hpp (their names), finding.hpp (their output), kernel_checker.hpp (their interface),
// checks.cpp (how they are called), initcheck/, synccheck.hpp, racecheck/racecheck.hpp (what they look for),
// checker_set.hpp (how they are created), parallel.hpp with undo.hpp (checked launches on several host
// threads).
// Bounds, alignment and freed memory are always checked by the machine itself (ops/memory.hpp).
// boundcheck.hpp adds the bounds between shared arrays.
#pragma once

#include <algorithm>
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
  void after(Warp& w, const MicroOp& op) override;
  WriteHistory* history() override { return &history_; }

 protected:
  void check_with(std::vector<KernelChecker*> checkers);

 private:
  // Whether some checker tracks a value of this warp.
  bool follow(const Warp& w) const {
    return std::ranges::any_of(checkers_, [&](const auto* c) { return c->follows(w); });
  }

  std::vector<KernelChecker*> checkers_;
  WriteHistory history_;
  std::uint32_t kinds_ = 0;  // kinds of ops that some checker observes
};

}  // namespace course::sim
