// SPDX-License-Identifier: MIT
// Reading order: access; look; one_word_each or by_lane; cell; check; ordered.
#include "sim/checkers/racecheck/racecheck.hpp"

#include <algorithm>
#include <bit>

#include "sim/machine/atomic_patterns.hpp"

namespace course::sim {
namespace {

constexpr std::size_t kMaxReplaced = std::size_t{1} << 16;  // a limit for reasons only

}  // namespace

Gap Racecheck::gap(const OpRow& row) {
  if (is_plain(row.kind) || row.kind == OpKind::copy || row.kind == OpKind::mbarrier) return nullptr;
  if (is_of(row, {"tex", "suld", "sust"})) return "accesses to textures and surfaces are not followed";
  if (is_of(row, {"mapa"})) return "accesses to the shared memory of other blocks are not followed";
  return nullptr;  // the others access no memory, as a prefetch, or are reported as copies
}

Racecheck::Racecheck(const Arena& arena, std::vector<Finding>& findings)
    : KernelChecker(bits_of(OpKind::fence, OpKind::shuffle, OpKind::vote, OpKind::reduce)),
      arena_(arena),
      findings_(findings),
      written_(arena.size() / 4),
      read_(arena.size() / 4),
      line_written_(arena.size() / kLineBytes + 1),
      line_read_(arena.size() / kLineBytes + 1) {}

// --- records -----------------------------------------------------------------------------------------------

// Old cells mean nothing, so those at both ends may stay.
void Racecheck::released(std::uint64_t address, std::uint64_t n_bytes) {
  const std::uint64_t first = address - arena_.base();
  for (Reserved<Cell>* cells : {&written_, &read_}) cells->drop((first + 3) / 4, n_bytes / 4);
  for (Reserved<Cell>* cells : {&line_written_, &line_read_})
    cells->drop((first + kLineBytes - 1) / kLineBytes, n_bytes / kLineBytes);
  if (byte_pages_.empty()) return;
  std::erase_if(byte_pages_, [&](const auto& page) {
    return page.first * kBytePage >= first && (page.first + 1) * kBytePage <= first + n_bytes;
  });
}

inline RecordId Racecheck::record_of(WarpState& ws, Warp& w, const BlockState& b, std::uint32_t what,
                                     Record::Kind kind) {
  WarpState::Recent& recent = ws.recent[what % WarpState::kRecent];
  if (recent.what == what && recent.lanes == w.mask && recent.id >= ws.fresh) return recent.id;
  recent.what = what;
  recent.lanes = w.mask;
  recent.id = records_.add({b.number, what, w.mask, static_cast<std::uint16_t>(w.number), kind});
  std::fill(std::begin(recent.many), std::end(recent.many), 0);
  return recent.id;
}

// --- begin and end -----------------------------------------------------------------------------------------

void Racecheck::launch_begins(const Program& program, const LaunchRequest& launch) {
  program_ = &program;
  launch_ = &launch;
  if (records_.launch_begins()) {
    for (Reserved<Cell>* cells : {&written_, &read_, &line_written_, &line_read_}) cells->clear();
    byte_pages_.clear();
    blocks_.clear();
  }
  sync_variables_.clear();
  n_writers_ = 0;
  locks_.launch_begins(program);
  changes_ = changes_of(program);
  replaced_.clear();
  reported_.clear();
  systems_.clear();
  known_.clear();
  one_block_ = launch.grid.count() == 1;
  fences_ = sync_global_ = updates_ = exchanges_ = false;
  swap_loads_ = loads_before_swaps(program);
  unseen_step_ = 4;
  if (gives_old_values_) {
    roles_ = roles_of(program);
    for (const MicroOp& op : program.ops)
      if (may_be_old(op)) unseen_step_ = std::min(unseen_step_, std::uint64_t{op.width} * op.count);
  }
  for (const MicroOp& op : program.ops) {
    const int order = op.order & kOrderMask;
    if (op.kind == OpKind::fence && order != kWeak) fences_ = true;
    if ((op.kind == OpKind::load || op.kind == OpKind::store) && order != kWeak) exchanges_ = true;
    if (accesses_memory(op.kind) && order >= kAcquire) fences_ = true;
    const bool anywhere = op.space == MemorySpace::global || op.space == MemorySpace::generic;
    const bool hears = (op.kind == OpKind::load && order != kWeak) ||
                       (op.kind == OpKind::atomic && op.dst[0] != MicroOp::kNoSlot);
    if (anywhere && hears) sync_global_ = true;
    if (anywhere && op.kind == OpKind::atomic) updates_ = true;
  }
  sync_global_ = sync_global_ || fences_;
  unseen_.clear();
  misses_.clear();
  put_back_.clear();
  unseen_begin_ = ~std::uint64_t{0};
  unseen_end_ = 0;
}

void Racecheck::block_begins(Block& block) {
  if (blocks_.size() <= block.storage) blocks_.resize(block.storage + 1);
  auto& slot = blocks_[block.storage];
  if (slot == nullptr) slot = std::make_unique<BlockState>();
  BlockState& b = *slot;
  b.number = static_cast<std::uint32_t>(block.linear);
  b.first = b.bound = next();
  b.warps.resize(block.warps.size());
  for (WarpState& ws : b.warps) {
    ws.fresh = ws.bound = b.first;
    ws.loaded.clear();
    if (!b.trivial) {
      ws.split = false;
      ws.whole = ThreadClocks{};
    }
  }
  b.trivial = true;
  b.shared_bytes = block.shared_bytes;
  const std::size_t words = (block.shared_bytes + 3) / 4;
  if (b.written.size() < words) {
    b.written.resize(words);
    b.read.resize(words);
  }
  b.sync_variables.clear();
  b.flights.clear();
  b.gates.clear();
  for (auto& arrivals : b.arrivals) arrivals.clear();
  b.n_looks = 0;
  b.fence = b.seen_fence = 0;
  b.unreleased.clear();
}

// --- accesses ----------------------------------------------------------------------------------------------

Racecheck::Shadow Racecheck::shadow_of(BlockState& b, Place place) {
  if (place == Place::shared)
    return {b.written.data(), b.read.data(), nullptr, nullptr, kSharedWindow,
            b.shared_bytes,   b.first,       b.bound, true};
  return {written_.data(),
          read_.data(),
          line_written_.data(),
          line_read_.data(),
          arena_.base(),
          arena_.size(),
          records_.first(),
          one_block_ ? b.bound : records_.first(),
          false};
}

// Checks the lanes of an access that lie in one kind of memory.
inline void Racecheck::look(CurrentAccess& h, Place place, std::uint32_t lanes) {
  h.shadow = shadow_of(h.b, place);
  const bool run = shortcuts_ && h.a.run && lanes == h.a.mask;
  if (h.writes && !changes_.empty()) check_changes(h, lanes);
  if (place == Place::shared) {
    if (!run || !run_of_lanes(h)) by_lane(h, lanes);
  } else if (!run || !whole_lines(h)) {
    const std::uint32_t left = lanes & ~mark_lines(h, lanes);
    if (left != 0) open_lines(h, left);
    if (left != 0 && (!run || left != lanes || !run_of_lanes(h))) by_lane(h, left);
  }
  if (gives_old_values_ && place == Place::global) note_old_values(h, lanes);
  if (h.reads && !changes_.empty()) note_loaded(h, lanes);
  if (h.strong) order_by(h, lanes);
}

void Racecheck::access(Warp& w, const MicroOp& op, const LaneAccess& a) {
  if (op.space == MemorySpace::constant || (!a.mixed && a.place == Place::local)) return;
  BlockState& b = state(*w.block);
  WarpState& ws = b.warps[w.number];
  const bool asks = op.kind == OpKind::mbarrier && op.dst[0] != MicroOp::kNoSlot && (op.pred_dst & 1) != 0;
  CurrentAccess h{w,
                  op,
                  b,
                  ws,
                  a,
                  {},
                  record_of(ws, w, b, op.index, Record::access),
                  op.kind == OpKind::load || asks,
                  !asks && op.kind != OpKind::load,
                  is_strong(op)};
  if (op.kind == OpKind::load && (op.order & kNonCoherent) != 0 && !a.mixed && a.place == Place::global)
    check_non_coherent(h);
  if (!a.mixed) return look(h, a.place, a.mask);
  std::uint32_t lanes_in[3] = {0, 0, 0};  // by Place
  for (std::uint32_t m = a.mask; m != 0; m &= m - 1)
    lanes_in[static_cast<int>(place_of(a.at(std::countr_zero(m))))] |= m & -m;
  for (const Place place : {Place::global, Place::shared})
    if (lanes_in[static_cast<int>(place)] != 0) look(h, place, lanes_in[static_cast<int>(place)]);
}

// Whether this lane left the cell, in this block.
bool Racecheck::is_own(const CurrentAccess& h, Cell cell, std::uint32_t lane) const {
  const RecordId id = cell >> kLaneBits;
  if ((cell & kLaneMask) != lane || id < h.b.first || id < h.shadow.floor) return false;
  const Record& r = record(id);
  return r.kind == Record::access && r.block == h.b.number && r.warp == h.w.number;
}

// One word per lane, with any pattern of addresses. Fast for lanes whose cells are old or were left by the
// same lane; the other lanes are checked one by one.
void Racecheck::one_word_each(CurrentAccess& h, std::uint32_t lanes) {
  const Cell limit = h.shadow.bound << kLaneBits, mine = h.id << kLaneBits;
  const std::uint64_t size = h.shadow.bytes;
  const bool keeps_weak = h.writes && h.strong;
  RecordId own_record = h.id;  // the last record that was found to be of this warp
  const auto own = [&](Cell cell, std::uint32_t lane) {
    if (cell >> kLaneBits == own_record) return (cell & kLaneMask) == lane;
    if (!is_own(h, cell, lane)) return false;
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
    return r.kind == Record::access && r.what == h.op.index && (everywhere || r.block == h.b.number);
  };
  for (std::uint32_t m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(m));
    const std::uint64_t offset = h.a.at(static_cast<int>(lane)) - h.shadow.base;
    if (!is_inside(h, offset)) continue;
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
    for (std::uint64_t k = 0; is_inside(h, offset) && k < n; k += 4)
      broadcast(h, lanes, offset + k, static_cast<std::uint32_t>(std::min<std::uint64_t>(n, 4)));
    return;
  }
  const bool atomic = h.op.kind == OpKind::atomic && n >= 4;
  if (shortcuts_ && (n == 4 || atomic)) return atomic ? one_atomic_each(h, lanes) : one_word_each(h, lanes);
  for (std::uint32_t m = lanes; m != 0; m &= m - 1) lane(h, std::countr_zero(m));
}

// If false, a fault follows.
bool Racecheck::is_inside(const CurrentAccess& h, std::uint64_t offset) {
  return offset < h.shadow.bytes && offset + h.a.bytes <= h.shadow.bytes && (offset & (h.a.bytes - 1)) == 0;
}

void Racecheck::lane(CurrentAccess& h, int lane) {
  const std::uint64_t offset = h.a.at(lane) - h.shadow.base;
  if (is_inside(h, offset)) by_word(h, lane, offset, h.a.bytes);
}

void Racecheck::by_word(CurrentAccess& h, int lane, std::uint64_t offset, std::uint32_t n_bytes) {
  for (const std::uint64_t end = offset + n_bytes; offset < end; offset += 4) {
    const auto n = static_cast<std::uint32_t>(std::min<std::uint64_t>(end - offset, 4));
    const std::uint64_t word = offset / 4;
    if (n < 4 || is_bytes(h, h.shadow.written[word]))
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
    written = h.strong && written >= limit && has_weak(written) ? with_reader(h, weak_part(written), lane, 0)
                                                                : mine;
  } else if (read != mine) {
    read = read < limit || all_ordered(h, read, lane) ? mine : with_reader(h, read, lane, 0);
  }
}

// Several lanes read the same word, or the same bytes of a word.
void Racecheck::broadcast(CurrentAccess& h, std::uint32_t lanes, std::uint64_t offset, std::uint32_t n) {
  const std::uint64_t word = offset / 4;
  if (n == 4 && !is_bytes(h, h.shadow.written[word]))
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
    for (std::uint32_t m = lanes; m != 0; m &= m - 1) check(h, std::countr_zero(m), offset, written, true);
  if (!fresh) {
    fresh = true;
    for (std::uint32_t m = lanes; m != 0 && fresh; m &= m - 1)
      fresh = all_ordered(h, read, std::countr_zero(m));
  }
  read = with_reader(h, fresh ? 0 : read, 0, lanes);
}

// --- bytes -------------------------------------------------------------------------------------------------

// Whether the word that `written` belongs to has a pair of cells for each of its bytes.
bool Racecheck::is_bytes(const CurrentAccess& h, Cell written) const {
  const RecordId id = written >> kLaneBits;
  return id >= h.shadow.bound && record(id).kind == Record::bytes;
}

Racecheck::Cell* Racecheck::byte_cells(CurrentAccess& h, std::uint64_t word) {
  if (h.shadow.shared) {
    if (h.b.bytes.size() < h.b.written.size() * 8) h.b.bytes.resize(h.b.written.size() * 8);
    return h.b.bytes.data() + word * 8;
  }
  auto& page = byte_pages_[word * 4 / kBytePage];
  if (page == nullptr) page = std::make_unique<std::vector<Cell>>(kBytePage * 2);
  return page->data() + word * 8 % (kBytePage * 2);
}

// The byte cells of a word. Creates them if the word has none.
Racecheck::Cell* Racecheck::open_bytes(CurrentAccess& h, std::uint64_t word) {
  Cell& written = h.shadow.written[word];
  Cell& read = h.shadow.read[word];
  Cell* const cells = byte_cells(h, word);  // 4 for writes, 4 for reads
  if (!is_bytes(h, written)) {
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

// --- checks ------------------------------------------------------------------------------------------------

bool Racecheck::ordered(const CurrentAccess& h, RecordId id, std::uint32_t other_lane, int lane) const {
  if (id < h.shadow.floor) return true;
  const Record& r = record(id);
  if (is_flying(r, other_lane)) return false;
  const bool any_lane = r.kind == Record::many;
  if (r.block == h.b.number) {
    if (id < h.b.bound) return true;
    if (author(r) == h.w.number &&
        ((!any_lane && other_lane == static_cast<std::uint32_t>(lane)) || id < h.ws.bound))
      return true;
  }
  if (any_lane) return false;
  const VectorClock& known = h.ws.of(lane).known;
  return !known.empty() && known.covers(r.block, author(r), other_lane, id);
}

// Calls `each(record, lane)` for every access that a cell names, until one call returns true.
template <typename Each>
bool Racecheck::any_of_cell(Cell cell, const Each& each) const {
  const RecordId id = cell >> kLaneBits;
  const std::uint32_t lane = cell & kLaneMask;
  if (record(id).kind != Record::readers) return each(id, lane);
  for (const Reader& r : records_.readers(record(id))) {
    if (r.lanes == 0) {
      if (each(r.record, (lane + r.offset) & kLaneMask)) return true;
    } else {
      for (std::uint32_t m = r.lanes; m != 0; m &= m - 1)
        if (each(r.record, static_cast<std::uint32_t>(std::countr_zero(m)))) return true;
    }
  }
  return false;
}

bool Racecheck::all_ordered(const CurrentAccess& h, Cell cell, int lane) const {
  if (cell >> kLaneBits < h.shadow.floor) return true;
  return !any_of_cell(
      cell, [&](RecordId id, std::uint32_t other_lane) { return !ordered(h, id, other_lane, lane); });
}

// Whether two accesses may be unordered without being a race: strong ones, and a load whose value a swap
// compares, with any atomic: if it changes the value, the swap fails.
bool Racecheck::may_be_unordered(const CurrentAccess& h, const Record& r, RecordId id, int lane) const {
  const MicroOp& other = program_->ops[r.what];
  if ((h.op.kind == OpKind::atomic && swap_loads_.contains(r.what)) ||
      (other.kind == OpKind::atomic && swap_loads_.contains(h.op.index)))
    return true;
  if (!h.strong || !is_strong(other)) return false;
  if (overlap_partly(h.op, other, r.block == h.b.number)) return false;
  if (r.block != h.b.number) return reaches_device(h.op) && reaches_device(other);
  return r.warp != h.w.number || !need_step(h, r, id, lane);
}

// Whether strong accesses of two lanes of a warp are right only if its lanes run in step.
bool Racecheck::need_step(const CurrentAccess& h, const Record& r, RecordId id, int lane) const {
  const MicroOp& other = program_->ops[r.what];
  if (h.op.kind == OpKind::mbarrier || other.kind == OpKind::mbarrier) return false;
  const bool ran_both = (r.lanes >> lane & 1) != 0, follows_wait = id < h.ws.waited[lane];
  const bool atomic = h.op.kind == OpKind::atomic || other.kind == OpKind::atomic;
  if (h.shadow.shared && ran_both && !atomic && ((h.op.order | other.order) & kOrderMask) == kVolatile)
    return ((h.op.order | other.order) & kOnlyDecides) == 0;
  if (follows_wait || ((h.op.order | other.order) & kWaits) != 0) return false;
  if (h.op.kind == OpKind::atomic) return other.kind != OpKind::atomic;
  // Of several lanes that store in one place, any may be the last. The lane with the last ticket may reset
  // the counter.
  const std::uint64_t address = h.a.at(lane);
  const Ticket& ticket = h.ws.ticket_at(address);
  const bool has_last = ran_both && is_look(other) && (ticket.address != address || ticket.lane == lane);
  return h.op.kind == OpKind::load || (other.kind == OpKind::atomic ? !has_last : other.index != h.op.index);
}

bool Racecheck::has_weak(Cell written) const {
  return any_of_cell(written,
                     [&](RecordId id, std::uint32_t) { return !is_strong(program_->ops[record(id).what]); });
}

// The cell's weak access alone, which came first, without the strong ones that were added to it.
Racecheck::Cell Racecheck::weak_part(Cell written) const {
  const Record& r = record(written >> kLaneBits);
  return r.kind == Record::readers ? records_.readers(r)[0].record << kLaneBits | (written & kLaneMask)
                                   : written;
}

// Reports the first access named by the cell that nothing orders before this one.
void Racecheck::check(CurrentAccess& h, int lane, std::uint64_t offset, Cell cell, bool old_writes) {
  if (cell >> kLaneBits < h.shadow.floor) return;
  // Whether two strong accesses may be unordered is the same for all lanes of a record and cheaper to find
  // out than whether they are ordered. This matters when hundreds of threads wait at an mbarrier, since all
  // of them are its readers.
  RecordId harmless = 0;
  any_of_cell(cell, [&](RecordId id, std::uint32_t other_lane) {
    if (record(id).kind == Record::many && !ordered(h, id, other_lane, lane)) doubt();
    if (h.strong && (id == harmless || may_be_unordered(h, record(id), id, lane))) {
      harmless = id;
      return false;
    }
    if (ordered(h, id, other_lane, lane) || (!h.strong && may_be_unordered(h, record(id), id, lane)))
      return false;
    report(h, lane, offset, id, other_lane, old_writes);
    return true;
  });
}

// Remembers that this access replaces what an earlier weak write of the launch left in a word: a thread that
// knows of the earlier write may still be reading it.
void Racecheck::note_replaced(const CurrentAccess& h, std::uint64_t word, Cell written) {
  if (h.shadow.shared || h.strong || !sync_global_ || replaced_.size() >= kMaxReplaced) return;
  if (record(written >> kLaneBits).kind == Record::access) replaced_[word] = written;
}

// Whether the lanes access only lines, and not too many to look at, of which the cells for writes are old.
bool Racecheck::nothing_written(const CurrentAccess& h, Cell limit) {
  if (!h.a.is_within(h.shadow.base, h.shadow.bytes)) return false;
  const std::uint64_t first = (h.a.low - h.shadow.base) / kLineBytes,
                      last = (h.a.end - 1 - h.shadow.base) / kLineBytes;
  return last - first < kLanes && std::all_of(h.shadow.line_written + first, h.shadow.line_written + last + 1,
                                              [&](Cell cell) { return cell < limit; });
}

// For a load through the read-only path, which may not see what the same launch has written, ordered or not.
void Racecheck::check_non_coherent(CurrentAccess& h) {
  h.shadow = shadow_of(h.b, Place::global);
  h.shadow.bound = h.shadow.floor;  // writes before the block's last barrier count, too
  const Cell limit = h.shadow.floor << kLaneBits;
  if (nothing_written(h, limit)) return;
  bool opened = false;
  for (std::uint32_t m = h.a.mask; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    const std::uint64_t offset = h.a.at(lane) - h.shadow.base;
    if (!is_inside(h, offset) || h.shadow.line_written[offset / kLineBytes] < limit) continue;
    if (!opened) open_lines(h, h.a.mask);
    opened = true;
    for (std::uint64_t at = offset / 4 * 4; at < offset + h.a.bytes; at += 4) {
      Cell written = h.shadow.written[at / 4];
      if (written >= limit && is_bytes(h, written)) {
        const Cell* const cells = cells_of_bytes(at / 4);
        written = 0;
        for (std::uint64_t k = std::max(at, offset); k < std::min(at + 4, offset + h.a.bytes); ++k)
          written = std::max(written, cells[k % 4]);
      }
      if (written < limit) continue;
      RecordId id = written >> kLaneBits;
      if (record(id).kind == Record::readers) id = records_.readers(record(id))[0].record;
      report_stale(h, lane, offset, id, static_cast<std::uint32_t>(written & kLaneMask));
      break;
    }
  }
}

// The cell with one more reader: lane `lane`, or all of `lanes`.
Racecheck::Cell Racecheck::with_reader(CurrentAccess& h, Cell cell, int lane, std::uint32_t lanes) {
  if (care_ != Care::everything && !h.strong) return with_any_reader(h, cell);
  const RecordId from = cell >> kLaneBits;
  const std::uint32_t tag = cell & kLaneMask;
  const std::uint32_t offset = lanes != 0 ? 0 : (static_cast<std::uint32_t>(lane) - tag) & kLaneMask;
  return records_.with(from, {h.id, lanes, offset}, lane) << kLaneBits | tag;
}

// The same if it need not be known which readers these are.
Racecheck::Cell Racecheck::with_any_reader(CurrentAccess& h, Cell cell) {
  Record both{h.b.number, h.op.index, kAllLanes, static_cast<std::uint16_t>(h.w.number), Record::many};
  std::size_t who = 0;
  if (cell >> kLaneBits != 0) {
    const Record& there = record(cell >> kLaneBits);
    who = there.block != both.block ? 2 : there.warp != both.warp ? 1 : 0;
  }
  RecordId& many = h.ws.recent[h.op.index % WarpState::kRecent].many[who];
  if (who != 0) both.warp = race::kNoWarp;
  if (who == 2) both.block = kNobody;
  if (many == 0) many = records_.add(both);
  return many << kLaneBits | (cell & kLaneMask);
}

// Ends a pass that has taken too little care.
void Racecheck::doubt() {
  throw DeviceFault(Fault::launch_timeout, "it must be repeated");
}

}  // namespace course::sim
