// SPDX-License-Identifier: MIT
// Records which global memory a kernel accesses. Runs beside the checkers and gets the same calls.
#pragma once

#include "sim/checkers/kernel_checker.hpp"
#include "sim/footprint.hpp"

namespace course::sim {

class FootprintRecorder final : public KernelChecker {
 public:
  // Adds to `footprint`, which must outlive this.
  explicit FootprintRecorder(Footprint& footprint) : footprint_(footprint) {}

  void access(Warp& w, const MicroOp& op, const LaneAccess& a) override;
  void copies_issued(Warp& w, const CopyBatch& batch) override;

 private:
  Footprint& footprint_;
};

}  // namespace course::sim
