// SPDX-License-Identifier: MIT
// The checkers of kernels, at most one of each kind, in the order in which they are told of what happens.
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
  // Makes those that `mode` asks for and that are not there yet. With `main`, which has them all: those of one of several host threads
  // that run one launch. Their findings go to `findings`, which must outlive the set.
  void make(std::uint32_t mode, const Arena& arena, std::vector<Finding>& findings,
            const CheckerSet* main = nullptr);
  // Those that a launch in `mode` needs.
  std::vector<KernelChecker*> of(std::uint32_t mode) const;
  // nullptr: not made yet.
  KernelChecker* find(Checker checker) const;
  void code_unloaded();

 private:
  struct Made {
    Checker checker;
    std::unique_ptr<KernelChecker> it;
  };
  std::vector<Made> made_;
};

}  // namespace course::sim
