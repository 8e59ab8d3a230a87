// SPDX-License-Identifier: MIT
// Who wrote what last: for launches that hang.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sim/machine/warp.hpp"

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

}  // namespace course::sim
