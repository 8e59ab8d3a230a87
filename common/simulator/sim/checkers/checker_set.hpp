// SPDX-License-Identifier: MIT
// The checkers of kernels, at most one of each kind, in the order in which they observe a launch.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/checker.hpp"
#include "sim/checkers/kernel_checker.hpp"
#include "sim/finding.hpp"
#include "sim/memory/memory.hpp"

namespace course::sim {

class CheckerSet {
 public:
  // Creates the checkers that `mode` asks for and that do not exist yet. `main` is given for the set of one
  // of several host threads that run blocks of the same launch: it is the device's own set and has all of
  // these checkers. Findings are added to `findings`, which must outlive the set.
  void make(std::uint32_t mode, const Arena& arena, std::vector<Finding>& findings,
            const CheckerSet* main = nullptr);
  // The checkers that a launch in `mode` needs. They belong to the set.
  std::vector<KernelChecker*> of(std::uint32_t mode) const;
  // nullptr if it has not been created.
  KernelChecker* find(Checker checker) const;
  // Must be called before a Program is destroyed: the checkers discard what they derived from its code.
  void code_unloaded();
  // Passed on to all checkers.
  void released(std::uint64_t address, std::uint64_t n_bytes);

 private:
  struct Made {
    Checker checker;
    std::unique_ptr<KernelChecker> it;
  };
  std::vector<Made> made_;
};

}  // namespace course::sim
