// SPDX-License-Identifier: MIT
// Finds accesses that leave one shared array and land in another. They stay within the block's shared memory,
// so the machine does not stop them. Which array an access means is derived from the code (shared_arrays.hpp:
// shared_arrays); an access that may mean several arrays is not checked.
// Also finds stores and atomics to a task's inputs (Device::name_buffer), which it may only read, and to
// constants and parameters; reads of other memory by instructions for constants; and divisions of integers by
// zero, which do not stop a GPU.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "sim/checkers/kernel_checker.hpp"
#include "sim/finding.hpp"
#include "sim/machine/gap.hpp"
#include "sim/machine/op_table.hpp"
#include "sim/machine/warp.hpp"
#include "sim/memory/memory.hpp"

namespace course::sim {

class Boundcheck final : public KernelChecker {
 public:
  Boundcheck(const Arena& arena, std::vector<Finding>& findings)
      : KernelChecker(bits_of(OpKind::divide)), arena_(arena), findings_(findings) {}

  static Gap gap(const OpRow& row);

  void launch_begins(const Program& program, const LaunchRequest& launch) override;
  void launch_ends() override;
  void code_unloaded() override {
    known_.clear();
    arrays_ = nullptr;
  }
  void before(Warp& w, const MicroOp& division) override;
  void access(Warp& w, const MicroOp& op, const LaneAccess& a) override {
    if (const Program::SharedVariable* array = (*arrays_)[op.index]; array != nullptr) look(w, op, a, *array);
    if (op.kind != OpKind::load && (a.mixed || a.place == Place::global)) look_at_inputs(w, op, a);
    if (op.space == MemorySpace::constant) look_at_constants(w, op, a);
  }
  void copies_issued(Warp& w, const CopyBatch& batch) override;
  std::vector<const Finding*> found() const override { return findings_of(reported_); }
  std::size_t n_found() const override { return reported_.size(); }

 private:
  using Arrays = std::vector<const Program::SharedVariable*>;  // by op

  void look(Warp& w, const MicroOp& op, const LaneAccess& a, const Program::SharedVariable& array);
  void look_at_inputs(Warp& w, const MicroOp& op, const LaneAccess& a);
  void look_at_constants(Warp& w, const MicroOp& op, const LaneAccess& a);
  Finding* report(Warp& w, const MicroOp& op, int lane);

  const Arena& arena_;
  std::vector<Finding>& findings_;
  const Program* program_ = nullptr;
  const LaunchRequest* launch_ = nullptr;
  std::unordered_map<const Program*, Arrays> known_;  // a program must outlive its entry: code_unloaded()
  const Arrays* arrays_ = nullptr;                    // of the current launch
  std::vector<Allocation> inputs_;                    // and constants: what a kernel may only read
  std::map<std::uint32_t, Finding> reported_;         // by op
};

}  // namespace course::sim
