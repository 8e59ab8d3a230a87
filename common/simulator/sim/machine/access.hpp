// SPDX-License-Identifier: MIT
// For observers: the memory addresses that an op is about to access, by lane.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "sim/machine/warp.hpp"

namespace course::sim {

struct Addresses {
  std::uint64_t at[kLanes];  // generic addresses; valid for the warp's active lanes
  std::uint32_t bytes;       // accessed by each lane
};

inline Addresses addresses_of(Warp& w, const MicroOp& op) {
  Addresses a;
  a.bytes = std::uint32_t{op.width} * op.count;
  const std::uint64_t window = op.space == MemorySpace::shared  ? kSharedWindow
                               : op.space == MemorySpace::local ? kLocalWindow
                                                                : 0;
  for (int i = 0; i < kLanes; ++i) {
    std::uint64_t base = 0;
    if (op.src[0] != MicroOp::kNoSlot)
      base =
          (op.wide_src & 1) != 0 ? w.slot<std::uint64_t>(op.src[0])[i] : w.slot<std::uint32_t>(op.src[0])[i];
    std::uint64_t address = base + static_cast<std::uint64_t>(op.imm);
    if (op.src[0] != MicroOp::kNoSlot && (op.wide_src & 1) == 0) address &= 0xffffffffu;
    a.at[i] = address + window;
  }
  return a;
}

// Where a generic global or shared address is in the host's memory; nullptr unless all bytes belong to one
// live allocation, or to the block's shared memory.
inline const std::byte* memory_at(const Arena& arena, const Block& block, std::uint64_t address,
                                  std::uint64_t n_bytes) {
  if (address >= kSharedWindow && address < kSharedWindow + kWindowSize) {
    const std::uint64_t offset = address - kSharedWindow;
    return offset + n_bytes <= block.shared_bytes ? block.shared + offset : nullptr;
  }
  return arena.has(address, n_bytes) ? reinterpret_cast<const std::byte*>(address) : nullptr;
}

// The first `n_bytes` (8 at most) bytes as a number; 0 if `memory` is nullptr.
inline std::uint64_t value_at(const std::byte* memory, std::uint64_t n_bytes) {
  std::uint64_t value = 0;
  if (memory != nullptr) std::memcpy(&value, memory, std::min<std::uint64_t>(n_bytes, 8));
  return value;
}

}  // namespace course::sim
