// SPDX-License-Identifier: MIT
// Records which thread last changed a word, to explain launches that hang.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sim/machine/warp.hpp"

namespace course::sim {

// Records the last change of each word that strong stores and atomics write. Only for kernels that poll, and
// only while checkers are on.
class WriteHistory {
 public:
  struct Change {
    std::uint64_t block;  // of the grid
    std::uint32_t thread, op;
  };

  void launch_begins(const Program& program);
  bool keeps() const { return keeps_; }
  // Must be called before and after each access to memory. after() compares memory with its value before.
  void before(Warp& w, const MicroOp& op);
  void after();
  // The last change of the word at a generic address, or nullptr. `block` matters for shared addresses.
  const Change* last(const Block& block, std::uint64_t address);

 private:
  static constexpr std::size_t kMax = std::size_t{1} << 18;  // words; further ones are not recorded
  static std::uint64_t key(const Block& block, std::uint64_t address);

  bool keeps_ = false;
  std::unordered_map<std::uint64_t, Change> changes_;
  struct Pending {
    std::uint64_t place, old;  // place: from key(); old: the value before the write
    const std::byte* memory;
    Change change;
  };
  std::vector<Pending> pending_;
  std::uint32_t pending_bytes_ = 0;
};

// An observer that may have a history; history() returns nullptr if it has none.
class KeepsHistory {
 public:
  virtual ~KeepsHistory() = default;
  virtual WriteHistory* history() = 0;
};

}  // namespace course::sim
