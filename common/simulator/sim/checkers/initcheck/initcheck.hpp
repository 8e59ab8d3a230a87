// SPDX-License-Identifier: MIT
// Finds reads of uninitialised memory: global memory since its allocation, shared memory since the block
// began, local memory since its frame was opened. Each byte of memory has one bit (of local memory: one for
// each lane).
// A load is reported only when the value that it read is used. A value that is loaded and then discarded, by
// a selp for example, does no harm, so the checker follows it through copies, conversions and selections
// until another instruction uses it.
// If only some bytes of a word have never been written, these bits are followed (missing_bits.hpp), because
// structures are copied together with their padding. What drops the bits does no harm; a copy has not been
// initialised there, either.
// A register that is read before it is written is followed bit by bit, through arithmetic and shuffles, too,
// until a branch, an address, a store or another operation with an effect uses it: what compilers calculate
// before they know that it is needed does no harm.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "sim/checkers/initcheck/missing_bits.hpp"
#include "sim/checkers/kernel_checker.hpp"
#include "sim/checkers/reserve.hpp"
#include "sim/finding.hpp"
#include "sim/machine/gap.hpp"
#include "sim/machine/op_table.hpp"
#include "sim/machine/value_tracker.hpp"
#include "sim/machine/warp.hpp"
#include "sim/memory/memory.hpp"

namespace course::sim {

class Initcheck final : public KernelChecker {
 public:
  static Gap gap(const OpRow& row);
  static Gap gap(MemoryKind kind);

  // Existing allocations count as written, because it was not observed how they were filled.
  Initcheck(const Arena& arena, std::vector<Finding>& findings);
  // For one of several host threads that run blocks of the same launch. Shares `main`'s bits of global
  // memory.
  Initcheck(const Initcheck& main, std::vector<Finding>& findings);
  Initcheck(const Initcheck&) = delete;
  Initcheck& operator=(const Initcheck&) = delete;
  // The bits of global memory, for Undo.
  std::uint64_t* marks() { return global_->bits.data(); }

  // Called for what the host does. never_written() returns nothing for ranges outside the arena.
  void allocated(std::uint64_t address, std::uint64_t n_bytes, MemoryKind kind);
  std::vector<ByteRange> never_written(std::uint64_t address, std::uint64_t n_bytes) const;
  void host_wrote(std::uint64_t address, std::uint64_t n_bytes);
  void released(std::uint64_t address, std::uint64_t n_bytes) override;
  // Kernels have run unobserved, so everything that is allocated counts as written from now on.
  void trust_all();

  void launch_begins(const Program& program, const LaunchRequest& launch) override;
  // An op that takes part in a race may read before the other thread's write, so its findings are dropped.
  void races_found(const std::set<std::uint32_t>& racing) override;
  void launch_ends() override;
  void block_begins(Block& block) override;
  void access(Warp& w, const MicroOp& op, const LaneAccess& a) override;
  bool follows(const Warp& w) const override {
    return !blocks_[w.block->storage]->followed[w.number].values.empty();
  }
  void before(Warp& w, const MicroOp& op) override;
  void guarded_off(Warp& w, const MicroOp& op, std::uint32_t lanes) override {
    decides(w, ValueSlot::guard(op), lanes);
  }
  void branches(Warp& w, const BasicBlock& b, std::uint32_t mask) override;
  void copies_issued(Warp& w, const CopyBatch& batch) override;
  void copies_finished(Block& block, const CopyBatch& batch, std::uint32_t lanes,
                       std::uint64_t barrier) override;
  void frame_opened(Warp& w, int lane, std::uint32_t offset, std::uint32_t bytes) override;
  void local_moved(Warp& w, int lane, std::uint32_t offset, std::uint32_t bytes) override;
  std::vector<const Finding*> found() const override { return findings_of(reported_); }
  std::size_t n_found() const override { return reported_.size(); }

 private:
  using Bits = std::vector<std::uint64_t>;
  static constexpr std::uint32_t kFirstLook = 4;  // accesses before the first check of `shared_whole`
  // Where a value comes from: what `op` read at `address`. Of a register that was read before it was written,
  // the op that read it, or nullptr if none has yet, and its slot.
  struct Source {
    const MicroOp* op = nullptr;
    std::uint64_t address = 0;  // of the vector
    std::uint32_t element = 0;  // of the vector
    Place place = Place::registers;
    bool whole = false;   // no byte of the element was initialised
    bool padded = false;  // but some of the vector were
    auto operator<=>(const Source&) const = default;
  };
  // The bits of a 32-bit word of a register that were not initialised.
  struct Missing {
    std::uint32_t bits = 0;
    std::uint32_t source = 0;  // into Followed::sources
    bool changed = false;      // they have gone through arithmetic, so that they are no copy
    bool operator==(const Missing&) const = default;
  };
  struct Found {  // of a whole register
    std::uint64_t bits = 0;
    std::uint32_t source = 0;
    bool changed = false;
  };
  struct Followed {
    Values<Missing> values;
    std::vector<Source> sources{1};  // the first is that of no value
    std::map<Source, std::uint32_t> numbers;
    bool from_memory = false;  // some values are not of registers alone
    void forget_sources() {
      sources.resize(1);
      numbers.clear();
      from_memory = false;
    }
  };
  using Uses = std::map<std::uint32_t, std::uint32_t>;  // lanes by source
  enum class Fate : std::uint8_t;
  struct BlockState {
    std::vector<Followed> followed;  // by warp
    Bits shared;
    bool shared_whole = false;  // all of it has been written; checked after 4, 16, 64 … reads
    std::uint32_t looks = 0, next_look = kFirstLook;
    // By warp, for each byte of local memory: the lanes that have written it.
    std::vector<std::vector<std::uint32_t>> local;
    bool has_local = false;  // some of it has been written
  };

  // The bits of one kind of memory, and the range of addresses that they stand for.
  struct Shadow {
    std::uint64_t* bits;
    std::uint64_t base, size;  // bytes
  };
  Shadow shadow_of(Warp& w, Place place);
  static bool find_whole(BlockState& block, const Shadow& shadow);
  void written(std::uint64_t first, std::uint64_t n_bytes);
  void each_lane(Warp& w, const MicroOp& op, const LaneAccess& a, const Shadow& shadow);
  void lane(Warp& w, const MicroOp& op, const LaneAccess& a, int lane, Place place, std::uint32_t absent = 0);
  void begin_to_follow(Warp& w, const MicroOp& load, int lane, Place place, std::uint64_t address,
                       const std::uint64_t* bits, std::uint64_t first);
  void stores_padding(Warp& w, const MicroOp& op, const LaneAccess& a);
  Followed& followed(const Warp& w) { return blocks_[w.block->storage]->followed[w.number]; }
  const FlowRule& rule_of(const MicroOp& op) const { return program_->rows[op.index]->flow; }
  bool exchanges(const MicroOp& op) const {
    return rule_of(op).how == FlowRule::swaps && rule_of(op).data == 1;
  }
  bool only_writes(const MicroOp& op) const;
  static std::uint32_t number_of(Followed& f, const Source& source);
  static void follow(Followed& f, ValueSlot at, int lane, std::uint64_t missing, std::uint32_t source,
                     bool changed);
  static Found find(const Followed& f, ValueSlot at, int lane);
  Fate fate_of(const MicroOp& op, int k, const Found& v, const Source& source, std::uint64_t left,
               bool swapped) const;
  void report_uses(Warp& w, const MicroOp& op, const Uses& uses);
  void decides(Warp& w, ValueSlot at, std::uint32_t lanes);
  void function_begins(Warp& w, std::uint32_t function, std::uint32_t lanes);
  void report(Warp& w, const MicroOp& op, int lane, Place place, std::uint64_t address, bool in_part = false);
  std::uint32_t* local_lanes(const Warp& w, std::uint64_t end);
  void each_local_lane(Warp& w, const MicroOp& op, const LaneAccess& a);
  void lane_at(Warp& w, const MicroOp& op, const LaneAccess& a, int lane, Place place, const Shadow& shadow,
               std::uint64_t first, std::uint32_t absent);

  const Arena& arena_;
  std::vector<Finding>& findings_;
  const Program* program_ = nullptr;
  const LaunchRequest* launch_ = nullptr;
  std::vector<std::vector<ValueSlot>> unset_;  // by function: registers that may be read before written
  struct Global {
    Reserved<std::uint64_t> bits;
    // By page: 1 if the host has written all of it, so that its bits need not be read.
    Reserved<std::uint8_t> whole_pages;
  };
  std::shared_ptr<Global> global_;
  bool will_repeat_ = false;                         // a launch with findings in global memory
  std::vector<std::unique_ptr<BlockState>> blocks_;  // by storage
  // The bytes, by lane, that the current store or swap copies from memory that was never written, and the
  // lanes that have any.
  std::array<std::uint32_t, kLanes> padding_{};
  std::uint32_t padded_ = 0;
  static constexpr std::uint32_t kAnyOp = ~0u;
  std::map<std::uint32_t, Finding> reported_;  // by op, or kAnyOp
};

}  // namespace course::sim
