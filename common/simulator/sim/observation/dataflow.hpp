// SPDX-License-Identifier: MIT
// Measures work and step complexity. Follows the watched data through registers, predicates and memory, and
// counts the operations that combine two values derived from it. Each derived value has a depth: the length
// of the longest chain of such operations that led to it.
// What depends on data in any way is derived from it (region.hpp: also what a branch on data writes or
// skips):
//   moves, shuffles, loads, stores, conversions   pass the depth on
//   arithmetic, comparisons, atomics, reductions  combine their operands
//   votes, matches                                combine the values of their lanes in one operation
//   barriers with a predicate                     a vote in each warp, and a tree of the warps' values
//   selections, guards, data-dependent addresses and branches
//                                                 combine what is selected with what decides, unless a
//                                                 comparison of the same values has been counted already
// Values of the same origin (computed from one item, or by the same combination) are not combined by a
// selection. Operations without a rule of their own (matrices, textures) combine all inputs of the warp.
// In the mode kAbsences, what did not happen counts, too: a cell that a store at an address computed from
// data did not hit derives from that address; memory that skipped code with unknown addresses may write
// derives from the branch; clocks, votes of barriers, malloc and printf derive from the branches that the
// block has taken, also from the arguments of earlier calls; and votes and shuffles derive from the branches
// that their lanes are in, or that they took before they ended. What is selected is then one step deeper than
// what decides, unless this compares the very values of which one is selected: a chain can select its next
// value by the last one. Results of the same values, as of two votes of the same lanes, are then values of
// different origin, but for comparisons and carries.
// Not followed: in which order warps execute atomics; and the registers that a recursive call saves.
// Example: a tree reduction of n items has work n − 1 and steps ⌈log2 n⌉.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/machine/access.hpp"
#include "sim/machine/gap.hpp"
#include "sim/machine/op_table.hpp"
#include "sim/machine/warp.hpp"
#include "sim/observation/region.hpp"

namespace course::sim {

class Dataflow final : public Observer {
 public:
  static Gap gap(const OpRow& row);
  // Of a function that calls itself.
  static Gap gap_of_recursion() { return "the registers of a function that calls itself are not followed"; }

  explicit Dataflow(const Arena& arena);
  ~Dataflow() override;
  Dataflow(const Dataflow&) = delete;
  Dataflow& operator=(const Dataflow&) = delete;

  void host_wrote(std::uint64_t address, std::uint64_t n_bytes);
  void launch_begins(const Program& program, const LaunchRequest& launch) override;
  void block_begins(Block& block) override;
  void before(Warp& w, const MicroOp& op) override;
  void after(Warp& w, const MicroOp& op) override;
  void guarded_off(Warp& w, const MicroOp& op, std::uint32_t lanes) override;
  void branches(Warp& w, const BasicBlock& b, std::uint32_t mask) override;
  void barrier_arrived(Warp& w, std::uint32_t mask, const MicroOp& op) override;
  void barrier_released(Block& block, std::uint32_t barrier) override;
  void local_moved(Warp& w, int lane, std::uint32_t offset, std::uint32_t bytes) override;
  void local_copied(Warp& w, int lane, std::uint32_t to, std::uint32_t from, std::uint32_t bytes) override;
  void builtin_reads(Warp& w, int lane, std::uint64_t address, std::uint32_t bytes) override;
  void copies_issued(Warp& w, const CopyBatch& batch) override;
  void copies_finished(Block& block, const CopyBatch& batch, std::uint32_t lanes,
                       std::uint64_t barrier) override;

  void follow_absences(bool follow) { absences_ = follow; }

  // The work and the Counters::operation_lanes since the last call.
  std::uint64_t take_work() { return std::exchange(work_, 0); }
  std::uint64_t take_operation_lanes() { return std::exchange(operation_lanes_, 0); }
  // The largest depth since this object was made. Chains may continue from launch to launch.
  std::uint64_t steps() const { return deepest_; }

 private:
  struct Origin {
    std::uint32_t depth = 0;  // + 1; 0: does not derive from watched data
    std::uint32_t id = 0;     // equal for values that derive from the same elements
    bool operator==(const Origin&) const = default;
  };
  using Lanes = std::array<Origin, kLanes>;
  // The depth of a word of memory whose bytes have different origins. Its id is an index into splits_.
  static constexpr std::uint32_t kSplit = ~0u;

  // Lanes that are between a branch on data and the point where all paths from it meet.
  struct Decision {
    const Region* region;
    std::uint32_t lanes;
    std::size_t calls;  // depth of the stack at the branch
    Lanes by;           // what the branch depends on
  };
  struct Shadow {
    std::vector<Origin> registers;   // by slot offset / 4 + lane; a 64-bit slot has two words per lane
    std::vector<Origin> predicates;  // by number of the predicate · 32 + lane
    std::vector<Decision> decisions;
    Lanes copies{};  // what the operands of its asynchronous copies depend on
    Lanes ended{};   // the branches on data that a lane has left behind, for when it ends before others
  };
  struct Gathered {
    void add(Origin one);
    Origin all;
    std::uint32_t n = 0, first_id = 0;
    bool differ = false;
  };
  // Stores to a kind of memory that data have sent to other words, or whose addresses are not known.
  struct Missed {
    Origin by;              // the deepest that they derive from
    std::uint32_t now = 0;  // their number
  };
  struct BlockShadow {
    std::vector<Shadow> warps;
    std::vector<Origin> shared;  // by word
    Missed missed;               // in shared memory
    std::vector<std::uint32_t> stamps;
    Origin flow;                  // of the branches on data that it has taken
    Gathered arrived[kBarriers];  // predicates of bar.red, an operand for each warp
    Origin released[kBarriers];
  };
  // Bytes that lanes of one instruction did not write; the depth of the deepest of them and of their reasons.
  struct Spared {
    const Origin* cell;
    std::uint32_t first, deepest;
  };

  Origin combined(Origin a, Origin b, bool counts = true, bool is_known = false);
  Origin distinct(Origin value);
  Origin merged(Origin a, Origin b, bool counts);
  bool is_free(Origin value, Origin by) const;
  Origin chosen(Origin value, Origin by, bool counts = true);
  Origin selected(Origin a, Origin b, Origin by);
  Origin gathered(const Gathered& lanes, std::uint32_t steps);

  Shadow& shadow(Warp& w) { return blocks_[w.block->storage]->warps[w.number]; }
  Origin* low(std::uint32_t slot) { return here_->registers.data() + slot / 4; }
  Origin* predicate(std::uint32_t slot) {
    return here_->predicates.data() + std::size_t{predicate_number_[slot / 4]} * kLanes;
  }
  Origin whole(std::uint32_t slot, bool wide, int lane);
  Origin source(const MicroOp& op, int k, int lane);
  void assign(const MicroOp& op, int lane, Origin& at, Origin value);
  void write(const MicroOp& op, int k, int lane, Origin low_word, Origin high_word);
  void write(const MicroOp& op, int k, int lane, Origin value) { write(op, k, lane, value, value); }

  static std::uint64_t local_key(const Warp& w, int lane, std::uint64_t address);
  Origin& cell(Warp& w, int lane, std::uint64_t address);
  Origin get(Origin at, std::uint32_t first, std::uint32_t n);
  void put(Origin& at, std::uint32_t first, std::uint32_t n, Origin value);
  template <typename Each>
  void for_words(Warp& w, int lane, std::uint64_t address, std::uint32_t n_bytes, const Each& each);
  Origin load(Warp& w, int lane, std::uint64_t address, std::uint32_t n_bytes);
  void store(Warp& w, int lane, std::uint64_t address, std::uint32_t n_bytes, Origin value);
  Addresses addresses_after(Warp& w, const std::vector<const MicroOp*>& ops, std::uint32_t lanes,
                            const MicroOp& op);
  void spare(Warp& w, std::uint32_t lanes, const MicroOp& op, const std::vector<const MicroOp*>& address,
             const Origin* by);
  Origin placed(Origin value, const MicroOp& op, int lane);
  void flows(Warp& w, Origin by);
  static Origin deeper(Origin a, Origin b);
  const Missed* missed_at(Warp& w, int lane, std::uint64_t address, std::uint32_t*& stamp);
  void miss(Warp& w, std::uint32_t spaces, Origin by);
  void miss_by_address(Warp& w, const MicroOp& op, std::uint32_t lanes);

  void move(Warp& w, const MicroOp& op);
  void combine(Warp& w, const MicroOp& op);
  bool atomic(Warp& w, const MicroOp& op, int lane);
  Origin presence(const Warp& w, const MicroOp& op, std::uint32_t lanes);
  void warp_wide(Warp& w, const MicroOp& op);
  void leave_regions(Warp& w, std::uint32_t block, std::uint32_t function, std::uint32_t mask);
  void mark_data();

  const Arena& arena_;
  Origin* global_ = nullptr;  // one entry for each 4 bytes of the arena
  std::uint64_t marked_ranges_ = 0;
  std::vector<std::unique_ptr<BlockShadow>> blocks_;  // by Block::storage
  Shadow* here_ = nullptr;                            // of the warp that runs
  std::unordered_map<std::uint64_t, Origin> local_, outside_;
  bool absences_ = false;
  Missed missed_globally_, missed_locally_;
  // For each word, Missed::now at its last write. The array for global memory is allocated on first use.
  std::uint32_t* global_stamps_ = nullptr;
  std::unordered_map<std::uint64_t, std::uint32_t> local_stamps_;
  std::vector<Allocation> inputs_;
  Origin flow_;  // of all blocks
  std::vector<std::array<Origin, 4>> splits_;
  std::vector<std::uint32_t> unused_splits_;
  std::vector<Spared> spared_;
  const Program* program_ = nullptr;
  Regions regions_;
  std::vector<std::uint8_t> roles_;              // by op
  std::vector<std::uint32_t> predicate_number_;  // by slot / 4
  std::uint32_t n_predicates_ = 0;
  Addresses addresses_{};
  std::uint32_t from_lane_[kLanes] = {};
  std::uint64_t work_ = 0, operation_lanes_ = 0, deepest_ = 0;
  std::uint32_t n_values_ = 0;  // see distinct()
};

}  // namespace course::sim
