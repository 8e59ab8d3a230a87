// SPDX-License-Identifier: MIT
// The addresses that the lanes of a warp are about to read or write, in the form that the checkers need.
#pragma once

#include <bit>
#include <cstdint>

#include "sim/checkers/lanes.hpp"
#include "sim/machine/warp.hpp"
#include "sim/memory/memory.hpp"

namespace course::sim {

enum class Place : std::uint8_t { global, shared, local, registers };

inline Place place_of(std::uint64_t address) {
  if (address >= kLocalWindow && address < kLocalWindow + kWindowSize) return Place::local;
  if (address >= kSharedWindow && address < kSharedWindow + kWindowSize) return Place::shared;
  return Place::global;
}

struct LaneAccess {
  // A lane's address is the value of its register plus a constant. The registers stay unchanged until the
  // access has been checked.
  const std::uint64_t* wide = nullptr;  // 64-bit registers, by lane
  // 32-bit registers; if both are nullptr, all lanes use the same address.
  const std::uint32_t* narrow = nullptr;
  std::uint64_t added = 0, window = 0;
  std::uint64_t low = 0, end = 0;  // all that the lanes access is in between, unless an address has wrapped
  std::uint32_t mask = 0;
  std::uint32_t bytes = 0;      // per lane
  std::uint32_t first = 0;      // the first active lane
  std::uint32_t count = 0;      // lanes from the first to the last active one
  Place place = Place::global;  // only meaningful unless `mixed`
  bool mixed = false;           // the lanes may access different kinds of memory
  bool run = false;             // lanes first … first + count − 1, adjacent and aligned
  bool same = false;            // all lanes use the same address

  // The generic address of a lane of `mask`.
  std::uint64_t at(int lane) const {
    if (wide != nullptr) return wide[lane] + added;
    if (narrow != nullptr) return window + (narrow[lane] + static_cast<std::uint32_t>(added));
    return window + added;
  }
  std::uint64_t start() const { return at(static_cast<int>(first)); }
  bool is_within(std::uint64_t address, std::uint64_t n_bytes) const {
    return low >= address && low < end && end <= address + n_bytes;
  }
  bool may_touch(std::uint64_t address, std::uint64_t n_bytes) const {
    return low >= end || (low < address + n_bytes && end > address);
  }
};

// Describes the access that the warp's next op `op` is about to make.
inline void resolve(Warp& w, const MicroOp& op, LaneAccess& a) {
  a.window = op.space == MemorySpace::shared  ? kSharedWindow
             : op.space == MemorySpace::local ? kLocalWindow
                                              : 0;
  a.added = static_cast<std::uint64_t>(op.imm);
  a.mask = w.mask;
  a.bytes = std::uint32_t{op.width} * op.count;
  const int first = std::countr_zero(a.mask);
  a.first = static_cast<std::uint32_t>(first);
  const std::uint32_t lanes = a.mask >> first;
  lanes::Shape shape{lanes == 1, true, true, 0, 0};
  if (op.src[0] != MicroOp::kNoSlot && (op.wide_src & 1) != 0) {
    a.wide = w.slot<std::uint64_t>(op.src[0]);
    a.added += a.window;
    if (lanes != 1) shape = lanes::shape_of(a.wide, a.bytes, w.lane_mask, first);
  } else if (op.src[0] != MicroOp::kNoSlot) {
    a.narrow = w.slot<std::uint32_t>(op.src[0]);
    if (lanes != 1) shape = lanes::shape_of(a.narrow, a.bytes, w.lane_mask, first);
  }
  a.run = shape.in_step && (lanes & (lanes + 1)) == 0 && (a.start() & (a.bytes - 1)) == 0;
  a.count = static_cast<std::uint32_t>(std::bit_width(lanes));
  a.same = shape.same;
  a.low = a.start() - shape.below;
  a.end = a.start() + shape.above + a.bytes;
  a.mixed = op.space == MemorySpace::generic && !shape.close;
  a.place = op.space == MemorySpace::generic ? place_of(a.start())
            : a.window == kSharedWindow      ? Place::shared
            : a.window == kLocalWindow       ? Place::local
                                             : Place::global;
}

}  // namespace course::sim
