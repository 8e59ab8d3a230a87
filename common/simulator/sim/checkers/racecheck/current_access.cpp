// SPDX-License-Identifier: MIT
#include "sim/checkers/racecheck/current_access.hpp"

#include <algorithm>

namespace course::sim::race {

std::uint64_t CurrentAccess::stored(int lane, std::uint64_t at) const {
  const std::uint64_t k = at / op.width;
  const std::uint32_t slot = k < 3 ? op.src[1 + k] : op.dst[3];
  const std::uint64_t raw =
      op.width == 8 ? w.slot<std::uint64_t>(slot)[lane] : w.slot<std::uint32_t>(slot)[lane];
  return op.width == 8 ? raw : raw & ((std::uint64_t{1} << (8 * op.width)) - 1);
}

bool CurrentAccess::is_after_in_all_lanes(RecordId of, bool same_lanes) const {
  const auto before = [&](RecordId i, bool same_lane) {
    const Record& r = record(i);
    const bool many = r.kind == Record::many;
    if ((r.kind != Record::access && !many) || r.block != b.number) return false;
    return i < b.bound || (r.warp == w.number && ((same_lane && !many) || i < ws.bound));
  };
  const Record& r = record(of);
  if (r.kind != Record::readers) return before(of, same_lanes);
  const auto all = records.readers(r);
  return std::ranges::all_of(all, [&](const Reader& reader) {
    return before(reader.record, same_lanes && reader.lanes == 0 && reader.offset == 0);
  });
}

bool CurrentAccess::needs_step_with(RecordId of, int lane) const {
  const Record& r = record(of);
  const MicroOp& other = op_of(of);
  if (op.kind == OpKind::mbarrier || other.kind == OpKind::mbarrier) return false;
  const bool ran_both = (r.lanes >> lane & 1) != 0, follows_wait = of < ws.waited[lane];
  const bool atomic = op.kind == OpKind::atomic || other.kind == OpKind::atomic;
  if (shadow.shared && ran_both && !atomic && ((op.order | other.order) & kOrderMask) == kVolatile)
    return ((op.order | other.order) & kOnlyDecides) == 0;
  if (follows_wait || ((op.order | other.order) & kWaits) != 0) return false;
  if (op.kind == OpKind::atomic) return other.kind != OpKind::atomic;
  // Of several lanes that store in one place, any may be the last. The lane with the last ticket may reset
  // the counter.
  const std::uint64_t address = a.at(lane);
  const Ticket& ticket = ws.ticket_at(address);
  const bool has_last = ran_both && is_look(other) && (ticket.address != address || ticket.lane == lane);
  return op.kind == OpKind::load || (other.kind == OpKind::atomic ? !has_last : other.index != op.index);
}

}  // namespace course::sim::race
