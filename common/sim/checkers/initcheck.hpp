// SPDX-License-Identifier: MIT
// Finds reads of memory that nobody has written: global memory since it was allocated, shared memory since the block began,
// local memory since its frame was opened. One bit for each byte.
// An access counts as uninitialised when none of its bytes has been written: structures are copied with their padding, and
// vector loads take in what lies behind the last element.
// A load is reported only when the value that it read is used. A value that is loaded and then discarded, by
// a selp for example, does no harm, so the checker follows it through copies, conversions and selections
// until another instruction uses it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "sim/checkers/kernel_checker.hpp"
#include "sim/checkers/reserve.hpp"
#include "sim/finding.hpp"
#include "sim/machine/warp.hpp"
#include "sim/memory/memory.hpp"

namespace course::sim {

class Initcheck final : public KernelChecker {
 public:
  // What lives in the arena already counts as written: nobody watched how it was filled.
  Initcheck(const Arena& arena, std::vector<Finding>& findings);
  // One of several for the blocks of one launch: what is known of global memory is `main`'s, and theirs together.
  Initcheck(const Initcheck& main, std::vector<Finding>& findings);
  Initcheck(const Initcheck&) = delete;
  Initcheck& operator=(const Initcheck&) = delete;
  // The bits of global memory.
  std::uint64_t* marks() { return global_->bits.data(); }

  void allocated(std::uint64_t address, std::uint64_t n_bytes, MemoryKind kind);
  bool any_written(std::uint64_t address, std::uint64_t n_bytes) const;
  void host_wrote(std::uint64_t address, std::uint64_t n_bytes);
  // Kernels have run unwatched: everything that is allocated counts as written.
  void trust_all();

  void launch_begins(const Program& program, const LaunchRequest& launch) override;
  // What racing ops read may come later, and is no finding of its own.
  void told_of_races(const std::set<std::uint32_t>& racing) override;
  void launch_ends() override;
  void block_begins(Block& block) override;
  void access(Warp& w, const MicroOp& op, const LaneAccess& a) override;
  bool follows(const Warp& w) const override {
    return !blocks_[w.block->storage]->followed[w.number].empty();
  }
  void before(Warp& w, const MicroOp& op) override;
  void copies_issued(Warp& w, const CopyBatch& batch) override;
  void copies_finished(Block& block, const CopyBatch& batch, std::uint32_t lanes,
                       std::uint64_t barrier) override;
  void frame_opened(Warp& w, int lane, std::uint32_t offset, std::uint32_t bytes) override;
  void local_moved(Warp& w, int lane, std::uint32_t offset, std::uint32_t bytes) override;

 private:
  using Bits = std::vector<std::uint64_t>;
  static constexpr std::uint32_t kFirstLook = 4;  // accesses
  struct Followed {  // a register slot that holds in some lanes what `load` read and nobody has written
    std::uint32_t slot, lanes;
    const MicroOp* load;
    Place place;
    std::array<std::uint64_t, kLanes> from;  // addresses
  };
  struct BlockState {
    std::vector<std::vector<Followed>> followed;  // by warp
    Bits shared;
    bool shared_whole = false;  // all of it has been written: found out now and then, ever more rarely
    std::uint32_t looks = 0, next_look = kFirstLook;
    std::vector<Bits> local;  // 32 a warp
    bool has_local = false;   // some of it has been written
  };

  // The bits of one place, and what they stand for.
  struct Shadow {
    std::uint64_t* bits;
    std::uint64_t base, size;  // bytes
  };
  Shadow shadow_of(Warp& w, Place place);
  static bool find_whole(BlockState& block, const Shadow& shadow);
  void written(std::uint64_t first, std::uint64_t n_bytes);
  void mark(const Shadow& shadow, std::uint64_t first, std::uint64_t n);
  void each_lane(Warp& w, const MicroOp& op, const LaneAccess& a, const Shadow& shadow);
  void lane(Warp& w, const MicroOp& op, const LaneAccess& a, int lane, Place place);
  void begin_to_follow(Warp& w, const MicroOp& load, int lane, Place place, std::uint64_t address);
  void used(Warp& w, const Followed& value, std::uint32_t lanes);
  void report(Warp& w, const MicroOp& op, int lane, Place place, std::uint64_t address);
  Bits& local_bits(const Warp& w, int lane, std::uint64_t end);

  const Arena& arena_;
  std::vector<Finding>& findings_;
  const Program* program_ = nullptr;
  const LaunchRequest* launch_ = nullptr;
  struct Global {
    Reserved<std::uint64_t> bits;
    // By page: the host has written all of it, so that its bits need no look.
    Reserved<std::uint8_t> whole_pages;
  };
  std::shared_ptr<Global> global_;
  bool together_ = false;  // other host threads set bits of global memory at the same time
  std::vector<std::unique_ptr<BlockState>> blocks_;  // by storage
  static constexpr std::uint32_t kAnyOp = ~0u;
  std::map<std::uint32_t, Finding> told_;  // by op, or of any of the kernel's
};

}  // namespace course::sim
