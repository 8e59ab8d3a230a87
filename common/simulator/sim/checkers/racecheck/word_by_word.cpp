// SPDX-License-Identifier: MIT
// Checks and records accesses word by word, for each lane. Reading order: by_lane; cell; check; with_reader.
#include <algorithm>
#include <bit>

#include "sim/checkers/racecheck/memory_model.hpp"
#include "sim/checkers/racecheck/racecheck.hpp"

namespace course::sim::race {
namespace {

constexpr std::size_t kMaxReplaced = std::size_t{1} << 16;  // a limit for reasons only

bool has_weak(const CurrentAccess& h, Cell written) {
  return h.records.any_of(written, [&](RecordId id, std::uint32_t) { return !is_strong(h.op_of(id)); });
}

// The cell's weak access alone, which came first, without the strong ones that were added to it.
Cell weak_part(const CurrentAccess& h, Cell written) {
  const Record& r = h.record(written >> kLaneBits);
  return r.kind == Record::readers ? h.records.readers(r)[0].record << kLaneBits | (written & kLaneMask)
                                   : written;
}

}  // namespace

// One word per lane, with any pattern of addresses. Fast for lanes whose cells are old or were left by the
// same lane; the other lanes are checked one by one.
void Racecheck::one_word_each(CurrentAccess& h, std::uint32_t lanes) {
  const Cell limit = h.shadow.bound << kLaneBits, mine = h.id << kLaneBits;
  const std::uint64_t size = h.shadow.bytes;
  const bool keeps_weak = h.writes && h.strong;
  RecordId own_record = h.id;  // the last record that was found to be of this warp
  const auto own = [&](Cell cell, std::uint32_t lane) {
    if (cell >> kLaneBits == own_record) return (cell & kLaneMask) == lane;
    if (!h.left(cell, lane)) return false;
    own_record = cell >> kLaneBits;
    return true;
  };
  for (std::uint32_t m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(m));
    const std::uint64_t offset = h.a.at(static_cast<int>(lane)) - h.shadow.base;
    if (offset >= size || (offset & 3) != 0) continue;  // a fault follows
    Cell& written = h.shadow.written[offset / 4];
    Cell& read = h.shadow.read[offset / 4];
    if ((written >= limit && (keeps_weak || !own(written, lane))) || (read >= limit && !own(read, lane)))
      this->lane(h, static_cast<int>(lane));
    else {
      if (h.writes && written >= limit) note_replaced(h, offset / 4, written);
      (h.writes ? written : read) = mine | lane;
    }
  }
}

// Atomics with any pattern of addresses, such as the counts of a histogram. Fast for words that the same op
// changed last: it may meet itself, and it hides no weak write.
void Racecheck::one_atomic_each(CurrentAccess& h, std::uint32_t lanes) {
  const Cell limit = h.shadow.bound << kLaneBits, mine = h.id << kLaneBits;
  const std::size_t n_words = h.a.bytes / 4;
  const bool everywhere = reaches_device(h.op);
  const auto by_this_op = [&](Cell cell) {
    const Record& r = record(cell >> kLaneBits);
    return r.kind == Record::access && r.op == h.op.index && (everywhere || r.block == h.b.number);
  };
  for (std::uint32_t m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(m));
    const std::uint64_t offset = h.a.at(static_cast<int>(lane)) - h.shadow.base;
    if (!h.is_inside(offset)) continue;
    Cell *const written = &h.shadow.written[offset / 4], *const read = &h.shadow.read[offset / 4];
    bool ordered_before = true;
    for (std::size_t k = 0; k < n_words; ++k)
      ordered_before = ordered_before && (written[k] < limit || by_this_op(written[k])) && read[k] < limit;
    if (ordered_before)
      std::fill_n(written, n_words, mine | lane);
    else
      this->lane(h, static_cast<int>(lane));
  }
}

void Racecheck::by_lane(CurrentAccess& h, std::uint32_t lanes) {
  const std::uint64_t n = h.a.bytes, offset = h.a.at(std::countr_zero(lanes)) - h.shadow.base;
  if (h.reads && (lanes & (lanes - 1)) != 0 && h.a.same) {
    for (std::uint64_t k = 0; h.is_inside(offset) && k < n; k += 4)
      broadcast(h, lanes, offset + k, static_cast<std::uint32_t>(std::min<std::uint64_t>(n, 4)));
    return;
  }
  const bool atomic = h.op.kind == OpKind::atomic && n >= 4;
  if (shortcuts_ && (n == 4 || atomic)) return atomic ? one_atomic_each(h, lanes) : one_word_each(h, lanes);
  for (std::uint32_t m = lanes; m != 0; m &= m - 1) lane(h, std::countr_zero(m));
}

void Racecheck::lane(CurrentAccess& h, int lane) {
  const std::uint64_t offset = h.a.at(lane) - h.shadow.base;
  if (h.is_inside(offset)) by_word(h, lane, offset, h.a.bytes);
}

void Racecheck::by_word(CurrentAccess& h, int lane, std::uint64_t offset, std::uint32_t n_bytes) {
  for (const std::uint64_t end = offset + n_bytes; offset < end; offset += 4) {
    const auto n = static_cast<std::uint32_t>(std::min<std::uint64_t>(end - offset, 4));
    const std::uint64_t word = offset / 4;
    if (n < 4 || h.is_bytes(h.shadow.written[word]))
      bytes(h, lane, offset, n);
    else
      cell(h, lane, offset, h.shadow.written[word], h.shadow.read[word]);
  }
}

// Checks and records one lane's access to the memory that one pair of cells stands for.
void Racecheck::cell(CurrentAccess& h, int lane, std::uint64_t offset, Cell& written, Cell& read) {
  const Cell limit = h.shadow.bound << kLaneBits;
  const Cell mine = h.id << kLaneBits | static_cast<Cell>(lane);
  if (written >= limit && written != mine) check(h, lane, offset, written, true);
  if (h.writes) {
    if (read >= limit) check(h, lane, offset, read, false);
    if (written >= limit) note_replaced(h, offset / 4, written);
    // A strong write may be unordered with other strong accesses, but it must not hide a weak write. The
    // strong writes before it need not be remembered: an atomic has observed them, so whatever is ordered
    // after the atomic is ordered after them, too (PTX ISA, 8.9.5, causality order).
    written = h.strong && written >= limit && has_weak(h, written)
                  ? with_reader(h, weak_part(h, written), lane, 0)
                  : mine;
  } else if (read != mine) {
    read = read < limit || h.is_after_all(read, lane) ? mine : with_reader(h, read, lane, 0);
  }
}

// Several lanes read the same word, or the same bytes of a word.
void Racecheck::broadcast(CurrentAccess& h, std::uint32_t lanes, std::uint64_t offset, std::uint32_t n) {
  const std::uint64_t word = offset / 4;
  if (n == 4 && !h.is_bytes(h.shadow.written[word]))
    return broadcast_cell(h, lanes, offset, h.shadow.written[word], h.shadow.read[word]);
  Cell* const cells = open_bytes(h, word);
  for (std::uint64_t k = offset % 4; k < offset % 4 + n; ++k)
    broadcast_cell(h, lanes, word * 4 + k, cells[k], cells[4 + k]);
}

void Racecheck::broadcast_cell(CurrentAccess& h, std::uint32_t lanes, std::uint64_t offset, Cell written,
                               Cell& read) {
  const Cell limit = h.shadow.bound << kLaneBits;
  bool fresh = read < limit;
  if (written >= limit)
    for (const int lane : EachLane{lanes}) check(h, lane, offset, written, true);
  if (!fresh) {
    fresh = true;
    for (std::uint32_t m = lanes; m != 0 && fresh; m &= m - 1)
      fresh = h.is_after_all(read, std::countr_zero(m));
  }
  read = with_reader(h, fresh ? 0 : read, 0, lanes);
}

// The cells for the bytes of a word: 4 for writes, 4 for reads.
Cell* Racecheck::bytes_of(CurrentAccess& h, std::uint64_t word) {
  if (!h.shadow.shared) return shadow_.bytes_of(word);
  if (h.b.bytes.size() < h.b.written.size() * 8) h.b.bytes.resize(h.b.written.size() * 8);
  return h.b.bytes.data() + word * 8;
}

// The byte cells of a word. Creates them if the word has none.
Cell* Racecheck::open_bytes(CurrentAccess& h, std::uint64_t word) {
  Cell& written = h.shadow.written[word];
  Cell& read = h.shadow.read[word];
  Cell* const cells = bytes_of(h, word);  // 4 for writes, 4 for reads
  if (!h.is_bytes(written)) {
    const Cell limit = h.shadow.bound << kLaneBits;
    std::fill_n(cells, 4, written < limit ? 0 : written);
    std::fill_n(cells + 4, 4, read < limit ? 0 : read);
    read = 0;
  }
  // The marker is renewed at each access, so that it is never older than the cells that it stands for.
  written = record_of(h.ws, h.w, h.b, kNobody, Record::bytes) << kLaneBits;
  return cells;
}

void Racecheck::bytes(CurrentAccess& h, int lane, std::uint64_t offset, std::uint32_t n) {
  const std::uint64_t word = offset / 4;
  Cell* const cells = open_bytes(h, word);
  for (std::uint64_t k = offset % 4; k < offset % 4 + n; ++k)
    cell(h, lane, word * 4 + k, cells[k], cells[4 + k]);
}

// Reports the first access named by the cell that nothing orders before this one.
void Racecheck::check(CurrentAccess& h, int lane, std::uint64_t offset, Cell cell, bool old_writes) {
  if (cell >> kLaneBits < h.shadow.floor) return;
  // Whether two strong accesses may be unordered is the same for all lanes of a record and cheaper to find
  // out than whether they are ordered. This matters when hundreds of threads wait at an mbarrier, since all
  // of them are its readers.
  RecordId harmless = 0;
  records_.any_of(cell, [&](RecordId id, std::uint32_t other_lane) {
    if (record(id).kind == Record::many && !h.is_after(id, other_lane, lane)) doubt();
    if (h.strong && (id == harmless || may_be_unordered(h, id, lane))) {
      harmless = id;
      return false;
    }
    if (h.is_after(id, other_lane, lane) || (!h.strong && may_be_unordered(h, id, lane))) return false;
    report({h, lane, offset, id, other_lane, old_writes});
    return true;
  });
}

// Remembers that this access replaces what an earlier weak write of the launch left in a word: a thread that
// knows of the earlier write may still be reading it.
void Racecheck::note_replaced(const CurrentAccess& h, std::uint64_t word, Cell written) {
  if (h.shadow.shared || h.strong || !sync_.orders_global() || replaced_.size() >= kMaxReplaced) return;
  if (record(written >> kLaneBits).kind == Record::access) replaced_[word] = written;
}

// Whether two accesses may be unordered without being a race: strong ones, and a load whose value a swap
// compares, with any atomic: if it changes the value, the swap fails.
bool Racecheck::may_be_unordered(const CurrentAccess& h, RecordId id, int lane) const {
  const Record& r = record(id);
  const MicroOp& other = program_->ops[r.op];
  if ((h.op.kind == OpKind::atomic && swap_loads_.contains(r.op)) ||
      (other.kind == OpKind::atomic && swap_loads_.contains(h.op.index)))
    return true;
  if (!h.strong || !is_strong(other)) return false;
  if (overlap_partly(h.op, other, r.block == h.b.number)) return false;
  if (r.block != h.b.number) return reaches_device(h.op) && reaches_device(other);
  return r.warp != h.w.number || !h.needs_step_with(id, lane);
}

// The cell with one more reader: lane `lane`, or all of `lanes`.
Cell Racecheck::with_reader(CurrentAccess& h, Cell cell, int lane, std::uint32_t lanes) {
  if (care_ != Care::everything && !h.strong) return with_any_reader(h, cell);
  const RecordId from = cell >> kLaneBits;
  const std::uint32_t tag = cell & kLaneMask;
  const std::uint32_t offset = lanes != 0 ? 0 : (static_cast<std::uint32_t>(lane) - tag) & kLaneMask;
  return records_.with(from, {h.id, lanes, offset}, lane) << kLaneBits | tag;
}

// The same if it need not be known which readers these are.
Cell Racecheck::with_any_reader(CurrentAccess& h, Cell cell) {
  Record both{h.b.number, h.op.index, kAllLanes, static_cast<std::uint16_t>(h.w.number), Record::many};
  std::size_t who = 0;
  if (cell >> kLaneBits != 0) {
    const Record& there = record(cell >> kLaneBits);
    who = there.block != both.block ? 2 : there.warp != both.warp ? 1 : 0;
  }
  RecordId& many = h.ws.recent[h.op.index % WarpState::kRecent].many[who];
  if (who != 0) both.warp = kNoWarp;
  if (who == 2) both.block = kNobody;
  if (many == 0) many = records_.add(both);
  return many << kLaneBits | (cell & kLaneMask);
}

}  // namespace course::sim::race
