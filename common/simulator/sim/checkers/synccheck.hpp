// SPDX-License-Identifier: MIT
// Finds misused barriers and warp-wide operations.
//   barrier-divergence          threads of a block meet at a __syncthreads() from different lines
//   exit-before-barrier         threads have left the kernel while the rest of the block waits at a
//                               __syncthreads(); a hint where only whole warps have left
//   barrier-never-complete      threads wait at a barrier that too few threads reach (the launch ends)
//   invalid-barrier, invalid-barrier-count, barrier-count-mismatch
//   lane-not-in-mask            a lane calls a .sync operation with a mask that does not include it
//   mask-mismatch               lanes of one .sync operation include each other in different masks
//   mask-names-absent-lane      the mask includes lanes that never come: an error if the warp hangs, a hint
//                               if they have left the kernel (PTX waits only for lanes that have not exited)
//   shuffle-from-inactive-lane  the value that a shuffle got from an inactive lane is used: stored, or part
//                               of an address. Partial warps often shuffle undefined values into lanes that
//                               ignore them, which is harmless, so the value is followed through registers.
//   shuffle-offset              a hint: a shuffle up, down or xor over 32 lanes or more
// Barriers with a thread count (named barriers) may be reached from different lines: producers and consumers
// do so.
// Source: NVIDIA, "PTX ISA" 9.0, sections 9.7.13 (barriers, .sync operations); CUDA C++ Programming Guide,
// __syncthreads().
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/checkers/kernel_checker.hpp"
#include "sim/finding.hpp"
#include "sim/machine/gap.hpp"
#include "sim/machine/op_table.hpp"
#include "sim/machine/warp.hpp"

namespace course::sim {

class Synccheck final : public KernelChecker {
 public:
  static Gap gap(const OpRow& row);

  Synccheck(const Arena&, std::vector<Finding>& findings)
      : KernelChecker(bits_of(OpKind::shuffle, OpKind::vote, OpKind::reduce)), findings_(findings) {}

  void launch_begins(const Program& program, const LaunchRequest& launch) override;
  void launch_ends() override;
  void block_begins(Block& block) override;
  void before(Warp& w, const MicroOp& op) override;
  bool follows(const Warp& w) const override { return !state(*w.block).undefined[w.number].empty(); }
  void warp_synced(Warp& w, std::uint32_t mask, const MicroOp& op) override;
  void barrier_arrived(Warp& w, std::uint32_t mask, const MicroOp& op) override;
  void barrier_released(Block& block, std::uint32_t barrier) override;
  void threads_exit(Warp& w, const Group& group, const BasicBlock& b) override;
  void stuck(Block& block) override;
  std::vector<const Finding*> found() const override { return findings_of(reported_); }
  std::size_t n_found() const override { return reported_.size(); }

 private:
  struct Arrival {
    const MicroOp* op;
    std::uint32_t warp, lanes, count;  // count 0: all threads of the block
    std::uint32_t threads;  // these lanes, and those of other warps that arrived later with the same op
  };
  // A register slot that contains undefined values in some lanes.
  struct Undefined {
    std::uint32_t slot, lanes;
    const MicroOp* origin;
    std::uint32_t origin_lane;
  };
  struct BlockState {
    std::vector<Arrival> arrivals[kBarriers];
    bool misused = false;  // a misused barrier has been reported; what follows from it is not
    bool exited = false;
    std::uint32_t exit_thread = 0;                  // the first thread that exited
    std::uint32_t exit_block = 0, exit_from = 0;    // basic blocks
    std::vector<std::vector<Undefined>> undefined;  // by warp
  };

  BlockState& state(const Block& block) { return *blocks_[block.storage]; }
  const BlockState& state(const Block& block) const { return *blocks_[block.storage]; }
  ThreadId thread(const Block& block, std::uint32_t warp, std::uint32_t lanes) const;
  void check_masks(Warp& w, const MicroOp& op, std::uint32_t active);
  void shuffle(Warp& w, const MicroOp& op);
  void check_offset(Warp& w, const MicroOp& op);
  void follow(Warp& w, const MicroOp& op);
  void used(Warp& w, const MicroOp& op, const Undefined& value);
  const Undefined* find(const Warp& w, std::uint32_t slot) const;
  void assign(const Warp& w, std::uint32_t slot, std::uint32_t lanes, std::uint32_t undefined,
              const Undefined& like);
  std::vector<SourcePlace> exit_place(const BasicBlock& b, std::uint32_t from) const;
  std::vector<SourcePlace> turning_place(const MicroOp& barrier, const BlockState& exited) const;
  // The finding to fill in, or nullptr if it has been reported for these ops already; then counts it once
  // more.
  Finding* finding_for(const char* kind, const MicroOp& op, const MicroOp* other = nullptr);

  std::vector<Finding>& findings_;
  const Program* program_ = nullptr;
  const LaunchRequest* launch_ = nullptr;
  std::vector<std::unique_ptr<BlockState>> blocks_;  // by storage
  std::map<std::pair<std::string, std::pair<std::uint32_t, std::uint32_t>>, Finding> reported_;
};

}  // namespace course::sim
