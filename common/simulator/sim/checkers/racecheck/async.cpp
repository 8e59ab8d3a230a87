// SPDX-License-Identifier: MIT
// Asynchronous copies and mbarriers.
// A copy accesses memory as if it were made by a thread of its own that starts when the copy is issued.
// Nothing is ordered after it, not even the next accesses of the issuing thread, until that thread has waited
// for the copy. Its record has kFlying set and names the lanes whose copies are still under way. After each
// barrier a record with a new number replaces it, so that it never counts as old.
// A copy that an mbarrier counts (kByBarrier) is ordered only before the threads that have seen that phase
// end.
// Arriving at an mbarrier publishes everything that the thread did and knows. Seeing a phase end acquires
// what was published in it.
// Source: NVIDIA, "PTX ISA", version 9.0, sections 9.7.9.25.1 (completion of asynchronous copies), 9.7.13.15
// (mbarrier).
#include <algorithm>

#include "sim/checkers/racecheck/racecheck.hpp"

namespace course::sim::race {

// Checks and records the words that lane `lane` of a copy reads or writes.
void Racecheck::touch(CurrentAccess& h, int lane, std::uint64_t address, std::uint32_t n_bytes, bool writes) {
  h.reads = !writes;
  h.writes = writes;
  h.shadow = shadow_of(h.b, place_of(address));
  const std::uint64_t first = address - h.shadow.base;
  if (first >= h.shadow.bytes || first + n_bytes > h.shadow.bytes) return;
  if (!h.shadow.shared) {
    if (writes) old_values_.forget(address, n_bytes);
    const Cell marker = (next() - 1) << kLaneBits | kLaneMask;
    for (std::uint64_t line = first / kLineBytes; line <= (first + n_bytes - 1) / kLineBytes; ++line)
      open_line(h, line, marker);
  }
  by_word(h, lane, first, n_bytes);
}

// Gives the copies of a flight a new record and checks their accesses.
void Racecheck::fly(Block& block, Flight& flight) {
  BlockState& b = state(block);
  const CopyBatch& batch = flight.batch;
  Warp& w = block.warps[batch.warp];
  flight.id = records_.add({b.number, batch.op->index, flight.lanes,
                            static_cast<std::uint16_t>(batch.warp | kFlying), Record::access});
  LaneAccess a;
  a.mask = flight.lanes;
  a.bytes = 4;
  CurrentAccess h{w, *batch.op, b, b.warps[batch.warp], a, records_, {}, flight.id, false, false, false};
  for (const int i : EachLane{flight.lanes}) {
    if (batch.read[i] != 0) touch(h, i, batch.from[i], batch.read[i], false);
    touch(h, i, batch.to[i], batch.bytes[i], true);
  }
}

void Racecheck::copies_issued(Warp& w, const CopyBatch& batch) {
  BlockState& b = state(*w.block);
  b.flights.push_back({batch, batch.lanes, 0});
  fly(*w.block, b.flights.back());
}

void Racecheck::copies_finished(Block& block, const CopyBatch& batch, std::uint32_t lanes,
                                std::uint64_t barrier) {
  BlockState& b = state(block);
  const auto flight =
      std::ranges::find_if(b.flights, [&](const Flight& f) { return f.batch.serial == batch.serial; });
  if (flight == b.flights.end()) return;
  flight->lanes &= ~lanes;
  Record& r = records_[flight->id];
  r.lanes &= ~lanes;
  if (barrier == 0) {
    if (r.lanes == 0) r.warp = author(r);
  } else {
    r.warp |= kByBarrier;
    BlockClock news;
    news.add({batch.warp | kByBarrier, lanes, flight->id + 1});
    b.gates[barrier].current.add(b.number, news);
  }
  if (flight->lanes == 0) b.flights.erase(flight);
}

// Called after a barrier of the whole block.
void Racecheck::renew_flights(Block& block) {
  for (Flight& flight : state(block).flights) {
    records_[flight.id].lanes = 0;
    fly(block, flight);
  }
}

// --- mbarriers ---------------------------------------------------------------------------------------------

void Racecheck::mbarrier_arrived(Warp& w, int lane, std::uint64_t address) {
  BlockState& b = state(*w.block);
  WarpState& ws = b.warps[w.number];
  const Publication now{next(), ws.bound, b.bound, ws.of(lane).known};
  now.add_to(b.gates[address].current, b.number, w.number, 1u << lane);
  ws.fresh = next();
}

void Racecheck::mbarrier_ended(Block& block, std::uint64_t address) {
  Gate& gate = state(block).gates[address];
  gate.done.join(gate.current);
  gate.current = VectorClock{};
}

void Racecheck::mbarrier_passed(Warp& w, int lane, std::uint64_t address) {
  BlockState& b = state(*w.block);
  const auto gate = b.gates.find(address);
  if (gate == b.gates.end() || gate->second.done.empty()) return;
  b.clocks_of(w, lane).known.join(gate->second.done);
}

}  // namespace course::sim::race
