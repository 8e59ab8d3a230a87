// SPDX-License-Identifier: MIT
// Measures work and step complexity. Follows the watched data through registers and memory, and counts the
// operations that combine two values derived from it. Each derived value has a depth: the length of the
// longest chain of such operations that led to it.
// Moves, shuffles, loads, stores, conversions and selections pass the depth on. Operations without a rule of
// their own (matrices, textures) give their results the depth of their deepest input. Indices, constants and
// the results of votes have no depth.
// Example: a tree reduction of n items has work n − 1 and steps ⌈log2 n⌉.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sim/machine/access.hpp"
#include "sim/machine/gap.hpp"
#include "sim/machine/op_table.hpp"
#include "sim/machine/warp.hpp"

namespace course::sim {

class Dataflow final : public Observer {
 public:
  static Gap gap(const OpRow& row);
  // Of a function that calls itself.
  static Gap gap_of_recursion();

  explicit Dataflow(const Arena& arena);
  ~Dataflow() override;
  Dataflow(const Dataflow&) = delete;
  Dataflow& operator=(const Dataflow&) = delete;

  void launch_begins(const Program& program, const LaunchRequest& launch) override;
  void block_begins(Block& block) override;
  void before(Warp& w, const MicroOp& op) override;
  void after(Warp& w, const MicroOp& op) override;
  void local_copied(Warp& w, int lane, std::uint32_t to, std::uint32_t from, std::uint32_t bytes) override;
  void copies_finished(Block& block, const CopyBatch& batch, std::uint32_t lanes,
                       std::uint64_t barrier) override;

  // The work since the last call.
  std::uint64_t take_work();
  // The largest depth since this object was made. Chains may continue from launch to launch.
  std::uint64_t steps() const { return deepest_; }

 private:
  // Depth + 1; 0 for values that do not derive from watched data.
  using Depth = std::uint32_t;
  struct Shadow {
    std::vector<Depth> registers;                                      // by slot offset / 4 + lane
    std::unordered_map<std::uint32_t, std::vector<Depth>> predicates;  // by slot, 32 lanes
  };

  Depth* of(Warp& w, std::uint32_t slot, bool predicate);
  Depth& memory(Warp& w, int lane, std::uint64_t address);
  void write(Warp& w, const MicroOp& op, int k, int lane, Depth depth);
  Depth combined(Depth a, Depth b);
  void pass_on(Warp& w, const MicroOp& op);
  void mark_data();

  const Arena& arena_;
  std::uint32_t* global_ = nullptr;  // one entry for each 4 bytes of the arena
  std::uint64_t marked_ranges_ = 0;
  std::unordered_map<const Warp*, Shadow> shadows_;
  std::unordered_map<std::uint64_t, Depth> shared_, local_, outside_;
  const Program* program_ = nullptr;
  std::vector<bool> carries_;  // by op: whether it reads or writes the carry flag
  Addresses addresses_{};
  Depth shuffled_[kLanes] = {};
  std::uint64_t work_ = 0, deepest_ = 0;
};

}  // namespace course::sim
