// SPDX-License-Identifier: MIT
// The access records of a launch, and the sets of readers: what the cells of shadow memory name.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/checkers/racecheck/vector_clock.hpp"
#include "sim/checkers/reserve.hpp"

namespace course::sim::race {

using Cell = std::uint32_t;  // record << 5 | lane; 0: empty
inline constexpr std::uint32_t kLaneBits = 5, kLaneMask = 31, kNobody = ~0u;

// What the cell of a word names: one access, a set of readers, several reads that are kept as one (many), or
// that each byte of the word has a cell of its own (bytes).
struct Record {
  // many: reads up to this one by any lanes of the warp, of the block (kNoWarp) or of the grid (kNobody).
  enum Kind : std::uint16_t { access, readers, bytes, many };
  std::uint32_t block;  // of the grid
  std::uint32_t op;     // index of the op; readers: index of the first one
  std::uint32_t lanes;  // that ran it together; readers: their number; copies: lanes still under way
  std::uint16_t warp;   // copies: with kFlying
  Kind kind;
};

// Flags in Record::warp. kFlying: an asynchronous copy that may be under way. kByBarrier: an mbarrier
// counts it.
inline constexpr std::uint16_t kFlying = 1 << 15, kByBarrier = 1 << 14, kNoWarp = kByBarrier - 1;
inline bool is_flying(const Record& r, std::uint32_t lane) {
  return r.kind == Record::access && (r.warp & kFlying) != 0 && (r.lanes >> lane & 1) != 0;
}
// The warp that made the access. A copy that an mbarrier counts has a number that is no warp's, since no
// thread made it.
inline std::uint16_t author(const Record& r) {
  return static_cast<std::uint16_t>(r.warp & ~kFlying);
}
inline std::uint32_t warp_of(const Record& r) {
  return author(r) & ~std::uint32_t{kByBarrier};
}

// Accesses of one cell that are not ordered among each other: reads, or a weak write and strong writes
// after it.
struct Reader {
  RecordId record;
  std::uint32_t lanes;   // 0: one lane, namely the cell's lane + `offset`
  std::uint32_t offset;  // modulo 32
  bool operator==(const Reader&) const = default;
};

class AccessRecords {
 public:
  // Record numbers that fit in a cell; a launch that needs more ends with a fault. Tests make it smaller.
  inline static RecordId most = RecordId{1} << (sizeof(void*) == 4 ? 16 : 27);  // as memory allows

  AccessRecords();
  // Numbers go on from launch to launch. Returns whether they had to begin anew: then old cells must go.
  bool launch_begins();
  RecordId first() const { return base_; }  // of this launch
  RecordId next() const { return base_ + static_cast<RecordId>(log_.size()); }
  const Record& operator[](RecordId id) const { return log_[id - base_]; }
  Record& operator[](RecordId id) { return log_[id - base_]; }
  std::span<const Record> all() const { return log_.all(); }
  // Calls `each(record, lane)` for every access that a cell names, until one call returns true.
  template <typename Each>
  bool any_of(Cell cell, const Each& each) const {
    const RecordId id = cell >> kLaneBits;
    const std::uint32_t lane = cell & kLaneMask;
    if ((*this)[id].kind != Record::readers) return each(id, lane);
    for (const Reader& r : readers((*this)[id])) {
      if (r.lanes == 0) {
        if (each(r.record, (lane + r.offset) & kLaneMask)) return true;
      } else {
        for (std::uint32_t m = r.lanes; m != 0; m &= m - 1)
          if (each(r.record, static_cast<std::uint32_t>(std::countr_zero(m)))) return true;
      }
    }
    return false;
  }
  std::span<const Reader> readers(const Record& r) const { return readers_.all().subspan(r.op, r.lanes); }
  RecordId add(const Record& r);
  // The set `from` (a record, or 0) with one more reader. `lane`: the reader's, if it is one lane.
  RecordId with(RecordId from, const Reader& reader, int lane);

 private:
  static constexpr std::uint32_t kMaxReaders = 32;  // as warps in a block; further ones are not remembered
  struct Step {
    RecordId from = 0;
    Reader reader{};
    RecordId to = 0;
  };
  Log<Record> log_{most};
  RecordId base_ = 1;  // number of the first record
  Log<Reader> readers_{std::size_t{kMaxReaders} * most};
  std::vector<Step> steps_;  // a direct-mapped cache: from a set and a reader to the larger set
};

}  // namespace course::sim::race
