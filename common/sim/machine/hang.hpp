// SPDX-License-Identifier: MIT
// A launch that does not end, in words: which threads wait where, for which place in memory to change, and who changed it last.
// Threads that poll look like any others; so blocks are run on for a moment under observation, to see what they look at.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "sim/machine/warp.hpp"
#include "sim/ops/table.hpp"

namespace course::sim {

// Remembers who last changed the places that strong stores and atomics write. Kept for kernels that poll, while checkers are on.
class WriteHistory {
 public:
  struct Change {
    std::uint64_t block;  // of the grid
    std::uint32_t thread, op;
  };

  void launch_begins(const Program& program);
  bool keeps() const { return keeps_; }
  // Before any access to memory: what the one before has changed is looked at now.
  void before(Warp& w, const MicroOp& op);
  // `block` matters for shared memory.
  const Change* last(const Block& block, std::uint64_t address);

 private:
  static constexpr std::size_t kMost = std::size_t{1} << 18;  // places; more are not remembered
  static std::uint64_t key(const Block& block, std::uint64_t address);

  void settle();

  bool keeps_ = false;
  std::unordered_map<std::uint64_t, Change> changes_;
  struct Pending {
    std::uint64_t place, old;  // place: key
    const std::byte* memory;
    Change change;
  };
  std::vector<Pending> pending_;
  std::uint32_t pending_bytes_ = 0;
};

// An observer that has one, or nullptr.
class KeepsHistory {
 public:
  virtual ~KeepsHistory() = default;
  virtual WriteHistory* history() = 0;
};

// What is known of the blocks of a launch that hangs.
struct HangScene {
  Worker& worker;
  const Engine& engine;
  std::vector<Block*> resident;
  std::uint64_t n_blocks, n_started;  // of the grid; none started: not known
};
struct Hang {
  std::string text;
  // One of those who wait: what it waits for is a look at memory, or a barrier. nullptr: nobody.
  Warp* warp = nullptr;
  const MicroOp* op = nullptr;
  std::uint32_t lanes = 0;
};
Hang describe_hang(const HangScene& scene);

// The first group of a block that waits for others, without text; of those that run too where `running_too`.
Hang first_waiting(Block& block, bool running_too);

}  // namespace course::sim
