// SPDX-License-Identifier: MIT
// Whole lines of global memory: 32 aligned words. If a warp accesses whole lines at once, 1, 2 or 4 words per
// lane, each line needs only one pair of cells. Instead of a lane, such a cell names a pattern: how many
// words each lane has, and which lane has the first word.
// Any other access opens the line: from then on each of its words has its own cells, until the line has not
// been accessed for so long that all its cells are old. The line's cell for writes is then a marker that is
// renewed at each access; once the marker is old, all cells of the line are old.
// With Care::lines, weak reads of other kinds only mark a line that the launch has not written; with
// Care::readers, only those of data that no thread should write do.
#include <algorithm>

#include "sim/checkers/racecheck/racecheck.hpp"

namespace course::sim::race {
namespace {

// The pattern of line k of an access by 32 lanes with `words` words each: 0 for 1 word; 1, 2 for 2 words; 3,
// 4, 5, 6 for 4 words.
constexpr std::uint32_t pattern_of(std::uint32_t words, std::uint32_t k) {
  return words - 1 + k;
}
constexpr std::uint32_t words_of(std::uint32_t pattern) {
  return pattern == 0 ? 1 : pattern < 3 ? 2 : 4;
}
constexpr std::uint32_t first_lane_of(std::uint32_t pattern) {
  const std::uint32_t words = words_of(pattern);
  return (pattern + 1 - words) * kLineWords / words;
}
static_assert(pattern_of(1, 0) == 0 && pattern_of(2, 1) == 2 && pattern_of(4, 0) == 3 &&
              pattern_of(4, 3) == 6);
static_assert(words_of(2) == 2 && first_lane_of(2) == 16 && words_of(6) == 4 && first_lane_of(6) == 24);

// Whether the accesses that a line's cell names are ordered before this access for every lane.
bool is_line_ordered(const CurrentAccess& h, Cell cell, std::uint32_t pattern) {
  const std::uint32_t there = cell & kLaneMask;
  return there != kOpen && there != kMarked && h.is_after_in_all_lanes(cell >> kLaneBits, there == pattern);
}

}  // namespace

// Returns false, without having changed anything, if the words must be checked one by one.
bool Racecheck::whole_lines(CurrentAccess& h) {
  const std::uint32_t words = h.a.bytes / 4;
  const std::uint64_t offset = h.a.start() - std::uint64_t{h.a.first} * h.a.bytes - h.shadow.base;
  const bool may_lack_lanes = care_ == Care::lines && !h.writes && !h.strong;
  if ((h.a.mask != kAllLanes && !may_lack_lanes) || words == 0 || offset % kLineBytes != 0 ||
      offset >= h.shadow.bytes || offset + std::uint64_t{kLanes} * h.a.bytes > h.shadow.bytes)
    return false;
  Cell* const written = h.shadow.line_written + offset / kLineBytes;
  Cell* const read = h.shadow.line_read + offset / kLineBytes;
  const Cell limit = h.shadow.bound << kLaneBits, mine = h.id << kLaneBits;
  for (std::uint32_t k = 0; k < words; ++k) {
    const std::uint32_t pattern = pattern_of(words, k);
    if (written[k] >= limit && ((h.writes && h.strong) || !is_line_ordered(h, written[k], pattern)))
      return false;
    if (read[k] >= limit && (h.writes || (read[k] & kLaneMask) != pattern) &&
        !is_line_ordered(h, read[k], pattern))
      return false;
  }
  for (std::uint32_t k = 0; k < words; ++k) {
    const std::uint32_t pattern = pattern_of(words, k);
    if ((written[k] & kLaneMask) == kOpen) {  // and old, since otherwise it would not be ordered
      written[k] = 0;
      read[k] = 0;
    }
    if (h.writes && written[k] >= limit) {
      const std::uint32_t there = written[k] & kLaneMask;
      for (std::uint32_t word = 0; word < kLineWords; ++word)
        note_replaced(h, (offset / kLineBytes + k) * kLineWords + word,
                      (written[k] & ~kLaneMask) | (first_lane_of(there) + word / words_of(there)));
    }
    if (h.writes)
      written[k] = mine | pattern;
    else if (read[k] < limit || is_line_ordered(h, read[k], pattern))
      read[k] = mine | pattern;
    else if (read[k] != (mine | pattern))
      read[k] = (with_reader(h, read[k] & ~kLaneMask, 0, 0) & ~kLaneMask) | pattern;
  }
  return true;
}

// Marks lines as read. Returns the lanes for which that is enough.
std::uint32_t Racecheck::mark_lines(const CurrentAccess& h, std::uint32_t lanes) {
  const bool may = care_ == Care::lines || (care_ == Care::readers && (h.op.order & kNonCoherent) != 0);
  if (!may || h.writes || h.strong) return 0;
  const Cell limit = h.shadow.bound << kLaneBits, mine = h.id << kLaneBits | kMarked;
  if (h.a.end - h.a.low <= kLineBytes && nothing_written(h, limit)) {
    h.shadow.line_read[(h.a.low - h.shadow.base) / kLineBytes] = mine;
    h.shadow.line_read[(h.a.end - 1 - h.shadow.base) / kLineBytes] = mine;
    return lanes;
  }
  std::uint32_t marked = 0;
  std::uint64_t last = ~std::uint64_t{0};
  for (const int lane : EachLane{lanes}) {
    const std::uint64_t offset = h.a.at(lane) - h.shadow.base, line = offset / kLineBytes;
    if (line != last) {
      if (!h.is_inside(offset) || h.shadow.line_written[line] >= limit) continue;
      h.shadow.line_read[line] = mine;
      last = line;
    }
    marked |= 1u << lane;
  }
  return marked;
}

// Opens the lines that `lanes` access, and renews their markers.
void Racecheck::open_lines(CurrentAccess& h, std::uint32_t lanes) {
  const Cell marker = (next() - 1) << kLaneBits | kOpen;
  std::uint64_t last = ~std::uint64_t{0};
  for (const int lane : EachLane{lanes}) {
    const std::uint64_t offset = h.a.at(lane) - h.shadow.base, line = offset / kLineBytes;
    if (line == last || !h.is_inside(offset)) continue;
    last = line;
    open_line(h, line, marker);
  }
}

void Racecheck::open_line(const CurrentAccess& h, std::uint64_t line, Cell marker) {
  const Cell limit = h.shadow.bound << kLaneBits;
  Cell& written = h.shadow.line_written[line];
  Cell& read = h.shadow.line_read[line];
  if (written < limit || (written & kLaneMask) != kOpen) {
    const auto fill = [&](Cell* cells, Cell cell) {
      if (cell < limit || (cell & kLaneMask) == kOpen) {
        std::fill_n(cells, kLineWords, 0);
        return;
      }
      const std::uint32_t pattern = cell & kLaneMask, words = words_of(pattern);
      if (pattern == kMarked) doubt();
      lanes::set_counting(cells, kLineWords, words, (cell & ~kLaneMask) | first_lane_of(pattern));
    };
    fill(h.shadow.written + line * kLineWords, written);
    fill(h.shadow.read + line * kLineWords, read);
  }
  written = marker;
  read = 0;
}

}  // namespace course::sim::race
