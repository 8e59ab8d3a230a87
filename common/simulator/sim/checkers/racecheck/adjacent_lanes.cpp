// SPDX-License-Identifier: MIT
// A shortcut for adjacent lanes with adjacent words, if the cells are old or were left by one earlier access
// of the same shape. It checks all lanes together where the result is the same as lane by lane.

#include "sim/checkers/racecheck/racecheck.hpp"

namespace course::sim::race {

// Checks adjacent lanes all at once. Returns false, without having changed anything, if that is not possible.
bool Racecheck::adjacent_lanes(CurrentAccess& h) {
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
    const RecordId id = first_written >> kLaneBits;
    if ((first_written & kLaneMask) != h.a.first || id < h.shadow.floor ||
        !lanes::all_counting(written, n, words, first_written) || !h.is_after_in_all_lanes(id, true))
      return false;
  }
  const auto note_all = [&] {
    if (found.written_below) return;
    for (std::uint32_t k = 0; k < n; ++k)
      note_replaced(h, offset / 4 + k, (first_written & ~kLaneMask) | (h.a.first + k / words));
  };
  const Cell first = read[0];
  const bool read_ordered = found.read_below || (found.read_counting && (first & kLaneMask) == h.a.first &&
                                                 first >> kLaneBits >= h.shadow.floor &&
                                                 h.is_after_in_all_lanes(first >> kLaneBits, true));
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

}  // namespace course::sim::race
