// SPDX-License-Identifier: MIT
// Shortcuts for lanes with a regular pattern of addresses. They check all lanes together where the result is
// the same as lane by lane.
//   run_of_lanes   adjacent words; the cells are old or were left by one earlier access of the same shape
//   in_pieces      adjacent words; the cells were left by several accesses, as for a neighbour's s[i - 1]
//   run_with_gaps  adjacent words, but some lanes are missing; the cells are old or the lanes' own
#include <algorithm>
#include <bit>

#include "sim/checkers/racecheck/racecheck.hpp"

namespace course::sim {

// Checks adjacent lanes all at once. Returns false, without having changed anything, if that is not possible.
bool Racecheck::run_of_lanes(CurrentAccess& h) {
  const std::uint32_t words = h.a.bytes / 4, n = h.a.count * words;
  if (words == 0) return false;
  const std::uint64_t offset = h.a.start() - h.shadow.base;
  if (offset >= h.shadow.bytes || offset + std::uint64_t{n} * 4 > h.shadow.bytes) return false;
  Cell* const written = h.shadow.written + offset / 4;
  Cell* const read = h.shadow.read + offset / 4;
  const Cell limit = h.shadow.bound << kLaneBits, mine = h.id << kLaneBits | h.a.first;
  const Cell first_written = written[0];
  const lanes::Found found = lanes::meet(written, read, n, words, limit, mine, h.writes);
  if (found.done) return true;
  if (!found.written_below) {
    if (h.writes && h.strong) return false;  // it must not hide a weak write
    if (!run_ordered(h, written, n, words)) return false;
  }
  const auto note_all = [&] {
    if (found.written_below) return;
    for (std::uint32_t k = 0; k < n; ++k)
      note_replaced(h, offset / 4 + k, (first_written & ~kLaneMask) | (h.a.first + k / words));
  };
  const Cell first = read[0];
  const bool read_ordered = found.read_below || (found.read_counting && (first & kLaneMask) == h.a.first &&
                                                 first >> kLaneBits >= h.shadow.floor &&
                                                 ordered_alike(h, first >> kLaneBits, true));
  if (h.writes) {
    if (!read_ordered) return false;
    note_all();
    lanes::set_counting(written, n, words, mine);
    return true;
  }
  if (read_ordered) {
    if (first != mine || found.read_below) lanes::set_counting(read, n, words, mine);
    return true;
  }
  if (!found.read_counting || (first & kLaneMask) != h.a.first) return false;
  lanes::set_counting(read, n, words, with_reader(h, first, static_cast<int>(h.a.first), 0));
  return true;
}

// Whether the cells name one earlier access of the same shape that is ordered before this one for every lane.
bool Racecheck::run_ordered(const CurrentAccess& h, const Cell* cells, std::uint32_t n,
                            std::uint32_t words) const {
  const Cell first = cells[0];
  const RecordId id = first >> kLaneBits;
  return (first & kLaneMask) == h.a.first && id >= h.shadow.floor &&
         lanes::all_counting(cells, n, words, first) && ordered_alike(h, id, true);
}

// Whether the access `id` (or all accesses of a set of readers) is ordered before this one for every pair of
// lanes; `same_lanes`: only for each lane with itself. Considers only barriers and program order.
bool Racecheck::ordered_alike(const CurrentAccess& h, RecordId id, bool same_lanes) const {
  const auto before = [&](RecordId i, bool same_lane) {
    const Record& r = record(i);
    if (r.kind != Record::access || r.block != h.b.number) return false;
    return i < h.b.bound || (r.warp == h.w.number && (same_lane || i < h.ws.bound));
  };
  const Record& r = record(id);
  if (r.kind != Record::readers) return before(id, same_lanes);
  const auto all = readers(r);
  return std::all_of(all.begin(), all.end(), [&](const Reader& reader) {
    return before(reader.record, same_lanes && reader.lanes == 0 && reader.offset == 0);
  });
}

// For adjacent lanes with one word each. A piece is a sequence of cells that count up from one to the next.
// Such cells name one earlier access (or set of readers) whose lanes have a fixed distance from the present
// lanes, so what holds for the first cell holds for the whole piece. Pieces for which this is not clear are
// checked lane by lane. Returns false, without having changed anything, if the access does not qualify.
bool Racecheck::in_pieces(CurrentAccess& h) {
  const std::uint32_t n = h.a.count;
  const std::uint64_t offset = h.a.start() - h.shadow.base;
  if (h.a.bytes != 4 || n < 2 || h.ws.split || !h.ws.whole.known.empty() || (h.writes && h.strong))
    return false;
  if (offset >= h.shadow.bytes || offset + std::uint64_t{n} * 4 > h.shadow.bytes) return false;
  Cell* const written = h.shadow.written + offset / 4;
  Cell* const read = h.shadow.read + offset / 4;
  const Cell limit = h.shadow.bound << kLaneBits;
  const auto length = [&](const Cell* cells, std::uint32_t from, std::uint32_t end) {
    const Cell first = cells[from];
    std::uint32_t k = from + 1;
    if (first < limit)
      while (k < end && cells[k] < limit) ++k;
    else
      while (k < end && cells[k] == first + (k - from) && (cells[k] & kLaneMask) != 0) ++k;
    return k;
  };
  for (std::uint32_t from = 0; from < n;) {
    const std::uint32_t end = length(read, from, length(written, from, n));
    const std::uint32_t lane = h.a.first + from;
    const Cell mine = h.id << kLaneBits | lane;
    const Before writes = piece_before(h, written[from], lane), reads = piece_before(h, read[from], lane);
    if (writes == Before::yes && reads == Before::yes) {
      if (h.writes && written[from] >= limit)
        for (std::uint32_t k = from; k < end; ++k) note_replaced(h, offset / 4 + k, written[k]);
      lanes::set_counting((h.writes ? written : read) + from, end - from, 1, mine);
    } else if (writes == Before::yes && reads == Before::no && !h.writes) {
      lanes::set_counting(read + from, end - from, 1, with_reader(h, read[from], static_cast<int>(lane), 0));
    } else {
      for (std::uint32_t k = from; k < end; ++k) this->lane(h, static_cast<int>(h.a.first + k));
    }
    from = end;
  }
  return true;
}

// Whether what a cell names is ordered before this access, for lane `lane` and for all other lanes of the
// piece. Only for warps that know nothing beyond barriers and program order.
Racecheck::Before Racecheck::piece_before(const CurrentAccess& h, Cell cell, std::uint32_t lane) const {
  const RecordId id = cell >> kLaneBits;
  if (id < h.shadow.bound) return Before::yes;
  const auto before = [&](RecordId i, bool same_lane) {
    if (i < h.shadow.floor) return Before::yes;
    const Record& r = record(i);
    if (r.kind != Record::access || (r.warp & kFlying) != 0) return Before::unclear;
    if (r.block != h.b.number) return Before::no;
    return i < h.b.bound || (r.warp == h.w.number && (same_lane || i < h.ws.bound)) ? Before::yes
                                                                                    : Before::no;
  };
  const Record& r = record(id);
  const std::uint32_t tag = cell & kLaneMask;
  if (r.kind != Record::readers) return before(id, tag == lane);
  Before all = Before::yes;
  for (const Reader& reader : readers(r)) {
    const Before one =
        before(reader.record, reader.lanes == 0 && ((tag + reader.offset) & kLaneMask) == lane);
    if (one == Before::unclear || (one == Before::no && reader.lanes != 0)) return Before::unclear;
    if (one == Before::no) all = Before::no;
  }
  return all;
}

// Whether this lane left the cell, in this block.
bool Racecheck::is_own(const CurrentAccess& h, Cell cell, std::uint32_t lane) const {
  const RecordId id = cell >> kLaneBits;
  if ((cell & kLaneMask) != lane || id < h.b.first || id < h.shadow.floor) return false;
  const Record& r = record(id);
  return r.kind == Record::access && r.block == h.b.number && r.warp == h.w.number;
}

// For lanes with one word each that would be adjacent if no lanes were missing. Returns false, without having
// changed anything, if a cell is neither old nor the lane's own.
bool Racecheck::run_with_gaps(CurrentAccess& h, std::uint32_t lanes) {
  const std::uint64_t offset = h.a.start() - h.shadow.base;
  if (!h.a.in_step || h.a.first != 0 || lanes != h.a.mask || offset % 4 != 0 || offset >= h.shadow.bytes ||
      offset + 4 * std::uint64_t{kLanes} > h.shadow.bytes)
    return false;
  Cell* const written = h.shadow.written + offset / 4;
  Cell* const read = h.shadow.read + offset / 4;
  const Cell limit = h.shadow.bound << kLaneBits;
  const auto own = [&](Cell cell) { return cell >= limit && is_own(h, cell, 0) ? cell : 0; };
  const Cell own_written = h.writes && h.strong ? 0 : own(*written);  // it must not hide a weak write
  if (h.writes && own_written != 0)
    for (std::uint32_t m = lanes; m != 0; m &= m - 1)
      if (const Cell there = written[std::countr_zero(m)]; there >= limit)
        note_replaced(h, offset / 4 + static_cast<std::uint32_t>(std::countr_zero(m)), there);
  return lanes::meet_with_gaps(written, read, h.w.lane_mask, limit, own_written, own(*read),
                               h.id << kLaneBits, h.writes);
}

}  // namespace course::sim
