// SPDX-License-Identifier: MIT
// Synchronisation variables: words in memory through which threads order their accesses, such as flags,
// counters and locks. What their values publish, and who wrote them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sim/checkers/racecheck/vector_clock.hpp"
#include "sim/machine/program.hpp"

namespace course::sim::race {

// What a value publishes to its readers.
struct Published {
  VectorClock device;  // to all threads
  VectorClock block;   // to the threads of block `owner` only
  std::uint32_t owner = ~0u;
  std::uint64_t fence = 0;  // BlockState::fence of the blocks that have published it
  void add(const Published& p) {
    device.join(p.device);
    if (owner != p.owner) block = VectorClock{};
    owner = p.owner;
    block.join(p.block);
    fence = std::max(fence, p.fence);
  }
};

struct SyncVariable : Published {
  // A strong write, with or without a fence, to find out what is missing.
  struct Writer {
    std::uint32_t block = ~0u, warp = 0, lane = 0;
    // It came before record `before`, and publishes accesses of its thread, warp and block before the next
    // three.
    RecordId before = 0, own = 0, same_warp = 0, same_block = 0;
    RecordId barrier = 0;       // the last barrier of its block
    std::uint64_t version = 0;  // of the variable, after the write
    bool is_ticket = false;     // an atomic that returns the value before it
  };
  std::vector<Writer> writers;
  std::uint32_t next_writer = 0;
  bool has_bytes = false;     // bytes of the word have synchronisation variables of their own
  std::uint64_t version = 0;  // number of strong writes
  Writer last;
};

// By number of the word; those of 1 and 2 bytes by kByteKey + address, one for each byte.
using SyncVariables = std::unordered_map<std::uint64_t, SyncVariable>;
inline constexpr std::uint64_t kByteKey = std::uint64_t{1} << 63;
struct Keys {
  std::uint64_t first, step, n;
};

// Each element of a vector is an access of its own (PTX ISA 8.2, vector data types).
inline Keys keys_of(const MicroOp& op, std::uint64_t address) {
  const std::uint64_t bytes = std::uint64_t{op.width} * op.count;
  if (bytes < 4) return {kByteKey + address, 1, bytes};
  const std::uint64_t words = std::max<std::uint64_t>(op.width / 4, 1);
  return {address / 4, words, bytes / 4 / words};
}

// Calls `each(key, variable)` for what has been published at these bytes, also by smaller and larger writes.
template <typename Each>
void for_variables(const SyncVariables& variables, Keys keys, const Each& each) {
  const auto visit = [&](std::uint64_t key) {
    const auto it = variables.find(key);
    if (it == variables.end()) return false;
    if (!it->second.writers.empty()) each(key, it->second);
    return it->second.has_bytes;
  };
  for (std::uint64_t k = 0; k < keys.n; ++k)
    if (const std::uint64_t key = keys.first + k * keys.step; visit(key))
      for (std::uint64_t byte = 0; byte < 4; ++byte) visit(kByteKey + key * 4 + byte);
  if (keys.first >= kByteKey) visit((keys.first - kByteKey) / 4);
}

}  // namespace course::sim::race
