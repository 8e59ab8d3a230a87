// SPDX-License-Identifier: MIT
// The access of a warp that is being checked: `h` in all functions that do this. And how earlier accesses are
// related to it.
#pragma once

#include <cstdint>

#include "sim/checkers/lane_access.hpp"
#include "sim/checkers/racecheck/block_state.hpp"

namespace course::sim::race {

// The cells of one kind of memory.
struct Shadow {
  Cell* written;
  Cell* read;
  Cell* line_written;  // of whole lines, see whole_lines.cpp; nullptr for shared memory
  Cell* line_read;
  std::uint64_t base;   // generic address of cell 0
  std::uint64_t bytes;  // covered by the cells
  RecordId floor;       // older records no longer count
  RecordId bound;       // older records are ordered before this access
  bool shared;
};

struct CurrentAccess {
  Warp& w;
  const MicroOp& op;
  BlockState& b;  // of its block
  WarpState& ws;  // of its warp
  const LaneAccess& a;
  AccessRecords& records;
  Shadow shadow;
  RecordId id;                 // of this access
  bool reads, writes, strong;  // reads: not of an atomic
  std::uint32_t gets_old = 0;  // lanes that get an old value, or change one

  const Record& record(RecordId of) const { return records[of]; }
  const MicroOp& op_of(RecordId of) const { return w.program->ops[records[of].op]; }
  // If false, a fault follows.
  bool is_inside(std::uint64_t offset) const {
    return offset < shadow.bytes && offset + a.bytes <= shadow.bytes && (offset & (a.bytes - 1)) == 0;
  }

  // The value that a lane is about to store in the element that contains byte `at` of its access. For an
  // atomic: its first operand.
  std::uint64_t stored(int lane, std::uint64_t at) const;

  // Whether access `of` of another lane is ordered before this one of `lane`.
  bool is_after(RecordId of, std::uint32_t other_lane, int lane) const {
    if (of < shadow.floor) return true;
    const Record& r = record(of);
    if (is_flying(r, other_lane)) return false;
    const bool any_lane = r.kind == Record::many;
    if (r.block == b.number) {
      if (of < b.bound) return true;
      if (author(r) == w.number &&
          ((!any_lane && other_lane == static_cast<std::uint32_t>(lane)) || of < ws.bound))
        return true;
    }
    if (any_lane) return false;
    const VectorClock& known = ws.of(lane).known;
    return !known.empty() && known.covers(r.block, author(r), other_lane, of);
  }
  // The same for all accesses that a cell names.
  bool is_after_all(Cell cell, int lane) const {
    if (cell >> kLaneBits < shadow.floor) return true;
    return !records.any_of(
        cell, [&](RecordId of, std::uint32_t other_lane) { return !is_after(of, other_lane, lane); });
  }
  // Whether access `of` (or all accesses of a set of readers) is ordered before this one for every pair of
  // lanes; `same_lanes`: only for each lane with itself. Considers only barriers and program order.
  bool is_after_in_all_lanes(RecordId of, bool same_lanes) const;
  // Whether `lane` left the cell, in this block.
  bool left(Cell cell, std::uint32_t lane) const {
    const RecordId of = cell >> kLaneBits;
    if ((cell & kLaneMask) != lane || of < b.first || of < shadow.floor) return false;
    const Record& r = record(of);
    return r.kind == Record::access && r.block == b.number && r.warp == w.number;
  }
  // Whether the word that `written` belongs to has a pair of cells for each of its bytes.
  bool is_bytes(Cell written) const {
    const RecordId of = written >> kLaneBits;
    return of >= shadow.bound && record(of).kind == Record::bytes;
  }
  // Whether strong accesses of two lanes of a warp, this one and record `of`, are right only if its lanes run
  // in step.
  bool needs_step_with(RecordId of, int lane) const;
};

}  // namespace course::sim::race
