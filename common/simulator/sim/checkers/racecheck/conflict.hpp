// SPDX-License-Identifier: MIT
// Two accesses that nothing orders.
#pragma once

#include <cstdint>

#include "sim/checkers/racecheck/current_access.hpp"
#include "sim/checkers/racecheck/found_races.hpp"

namespace course::sim::race {

// Lane `lane` of the current access conflicts, at `offset` of its memory, with lane `other` of record `id`.
struct Conflict {
  const CurrentAccess& h;
  int lane;
  std::uint64_t offset;
  RecordId id;
  std::uint32_t other;
  bool old_writes;  // the earlier access is a write
  Hazard hazard = Hazard::read_write;

  const Record& record() const { return h.record(id); }
  const MicroOp& old_op() const { return h.op_of(id); }
  bool in_a_block() const { return record().block == h.b.number; }
  bool in_a_warp() const { return in_a_block() && warp_of(record()) == h.w.number; }
};

}  // namespace course::sim::race
