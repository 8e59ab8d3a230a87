// SPDX-License-Identifier: MIT
// Checked launches on several host threads: each has checkers of its own for the blocks that it runs. What two threads of one block do
// to each other, one of them sees; whether blocks of different host threads met in global memory is asked when the launch has ended.
// If nothing was found and nobody met, then a single thread would have found nothing either. Otherwise memory is put back as it was,
// and the launch done again on one thread, which finds words for it: so what is told never depends on the number of threads.
// Only for kernels in which blocks can't wait for each other or see each other's results: see suits().
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/checkers/checker_set.hpp"
#include "sim/checkers/initcheck.hpp"
#include "sim/checkers/undo.hpp"
#include "sim/finding.hpp"
#include "sim/machine/warp.hpp"
#include "sim/memory/memory.hpp"
#include "sim/types.hpp"

namespace course::sim {

class CheckedTogether {
 public:
  explicit CheckedTogether(const Arena& arena);
  ~CheckedTogether();
  CheckedTogether(const CheckedTogether&) = delete;
  CheckedTogether& operator=(const CheckedTogether&) = delete;

  static bool suits(const Program& program, const LaunchRequest& launch);
  // An observer for each of `n` host threads; fewer where memory does not suffice. `main`: the checkers that follow memory from
  // launch to launch; `init`: the one of them whose marks have to be put back, or nullptr when the mode is without it.
  std::vector<Observer*> begin(std::uint32_t mode, std::size_t n, const CheckerSet& main, Initcheck* init);
  // After the launch.
  bool nothing_found() const;
  void put_back();
  // What the launch accessed, in a mode with kHostcheck.
  void add_footprints(Footprint& all) const;

 private:
  class Part;
  bool nobody_met() const;

  const Arena& arena_;
  Initcheck* init_ = nullptr;  // that `undo_` keeps the marks of
  std::unique_ptr<Undo> undo_;
  std::vector<std::unique_ptr<Part>> parts_;
  std::size_t n_used_ = 0;
};

}  // namespace course::sim
