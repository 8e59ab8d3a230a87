// SPDX-License-Identifier: MIT
// What is missing between two accesses, for messages: a fence, a barrier, or a flag that was set too early.
#include <algorithm>

#include "sim/checkers/racecheck/sync_tracker.hpp"

namespace course::sim::race {

Missing SyncTracker::missing_between(const CurrentAccess& h, int lane, RecordId id, std::uint32_t other_lane,
                                     std::uint64_t but_not) const {
  const Record& r = h.record(id);
  if (r.block == h.b.number) {
    return locks_.pass({r.block, warp_of(r), static_cast<int>(other_lane)}, id,
                       {h.b.number, h.w.number, lane})
               ? Missing::lock_fence
               : Missing::nothing_passes;
  }
  if (h.shadow.shared) return Missing::nothing_passes;
  Missing missing = Missing::nothing_passes;
  const auto consider = [&](const Look& look, const SyncVariable& variable,
                            const SyncVariable::Writer& writer) {
    if (writer.block != r.block || writer.before <= id || writer.version > look.version) return;
    const bool same_warp = writer.warp == warp_of(r), same_thread = same_warp && writer.lane == other_lane;
    const bool published = (same_thread && writer.own > id) || (same_warp && writer.same_warp > id) ||
                           writer.same_block > id ||
                           variable.device.covers(r.block, author(r), other_lane, id);
    const bool own_look = look.warp == h.w.number && (look.lanes >> lane & 1) != 0;
    if (published ? own_look || h.b.bound > look.barrier : same_thread || writer.barrier > id)
      missing = published ? Missing::readers_fence : Missing::writers_fence;
    else if (missing == Missing::nothing_passes)
      missing = published ? Missing::readers_barrier : Missing::writers_barrier;
  };
  for (std::uint32_t k = 0; k < std::min<std::size_t>(h.b.n_looks, h.b.looks.size()); ++k) {
    const Look& look = h.b.looks[k];
    const auto variable = variables_.find(look.key);
    if (look.key == but_not || variable == variables_.end()) continue;
    consider(look, variable->second, look.last);
    for (const SyncVariable::Writer& writer : variable->second.writers)
      consider(look, variable->second, writer);
  }
  return missing;
}

SyncTracker::Announced SyncTracker::announced(const CurrentAccess& h, RecordId id, std::uint32_t other_lane) {
  const Record& r = h.record(id);
  Announced found = Announced::no;
  for (std::uint32_t k = 0; k < std::min<std::size_t>(h.b.n_looks, h.b.looks.size()); ++k) {
    const SyncVariable::Writer& writer = h.b.looks[k].last;
    if (writer.block != r.block || writer.before > id || writer.is_ticket) continue;
    if (writer.warp == warp_of(r) && writer.lane == other_lane) return Announced::before_by_itself;
    found = Announced::before_by_another;
  }
  return found;
}

}  // namespace course::sim::race
