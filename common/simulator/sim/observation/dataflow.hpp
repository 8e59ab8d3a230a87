// SPDX-License-Identifier: MIT
// Measures work and step complexity. Follows the watched data through registers, predicates and memory, and
// counts the operations that combine two values derived from it. Each derived value has a depth: the length
// of the longest chain of such operations that led to it.
//   arithmetic, comparisons, atomics, reductions  combine their operands
//   votes, matches                                combine the values of their lanes in one operation
//   barriers with a predicate                     a vote in each warp, and a tree of the warps' values
//   moves, conversions, shuffles, loads, stores   pass the depth on, and that of the address
//   selections, guards                            pass on the depth of what they select and of the condition
// What depends on data only because a branch did, or because something did not happen, is not followed: the
// counts describe programs, and are no defence against those that hide what they compute.
// Example: a tree reduction of n items has work n − 1 and steps ⌈log2 n⌉.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/machine/access.hpp"
#include "sim/machine/op_table.hpp"
#include "sim/machine/value_tracker.hpp"
#include "sim/machine/warp.hpp"

namespace course::sim {

class Dataflow final : public Observer {
 public:
  explicit Dataflow(const Arena& arena);
  ~Dataflow() override;
  Dataflow(const Dataflow&) = delete;
  Dataflow& operator=(const Dataflow&) = delete;

  void host_wrote(std::uint64_t address, std::uint64_t n_bytes);
  void launch_begins(const Program& program, const LaunchRequest& launch) override;
  void block_begins(Block& block) override;
  void before(Warp& w, const MicroOp& op) override;
  void guarded_off(Warp& w, const MicroOp& op, std::uint32_t lanes) override;
  void barrier_arrived(Warp& w, std::uint32_t mask, const MicroOp& op) override;
  void barrier_released(Block& block, std::uint32_t barrier) override;
  void local_moved(Warp& w, int lane, std::uint32_t offset, std::uint32_t bytes) override;
  void local_copied(Warp& w, int lane, std::uint32_t to, std::uint32_t from, std::uint32_t bytes) override;
  void copies_finished(Block& block, const CopyBatch& batch, std::uint32_t lanes,
                       std::uint64_t barrier) override;

  // The work since the last call.
  std::uint64_t take_work() { return std::exchange(work_, 0); }
  // The largest depth since this object was made. Chains may continue from launch to launch.
  std::uint64_t steps() const { return deepest_; }

 private:
  using Depth = std::uint32_t;  // + 1; 0: does not derive from watched data
  // Operands of several lanes or warps that one operation combines.
  struct Gathered {
    void add(Depth one);
    Depth deepest = 0;
    std::uint32_t n = 0;
  };
  struct BlockShadow {
    std::vector<Values<Depth>> warps;
    std::vector<Depth> shared;    // by word
    Gathered arrived[kBarriers];  // predicates of bar.red, an operand for each warp
    Depth released[kBarriers] = {};
  };

  Depth combined(Depth a, Depth b);
  // All operands in one operation, or in a tree of operations.
  Depth gathered(const Gathered& all, bool tree);
  BlockShadow& shadow(const Block& block) { return *blocks_[block.storage]; }
  Depth* memory(const Warp& w, std::uint64_t address);
  Depth load(const Warp& w, int lane, std::uint64_t address, std::uint32_t n_bytes);
  void store(const Warp& w, int lane, std::uint64_t address, std::uint32_t n_bytes, Depth value);
  void access(Warp& w, const MicroOp& op, Values<Depth>& values);
  void atomic(Warp& w, const MicroOp& op, Values<Depth>& values, int lane, std::uint64_t address);
  void warp_wide(Warp& w, const MicroOp& op, Values<Depth>& values);
  void mark_data();

  const Arena& arena_;
  Depth* global_ = nullptr;  // one entry for each 4 bytes of the arena
  std::vector<Allocation> inputs_;
  std::vector<std::unique_ptr<BlockShadow>> blocks_;    // by Block::storage
  std::unordered_map<std::uint64_t, Depth> elsewhere_;  // local memory and parameters, by thread and word
  const Program* program_ = nullptr;
  std::uint64_t work_ = 0, deepest_ = 0;
};

}  // namespace course::sim
