// SPDX-License-Identifier: MIT
#include "sim/observation/trace.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <tuple>
#include <utility>

#include "sim/machine/describe.hpp"
#include "sim/machine/op_table.hpp"
#include "sim/machine/source_places.hpp"

namespace course::sim {

// --- where things are --------------------------------------------------------------------------------------

std::optional<NamedArray> named_array_at(const Program& program, const Arena& arena, std::uint64_t address) {
  if (address >= kLocalWindow) return std::nullopt;
  if (address < kSharedWindow) {
    const Allocation* a = arena.describe(address);
    if (a == nullptr || a->name.empty()) return std::nullopt;
    return NamedArray{plain_name(a->name), a->base, a->size, a->element_bytes, false};
  }
  const std::uint64_t offset = address - kSharedWindow;
  const Program::SharedVariable* best = nullptr;
  for (const auto& v : program.shared) {
    if (offset < v.offset || (v.size != 0 && offset >= v.offset + v.size)) continue;
    if (best == nullptr || v.size != 0) best = &v;
  }
  if (best == nullptr) return std::nullopt;
  // Dynamic shared memory is declared without a size; it extends to the end of shared memory.
  return NamedArray{plain_name(best->name), kSharedWindow + best->offset,
                    best->size != 0 ? best->size : kWindowSize / 2, 0, true};
}

const NamedArray* Trace::object_at(std::uint64_t address) {
  if (const auto after = objects_.upper_bound(address); after != objects_.begin()) {
    const NamedArray& known = std::prev(after)->second;
    if (address - known.base < known.size) return &known;
  }
  auto object = named_array_at(*program_, arena_, address);
  if (!object) return nullptr;
  const std::uint64_t base = object->base;
  return &objects_.insert_or_assign(base, std::move(*object)).first->second;
}

Trace::Position Trace::position_of(const MicroOp& op) {
  const auto [known, fresh] = positions_.try_emplace(op.index);
  if (fresh) {
    const SourcePlace place = own_place(places_of(*program_, op));
    known->second = {place.file, place.line};
  }
  return known->second;
}

// --- rows --------------------------------------------------------------------------------------------------

void Trace::add(TraceRow row) {
  if (log_.rows.size() >= TraceLog::kMaxRows) {
    log_.truncated = true;
    return;
  }
  row.launch = launches_ - 1;
  if (row.after != TraceRow::After::start && row.after != TraceRow::After::publish) {
    // Accesses since the last row of this block, or, for a row of the grid, of all blocks.
    for (auto& [block, state] : blocks_) {
      if (row.block != TraceRow::kWholeGrid && row.block != block->linear) continue;
      row.accesses.insert(row.accesses.end(), state.accesses.begin(), state.accesses.end());
      state.accesses.clear();
    }
    if (row.block == TraceRow::kWholeGrid)
      std::move(ended_.begin(), ended_.end(), std::back_inserter(row.accesses));
    if (row.block == TraceRow::kWholeGrid) ended_.clear();
    std::ranges::stable_sort(row.accesses, [](const TraceAccess& a, const TraceAccess& b) {
      return std::tie(a.block, a.warp) < std::tie(b.block, b.warp);
    });
  }
  log_.rows.push_back(std::move(row));
}

void Trace::flush(std::map<std::uint64_t, Pending>& pending, const Block* block, TraceRow::After after,
                  const Position& where) {
  for (auto& [base, p] : pending) flush_one(base, p, block, after, where);
  pending.clear();
}

void Trace::flush_one(std::uint64_t base, Pending& pending, const Block* block, TraceRow::After after,
                      const Position& where) {
  const NamedArray& object = objects_.at(base);
  if (object.shared && block != nullptr) ++blocks_[block].rows[base];
  if (!object.shared) ++global_rows_[base];
  TraceRow row;
  row.block = block != nullptr ? block->linear : TraceRow::kWholeGrid;
  row.after = after;
  row.file = where.file;
  row.line = where.line;
  row.object = object.name;
  row.width = pending.width;
  row.writes = std::move(pending.writes);
  std::uint64_t n = object.size;
  const std::byte* from = reinterpret_cast<const std::byte*>(object.base);
  if (object.shared) {
    if (block == nullptr) return;
    const std::uint64_t offset = object.base - kSharedWindow;
    n = std::min<std::uint64_t>(n,
                                block->shared_bytes - std::min<std::uint64_t>(offset, block->shared_bytes));
    from = block->shared + offset;
  }
  n = std::min(n, TraceLog::kMaxBytes);  // the rest is not recorded
  row.contents.assign(from, from + n);
  add(std::move(row));
}

// --- begin and end -----------------------------------------------------------------------------------------

void Trace::launch_begins(const Program& program, const LaunchRequest& launch) {
  if (log_.ended) return;
  program_ = &program;
  origins_.launch_begins(program);
  running_ = nullptr;
  n_blocks_ = launch.grid.count();
  ++launches_;
  objects_.clear();
  global_.clear();
  global_rows_.clear();
  blocks_.clear();
  exchanged_.clear();
  halves_.clear();
  positions_.clear();
  if (launches_ > 1) return;
  for (const Allocation& data : arena_.data_ranges()) {
    TraceRow row;
    row.object = plain_name(data.name);
    row.width = data.element_bytes;
    const auto* from = reinterpret_cast<const std::byte*>(data.base);
    row.contents.assign(from, from + std::min(data.size, TraceLog::kMaxBytes));
    add(std::move(row));
  }
}

void Trace::block_begins(Block& block) {
  if (log_.ended) return;
  blocks_[&block] = {};
  origins_.block_begins(block);
}

void Trace::block_ends(Block& block) {
  if (log_.ended) return;
  BlockState& b = blocks_[&block];
  flush(b.shared, &block, TraceRow::After::block, {});
  ended_.insert(ended_.end(), b.accesses.begin(), b.accesses.end());
  b.accesses.clear();
}

void Trace::faulted(Block& block) {
  if (log_.ended) return;
  fault(block, running_ != nullptr ? position_of(*running_) : blocks_[&block].barrier, race_);
}

void Trace::launch_ends() {
  if (log_.ended) return;
  flush(global_, nullptr, TraceRow::After::launch, {});
}

// Adds the last rows: the arrays of the block and of the grid that were written since their last rows, or, if
// there are none, one without an array.
void Trace::fault(const Block& block, const Position& where, const std::string& message) {
  const std::size_t before = log_.rows.size();
  flush(blocks_[&block].shared, &block, TraceRow::After::fault, where);
  flush(global_, &block, TraceRow::After::fault, where);
  if (log_.rows.size() == before) {
    TraceRow row;
    row.block = block.linear;
    row.after = TraceRow::After::fault;
    row.file = where.file;
    row.line = where.line;
    add(std::move(row));
  }
  if (!log_.rows.empty()) log_.rows.back().fault = message;
  log_.ended = true;
}

// --- steps -------------------------------------------------------------------------------------------------

void Trace::barrier_arrived(Warp& w, std::uint32_t, const MicroOp& op) {
  if (log_.ended) return;
  blocks_[w.block].barrier = position_of(op);
}

void Trace::barrier_released(Block& block, std::uint32_t) {
  if (log_.ended) return;
  BlockState& b = blocks_[&block];
  flush(b.shared, &block, TraceRow::After::barrier, b.barrier);
  // With a single block, a barrier also ends a step of the grid.
  if (n_blocks_ == 1) flush(global_, &block, TraceRow::After::barrier, b.barrier);
}

void Trace::warp_synced(Warp& w, std::uint32_t, const MicroOp& op) {
  if (log_.ended) return;
  flush(blocks_[w.block].shared, w.block, TraceRow::After::warp_sync, position_of(op));
}

// --- accesses ----------------------------------------------------------------------------------------------

// An element and the row that has its present value, or will have it. The value itself: filled().
TracePlace Trace::place_of(const Block& block, const NamedArray& object, std::uint64_t element) {
  BlockState& b = blocks_[&block];
  const auto& pending = object.shared ? b.shared : global_;
  const auto since = pending.find(object.base);
  const bool fresh = since != pending.end() && since->second.elements.contains(element);
  return {object.name, element, (object.shared ? b.rows : global_rows_)[object.base] + (fresh ? 1 : 0)};
}

TracePlace Trace::filled(const Block& block, TracePlace place, std::uint64_t address, std::uint32_t width) {
  if (width > sizeof place.value) return place;
  const std::byte* from = memory_at(arena_, block, address, width);
  if (from == nullptr) return place;
  std::memcpy(&place.value, from, width);
  place.width = width;
  return place;
}

void Trace::write(const MicroOp& op, const Block& block, std::uint32_t thread, const NamedArray& object,
                  const TracePlace& place, Origins::Set from) {
  Pending& pending = (object.shared ? blocks_[&block].shared : global_)[object.base];
  pending.width = pending.width == 0 ? op.width : std::min<std::uint32_t>(pending.width, op.width);
  if (log_.n_writes >= TraceLog::kMaxWrites) {
    log_.truncated = true;
    return;
  }
  ++log_.n_writes;
  pending.elements.insert(place.element);
  const std::uint32_t row = place_of(block, object, place.element).row;
  pending.writes.push_back({place.element, block.linear, thread, position_of(op).line, row,
                            origins_.places(from), place.width, place.value});
  log_.latest.push_back(pending.writes.back());
}

// One lane's access to element k of a load, store or atomic that has run.
void Trace::access(Warp& w, const MicroOp& op, int lane, std::uint32_t k) {
  const std::uint64_t address = addresses_.at[lane] + std::uint64_t{k} * op.width;
  const std::uint32_t thread = w.number * kLanes + static_cast<std::uint32_t>(lane);
  // Of an atomic, its last operand is stored.
  const ValueSlot stored = op.kind == OpKind::atomic
                               ? ValueSlot::source(op, op.src[2] != MicroOp::kNoSlot ? 2 : 1)
                               : ValueSlot::stored(op, static_cast<int>(k));
  const ValueSlot result = ValueSlot::result(op, static_cast<int>(k));
  const bool stores = op.kind != OpKind::load, gives = op.kind != OpKind::store && result.exists();
  const Origins::Set value = stores ? origins_.get(w, stored, lane) : 0;
  const NamedArray* object = object_at(address);
  if (object == nullptr) {
    if (address >= kLocalWindow && stores) origins_.local(w, lane, address) = value;
    if (gives) origins_.set(w, result, lane, address >= kLocalWindow ? origins_.local(w, lane, address) : 0);
    return;
  }
  const std::uint64_t element = (address - object->base) / op.width;
  const TracePlace before = place_of(*w.block, *object, element);
  // Of an atomic, memory holds what the last lane left, and not what this one has read or stored.
  const Origins::Set itself =
      origins_.single(op.kind == OpKind::load ? filled(*w.block, before, address, op.width) : before);
  if (op.kind == OpKind::atomic) write(op, *w.block, thread, *object, before, origins_.united(itself, value));
  if (op.kind == OpKind::store) {
    write(op, *w.block, thread, *object, filled(*w.block, before, address, op.width), value);
    origins_.set(w, stored, lane,
                 origins_.single(filled(*w.block, place_of(*w.block, *object, element), address, op.width)));
    if (!object->shared && (op.order & kOrderMask) != kWeak) published_.insert(object->base);
  }
  if (gives) origins_.set(w, result, lane, itself);
}

// Records which lanes took part in an access.
void Trace::note(Warp& w, const MicroOp& op) {
  constexpr std::size_t kMaxAccesses = 512;  // of a step
  auto& accesses = blocks_[w.block].accesses;
  const std::uint32_t line = position_of(op).line;
  const auto known = std::ranges::find_if(
      accesses, [&](const TraceAccess& a) { return a.warp == w.number && a.line == line; });
  if (known == accesses.end() && accesses.size() >= kMaxAccesses) return;
  TraceAccess& a =
      known != accesses.end() ? *known : accesses.emplace_back(TraceAccess{w.block->linear, w.number, line});
  a.lanes |= w.mask;
  a.live |= w.live;
  const auto passes = static_cast<std::uint32_t>(w.worker->op_counters[op.index].wavefronts - wavefronts_);
  const std::uint32_t least = std::max(1u, std::uint32_t{op.width} * op.count / 4);
  if (passes > least && passes - least >= a.passes - a.least_passes) {
    a.passes = passes;
    a.least_passes = least;
  }
}

void Trace::before(Warp& w, const MicroOp& op) {
  log_.latest.clear();
  if (log_.ended) return;
  if (const Finding* race = checked_ ? checked_() : nullptr; race != nullptr) {
    // The last row shows what the store leaves.
    if (op.kind != OpKind::store) return fault(*w.block, position_of(op), race->message);
    race_ = race->message;
  }
  running_ = &op;
  if (accesses_memory(op.kind)) {
    addresses_ = addresses_of(w, op);
    wavefronts_ = w.worker->op_counters[op.index].wavefronts;
  }
  if (op.kind == OpKind::shuffle) shuffle(w, op);
}

void Trace::after(Warp& w, const MicroOp& op) {
  if (log_.ended) return;
  running_ = nullptr;
  switch (op.kind) {
    case OpKind::load:
    case OpKind::store:
    case OpKind::atomic:
      if (op.space == MemorySpace::constant) break;
      if (op.space != MemorySpace::local) note(w, op);
      for (std::uint32_t k = 0; k < op.count; ++k)
        for (std::uint32_t m = w.mask; m != 0; m &= m - 1) access(w, op, std::countr_zero(m), k);
      for (const std::uint64_t base : std::exchange(published_, {})) {
        flush_one(base, global_.at(base), nullptr, TraceRow::After::publish, position_of(op));
        global_.erase(base);
      }
      if (!race_.empty()) fault(*w.block, position_of(op), race_);
      break;
    case OpKind::shuffle:
      for_lanes(w.mask, [&](int i) { origins_.set(w, ValueSlot::result(op, 0), i, shuffled_[i]); });
      break;
    case OpKind::vote:
      if (op.dst[0] != MicroOp::kNoSlot && (op.pred_dst & 1) == 0)
        exchange(w, op, TraceRow::After::vote, op.dst[0]);
      break;
    default: origins_.combine(w, op); break;
  }
  note_halves(w, op);
}

// Keeps which registers hold the halves of a 64-bit register.
void Trace::note_halves(const Warp& w, const MicroOp& op) {
  for (const std::uint32_t slot : op.dst)
    if (slot != MicroOp::kNoSlot) halves_.erase({&w, slot});
  const FlowRule::Words words = program_->rows[op.index]->flow.words;
  if (words == FlowRule::high_word || words == FlowRule::low_word)
    halves_[{&w, op.dst[0]}] = {op.src[0], words == FlowRule::high_word};
}

// Whether this is the other half of the 64-bit value that the warp has just shuffled. If it is, the first
// half's row becomes that of the whole value.
bool Trace::completes(Warp& w, const Exchange& first, const Exchange& second) {
  const bool same = first.row < log_.rows.size() && first.half.whole != MicroOp::kNoSlot &&
                    first.half.whole == second.half.whole && first.half.high != second.half.high &&
                    first.mask == second.mask && first.from == second.from;
  if (!same) return false;
  TraceRow& row = log_.rows[first.row];
  row.width = sizeof(std::uint64_t);
  row.contents.resize(kLanes * sizeof(std::uint64_t));
  std::array<std::uint64_t, kLanes> whole{};
  for (std::size_t k = 0; k < kLanes; ++k) {
    const std::uint64_t low = first.half.high ? second.value[k] : first.value[k];
    whole[k] = low | std::uint64_t{first.half.high ? first.value[k] : second.value[k]} << 32;
  }
  std::memcpy(row.contents.data(), whole.data(), row.contents.size());
  // The lanes are origins of the whole value, also where only its first half has arrived so far.
  const ValueSlot arrived{first.to};
  for_lanes(second.mask, [&](int i) {
    const auto lane = static_cast<std::size_t>(i);
    const std::uint32_t from = second.from[lane];
    shuffled_[lane] = origins_.single({"lanes", from, 0, sizeof(std::uint64_t), whole[from % kLanes]});
    if (origins_.get(w, arrived, i) == first.received[lane]) origins_.set(w, arrived, i, shuffled_[lane]);
  });
  return true;
}

// Finds out which lane gets whose value by executing the op on the lane numbers, and adds a row with each
// lane's value.
void Trace::shuffle(Warp& w, const MicroOp& op) {
  const std::uint32_t* const value = w.slot<std::uint32_t>(op.src[0]);
  const LaneBits from = lanes_read(w, op);
  Exchange now;
  if (const auto half = halves_.find({&w, op.src[0]}); half != halves_.end()) now.half = half->second;
  now.mask = w.mask;
  now.to = op.dst[0];
  std::copy_n(from.begin(), kLanes, now.from.begin());
  std::copy_n(value, kLanes, now.value.begin());
  Exchange& last = exchanged_[&w];
  if (completes(w, last, now)) {
    last = {};
    return;
  }
  now.row = log_.rows.size();
  exchange(w, op, TraceRow::After::shuffle, op.src[0]);
  for_lanes(w.mask, [&](int i) {
    const auto lane = static_cast<std::size_t>(i);
    const auto place = [&](std::uint32_t k) {
      return TracePlace{"lanes", k, 0, sizeof(std::uint32_t), value[k % kLanes]};
    };
    now.received[lane] = shuffled_[lane] = origins_.single(place(now.from[lane]));
    origins_.set(w, ValueSlot::source(op, 0), i, origins_.single(place(static_cast<std::uint32_t>(i))));
  });
  last = now;
}

// Adds a row with the value that each lane gives to a shuffle, or gets from a vote.
void Trace::exchange(Warp& w, const MicroOp& op, TraceRow::After kind, std::uint32_t slot) {
  TraceRow row;
  row.block = w.block->linear;
  row.after = kind;
  row.warp = w.number;
  row.lanes = w.mask;
  const Position where = position_of(op);
  row.file = where.file;
  row.line = where.line;
  row.object = kind == TraceRow::After::shuffle ? "lanes" : "votes";
  row.contents.resize(kLanes * sizeof(std::uint32_t));
  std::memcpy(row.contents.data(), w.slot<std::uint32_t>(slot), row.contents.size());
  for_lanes(kind == TraceRow::After::shuffle ? w.mask : 0, [&](int i) {
    const auto lane = static_cast<std::uint32_t>(i);
    row.writes.push_back({lane, w.block->linear, w.number * kLanes + lane, where.line, 0,
                          origins_.places(origins_.get(w, {slot}, i))});
  });
  add(std::move(row));
}

}  // namespace course::sim
