// SPDX-License-Identifier: MIT
// The cells of global memory. (Those of shared memory are in BlockState.) Each 4 bytes of memory have two
// cells, one for the last write and one for the reads since then; a line of 32 words has two, too, which
// count until it is opened (whole_lines.cpp); and bytes that are accessed alone have two each.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sim/checkers/racecheck/current_access.hpp"
#include "sim/checkers/reserve.hpp"

namespace course::sim::race {

inline constexpr std::uint64_t kLineBytes = 128;
inline constexpr std::uint32_t kLineWords = 32;
// In place of a lane, in the cells of a line: the line is open, or marked as read.
inline constexpr std::uint32_t kOpen = 31, kMarked = 30;

// Whether the lanes access only lines, and not too many to look at, of which the cells for writes are old.
inline bool nothing_written(const CurrentAccess& h, Cell limit) {
  if (!h.a.is_within(h.shadow.base, h.shadow.bytes)) return false;
  const std::uint64_t first = (h.a.low - h.shadow.base) / kLineBytes,
                      last = (h.a.end - 1 - h.shadow.base) / kLineBytes;
  return last - first < kLanes && std::all_of(h.shadow.line_written + first, h.shadow.line_written + last + 1,
                                              [&](Cell cell) { return cell < limit; });
}

class ShadowMemory {
 public:
  explicit ShadowMemory(const Arena& arena)
      : arena_(arena),
        written_(arena.size() / 4),
        read_(arena.size() / 4),
        line_written_(arena.size() / kLineBytes + 1),
        line_read_(arena.size() / kLineBytes + 1) {}
  void clear();
  // Old cells mean nothing, so those at both ends may stay.
  void release(std::uint64_t address, std::uint64_t n_bytes);
  Shadow cells(RecordId floor, RecordId bound) {
    return {written_.data(),
            read_.data(),
            line_written_.data(),
            line_read_.data(),
            arena_.base(),
            arena_.size(),
            floor,
            bound,
            false};
  }
  // The cells for the bytes of a word: 4 for writes, then 4 for reads.
  Cell* bytes_of(std::uint64_t word);

  // Whether this launch has written or read a line or a word.
  struct Traces {
    bool written, read;
  };
  bool has_touched(std::uint64_t line, const AccessRecords& records) const;
  Traces traces(std::uint64_t line, std::uint64_t word, const AccessRecords& records) const;

 private:
  static constexpr std::uint64_t kPage = 4096;  // bytes whose byte cells are allocated together

  const Arena& arena_;
  Reserved<Cell> written_, read_;            // by word
  Reserved<Cell> line_written_, line_read_;  // by line
  std::unordered_map<std::uint64_t, std::vector<Cell>> byte_pages_;
};

}  // namespace course::sim::race
