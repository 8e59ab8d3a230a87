// SPDX-License-Identifier: MIT
// Lost updates: a thread loads a word, another thread changes it, and the first one stores a value that
// follows from what it has loaded. Strong accesses never race, so such a change is no data race, but it is
// not atomic. A finding needs all of this, so flags and protocols of waiting threads give none:
//   The store comes after the load in the code, at the same address, and the thread has not written the word
//   in between.
//   The word now has another value than the one loaded.
//   Another thread wrote it last, and nothing orders that write before the store.
//   The load is not in a loop that only waits.
// It is an error if the stored value is computed from the loaded one and differs from that of the other
// thread. Else it is a hint; but nothing is reported if the loaded value can only have decided, and the
// stored one is the one loaded or the one there.
// The simulator lets other threads run between the two accesses (Block::one_pause_in).
// Source: Lu, Tucek, Qin, Zhou, "AVIO: detecting atomicity violations via access interleaving invariants",
// ASPLOS 2006, doi:10.1145/1168857.1168864 (the case read, remote write, write).
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/checkers/racecheck/racecheck.hpp"
#include "sim/machine/access.hpp"
#include "sim/machine/describe.hpp"
#include "sim/machine/source_places.hpp"

namespace course::sim::race {

// Must be called when memory contains the value that the load returns.
void Racecheck::note_loaded(CurrentAccess& h, std::uint32_t lanes) {
  const auto change = changes_.lower_bound({h.op.index, 0});
  if (change == changes_.end() || change->first.first != h.op.index) return;
  if (h.ws.loaded.size() >= 4096) h.ws.loaded.clear();  // a limit
  for (const int lane : EachLane{lanes}) {
    const std::uint64_t address = h.a.at(lane);
    h.ws.loaded[{address, 1u << lane}] = {
        value_at(memory_at(arena_, *h.w.block, address, h.op.width), h.op.width), h.op.index};
  }
}

// Must be called before the write is recorded.
void Racecheck::check_changes(CurrentAccess& h, std::uint32_t lanes) {
  for (const int lane : EachLane{h.ws.loaded.empty() ? 0 : lanes}) {
    const std::uint64_t address = h.a.at(lane), offset = address - h.shadow.base;
    const auto known = h.ws.loaded.extract({address, 1u << lane});
    const auto change = known.empty() ? changes_.end() : changes_.find({known.mapped().second, h.op.index});
    if (change == changes_.end() || !h.is_inside(offset)) continue;
    const std::uint64_t before = known.mapped().first;
    const std::uint64_t fresh = h.stored(lane, 0),
                        there = value_at(memory_at(arena_, *h.w.block, address, h.op.width), h.op.width);
    if (there == before || (!change->second && (there == fresh || fresh == before))) continue;
    if (!h.shadow.shared) open_lines(h, 1u << lane);
    Cell last = h.shadow.written[offset / 4];
    if (h.is_bytes(last)) last = bytes_of(h, offset / 4)[offset % 4];
    RecordId id = last >> kLaneBits;
    if (id < h.shadow.bound) continue;
    if (record(id).kind == Record::readers) {
      last += records_.readers(record(id)).back().offset;
      id = records_.readers(record(id)).back().record;
    }
    // A swap may have failed, and so have changed nothing.
    if (!h.is_after(id, last & kLaneMask, lane) && !sync_.locks().is_swap(record(id).op))
      report_lost(h, lane, program_->ops[change->first.first], id, last & kLaneMask,
                  change->second && there != fresh);
  }
}

void Racecheck::report_lost(const CurrentAccess& h, int lane, const MicroOp& load, RecordId id,
                            std::uint32_t other_lane, bool is_certain) {
  const std::uint32_t write = record(id).op;
  if (found_.again(is_certain ? Hazard::lost : Hazard::maybe_lost, h.op.index, write) != nullptr) return;
  Finding f = finding_of(side_of(h, lane), side_of(id, other_lane), h.a.at(lane), h.op.width);
  f.severity = is_certain ? Severity::error : Severity::hint;
  f.kind = "lost-update";
  f.message = fmt::format(
      "one operation is needed here, such as atomicAdd, atomicMax or a loop with atomicCAS, not a load and a "
      "store: {} reads {} at {} and then writes it at {}, but in between {} has changed it at {}{}",
      describe_thread(f.thread), f.object, one_line(places_of(*program_, load)), one_line(f.where),
      describe_thread(f.other_thread), one_line(f.other_where),
      is_certain ? "" : ". (No harm if it checks the word again later, or if all write the same value.)");
  found_.add({std::move(f), h.op.index, write});
}

}  // namespace course::sim::race
