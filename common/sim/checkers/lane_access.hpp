// SPDX-License-Identifier: MIT
// Where the lanes of a warp are about to read or write, as the checkers need it.
#pragma once

#include <bit>
#include <cstdint>

#include "sim/checkers/lanes.hpp"
#include "sim/memory.hpp"
#include "sim/warp.hpp"

namespace course::sim {

enum class Place : std::uint8_t { global, shared, local };

inline Place place_of(std::uint64_t address) {
  if (address >= kLocalWindow && address < kLocalWindow + kWindowSize) return Place::local;
  if (address >= kSharedWindow && address < kSharedWindow + kWindowSize) return Place::shared;
  return Place::global;
}

struct LaneAccess {
  alignas(64) std::uint64_t at[kLanes];  // generic; valid for the lanes of `mask`
  std::uint32_t mask = 0;
  std::uint32_t bytes = 0;      // of each lane
  std::uint32_t first = 0;      // lane
  std::uint32_t count = 0;      // of a run: lanes
  Place place = Place::global;  // unless mixed
  bool mixed = false;           // lanes may access different kinds of memory
  bool run = false;   // lanes first … first + count − 1, each right after the one before, aligned
  bool same = false;  // all lanes the same address

  std::uint64_t start() const { return at[first]; }
};

inline void resolve(Warp& w, const MicroOp& op, LaneAccess& a) {
  const std::uint64_t window = op.space == MemorySpace::shared  ? kSharedWindow
                               : op.space == MemorySpace::local ? kLocalWindow
                                                                : 0;
  const auto offset = static_cast<std::uint64_t>(op.imm);
  a.mask = w.mask;
  a.bytes = std::uint32_t{op.width} * op.count;
  const int first = std::countr_zero(a.mask);
  a.first = static_cast<std::uint32_t>(first);
  const std::uint32_t lanes = a.mask >> first;
  lanes::Shape shape{lanes == 1, true, true};
  if (lanes == 1 && op.src[0] != MicroOp::kNoSlot)
    a.at[first] = window + ((op.wide_src & 1) != 0 ? w.slot<std::uint64_t>(op.src[0])[first] + offset
                                                   : w.slot<std::uint32_t>(op.src[0])[first] +
                                                         static_cast<std::uint32_t>(offset));
  else if (op.src[0] == MicroOp::kNoSlot)
    for (std::uint64_t& address : a.at) address = offset + window;
  else if ((op.wide_src & 1) != 0)
    shape = lanes::add(a.at, w.slot<std::uint64_t>(op.src[0]), offset + window, a.bytes, w.lane_mask, first);
  else
    shape = lanes::add(a.at, w.slot<std::uint32_t>(op.src[0]), static_cast<std::uint32_t>(offset), window,
                       a.bytes, w.lane_mask, first);
  a.run = shape.in_step && (lanes & (lanes + 1)) == 0 && (a.start() & (a.bytes - 1)) == 0;
  a.count = static_cast<std::uint32_t>(std::bit_width(lanes));
  a.same = shape.same;
  a.mixed = op.space == MemorySpace::generic && !shape.close;
  a.place = op.space == MemorySpace::generic ? place_of(a.start())
            : window == kSharedWindow        ? Place::shared
            : window == kLocalWindow         ? Place::local
                                             : Place::global;
}

}  // namespace course::sim
