// SPDX-License-Identifier: MIT
// For observers: the memory addresses an op is about to access, lane by lane.
#pragma once

#include <cstdint>

#include "sim/machine/warp.hpp"

namespace course::sim {

struct Addresses {
  std::uint64_t
      at[kLanes];  // generic: shared and local ones lie in their windows; valid for the warp's active lanes
  std::uint32_t bytes;  // accessed by each lane
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

}  // namespace course::sim
