// SPDX-License-Identifier: MIT
// Where the lanes of a warp are about to read or write, as the checkers need it.
#pragma once

#include <cstdint>

#include "sim/checkers/lanes.hpp"
#include "sim/memory.hpp"
#include "sim/warp.hpp"

namespace course::sim {

struct LaneAccess {
  alignas(64) std::uint64_t at[kLanes];  // generic; valid for the lanes of `mask`
  std::uint32_t mask = 0;
  std::uint32_t bytes = 0;  // of each lane
  bool adjacent = false;    // all 32 lanes, lane i + 1 right after lane i, aligned
};

enum class Place : std::uint8_t { global, shared, local };

inline Place place_of(std::uint64_t address) {
  if (address >= kLocalWindow && address < kLocalWindow + kWindowSize) return Place::local;
  if (address >= kSharedWindow && address < kSharedWindow + kWindowSize) return Place::shared;
  return Place::global;
}

inline void resolve(Warp& w, const MicroOp& op, LaneAccess& a) {
  const std::uint64_t window = op.space == MemorySpace::shared  ? kSharedWindow
                               : op.space == MemorySpace::local ? kLocalWindow
                                                                : 0;
  const auto offset = static_cast<std::uint64_t>(op.imm);
  a.mask = w.mask;
  a.bytes = std::uint32_t{op.width} * op.count;
  bool in_step = false;
  if (op.src[0] == MicroOp::kNoSlot)
    for (std::uint64_t& address : a.at) address = offset + window;
  else if ((op.wide_src & 1) != 0)
    in_step = lanes::add(a.at, w.slot<std::uint64_t>(op.src[0]), offset + window, a.bytes);
  else
    in_step = lanes::add(a.at, w.slot<std::uint32_t>(op.src[0]), static_cast<std::uint32_t>(offset), window,
                         a.bytes);
  a.adjacent = in_step && a.mask == kAllLanes && (a.at[0] & (a.bytes - 1)) == 0;
}

}  // namespace course::sim
