// SPDX-License-Identifier: MIT
// Finds misused barriers and warp-wide operations.
//   barrier-divergence          threads of a block meet in one __syncthreads() at different places of the code
//   exit-before-barrier         threads left the kernel, and the rest of the block waits at a __syncthreads()
//   barrier-never-complete      threads wait at a barrier that too few threads reach (the launch ends)
//   invalid-barrier, invalid-barrier-count, barrier-count-mismatch
//   lane-not-in-mask            a lane calls a .sync operation with a mask that does not name it
//   mask-mismatch               lanes of one .sync operation name each other in different masks
//   mask-names-absent-lane      the mask names lanes that never come: an error where that hangs the warp, a hint where they
//                               have left the kernel (PTX waits for lanes that have not exited only)
//   shuffle-from-inactive-lane  a value shuffled out of a lane that takes no part is used: stored, or part of an address.
//                               That partial warps shuffle rubbish into lanes nobody looks at is common and harmless, so
//                               the undefined value is followed through registers until it matters.
// Barriers with a thread count (named barriers) may be met at different places: producers and consumers do.
// Source: NVIDIA, "PTX ISA" 9.0, sections 9.7.13 (barriers, .sync operations); CUDA C++ Programming Guide, __syncthreads().
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/checkers/kernel_checker.hpp"
#include "sim/finding.hpp"
#include "sim/machine/warp.hpp"

namespace course::sim {

class Synccheck final : public KernelChecker {
 public:
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

 private:
  struct Arrival {
    const MicroOp* op;
    std::uint32_t warp, lanes, count;  // count 0: all threads of the block
    std::uint32_t threads;             // these lanes, and those of other warps that came after for the same
  };
  struct Undefined {  // a register slot that holds undefined values in some lanes
    std::uint32_t slot, lanes;
    const MicroOp* origin;
    std::uint32_t origin_lane;
  };
  struct BlockState {
    std::vector<Arrival> arrivals[kBarriers];
    bool misused = false;  // a barrier fault has been told; what follows from it is not
    bool exited = false;
    std::uint32_t exit_thread = 0;                  // of the first to exit
    std::uint32_t exit_block = 0, exit_from = 0;    // basic blocks
    std::vector<std::vector<Undefined>> undefined;  // by warp
  };

  BlockState& state(const Block& block) { return *blocks_[block.storage]; }
  const BlockState& state(const Block& block) const { return *blocks_[block.storage]; }
  ThreadId thread(const Block& block, std::uint32_t warp, std::uint32_t lanes) const;
  void check_masks(Warp& w, const MicroOp& op, std::uint32_t active);
  void shuffle(Warp& w, const MicroOp& op);
  void follow(Warp& w, const MicroOp& op);
  void used(Warp& w, const MicroOp& op, const Undefined& value);
  const Undefined* find(const Warp& w, std::uint32_t slot) const;
  void assign(const Warp& w, std::uint32_t slot, std::uint32_t lanes, std::uint32_t undefined,
              const Undefined& like);
  std::vector<SourcePlace> exit_place(const BasicBlock& b, std::uint32_t from) const;
  // The finding to fill in, or nullptr when it has been told for these ops already.
  Finding* tell(const char* kind, const MicroOp& op, const MicroOp* other = nullptr);

  std::vector<Finding>& findings_;
  const Program* program_ = nullptr;
  const LaunchRequest* launch_ = nullptr;
  std::vector<std::unique_ptr<BlockState>> blocks_;  // by storage
  std::map<std::pair<std::string, std::pair<std::uint32_t, std::uint32_t>>, Finding> told_;
};

}  // namespace course::sim
