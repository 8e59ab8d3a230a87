// SPDX-License-Identifier: MIT
#include "sim/trace.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "sim/diagnose.hpp"
#include "sim/machine.hpp"

namespace course::sim {

// --- where things are -----------------------------------------------------------------------------------------------

// The array that a generic address falls into; nullptr for local memory and what has no name.
const Trace::Object* Trace::object_at(std::uint64_t address) {
  if (const auto after = objects_.upper_bound(address); after != objects_.begin()) {
    const Object& known = std::prev(after)->second;
    if (address - known.base < known.size) return &known;
  }
  if (address >= kLocalWindow) return nullptr;
  Object object;
  if (address >= kSharedWindow) {
    const std::uint64_t offset = address - kSharedWindow;
    const Program::SharedVariable* best = nullptr;
    for (const auto& v : program_->shared) {
      if (offset < v.offset || (v.size != 0 && offset >= v.offset + v.size)) continue;
      if (best == nullptr || v.size != 0) best = &v;
    }
    if (best == nullptr) return nullptr;
    // Dynamic shared memory is declared without a size: it reaches to the end.
    object = {plain_name(best->name), kSharedWindow + best->offset,
              best->size != 0 ? best->size : kWindowSize / 2, true};
  } else {
    const Allocation* a = arena_.describe(address);
    if (a == nullptr || a->name.empty()) return nullptr;
    object = {plain_name(a->name), a->base, a->size, false};
  }
  const std::uint64_t base = object.base;
  return &objects_.insert_or_assign(base, std::move(object)).first->second;
}

Trace::Position Trace::position_of(const MicroOp& op) {
  const auto [known, fresh] = positions_.try_emplace(op.index);
  if (fresh) {
    const SourcePlace place = own_place(places_of(*program_, op));
    known->second = {place.file, place.line};
  }
  return known->second;
}

// --- rows -----------------------------------------------------------------------------------------------------------

void Trace::add(TraceRow row) {
  if (log_.rows.size() >= TraceLog::kMostRows) {
    log_.truncated = true;
    return;
  }
  row.launch = launches_ - 1;
  log_.rows.push_back(std::move(row));
}

void Trace::flush(std::map<std::uint64_t, Pending>& pending, const Block* block, TraceRow::After after,
                  const Position& where) {
  for (auto& [base, p] : pending) {
    const Object& object = objects_.at(base);
    TraceRow row;
    row.block = block != nullptr ? block->linear : TraceRow::kWholeGrid;
    row.after = after;
    row.file = where.file;
    row.line = where.line;
    row.object = object.name;
    row.width = p.width;
    row.writes = std::move(p.writes);
    std::uint64_t n = object.size;
    const std::byte* from = reinterpret_cast<const std::byte*>(object.base);
    if (object.shared) {
      if (block == nullptr) continue;
      const std::uint64_t offset = object.base - kSharedWindow;
      n = std::min<std::uint64_t>(n,
                                  block->shared_bytes - std::min<std::uint64_t>(offset, block->shared_bytes));
      from = block->shared + offset;
    }
    if (n > TraceLog::kMostBytes)
      n = TraceLog::kMostBytes;  // the first of them; a reader of more has no use for a table
    row.contents.assign(from, from + n);
    add(std::move(row));
  }
  pending.clear();
}

// --- begin and end ----------------------------------------------------------------------------------------------------

void Trace::launch_begins(const Program& program, const LaunchRequest& launch) {
  program_ = &program;
  n_blocks_ = launch.grid.count();
  ++launches_;
  objects_.clear();
  global_.clear();
  blocks_.clear();
  positions_.clear();
  if (launches_ > 1) return;
  for (const Allocation& data : arena_.data_ranges()) {
    TraceRow row;
    row.object = plain_name(data.name);
    row.width = data.element_bytes;
    const auto* from = reinterpret_cast<const std::byte*>(data.base);
    row.contents.assign(from, from + std::min(data.size, TraceLog::kMostBytes));
    add(std::move(row));
  }
}

void Trace::block_begins(Block& block) {
  blocks_[&block] = {};
}

void Trace::block_ends(Block& block) {
  BlockState& b = blocks_[&block];
  flush(b.shared, &block, TraceRow::After::block, {});
  b.reads.clear();
}

void Trace::launch_ends() {
  flush(global_, nullptr, TraceRow::After::launch, {});
}

// --- steps ------------------------------------------------------------------------------------------------------------

void Trace::barrier_arrived(Warp& w, std::uint32_t, const MicroOp& op) {
  blocks_[w.block].barrier = position_of(op);
}

void Trace::barrier_released(Block& block, std::uint32_t) {
  BlockState& b = blocks_[&block];
  flush(b.shared, &block, TraceRow::After::barrier, b.barrier);
  // With one block, a barrier is a step of the grid, too.
  if (n_blocks_ == 1) flush(global_, &block, TraceRow::After::barrier, b.barrier);
  b.reads.clear();
}

void Trace::warp_synced(Warp& w, std::uint32_t mask, const MicroOp& op) {
  BlockState& b = blocks_[w.block];
  flush(b.shared, w.block, TraceRow::After::warp_sync, position_of(op));
  for (std::uint32_t m = mask; m != 0; m &= m - 1)
    b.reads.erase(w.number * kLanes + static_cast<std::uint32_t>(std::countr_zero(m)));
}

// --- accesses -----------------------------------------------------------------------------------------------------------

void Trace::read(BlockState& b, std::uint32_t thread, const Object& object, std::uint64_t element) {
  constexpr std::size_t kMostSources = 16;
  auto& reads = b.reads[thread];
  const auto same = [&](const TracePlace& p) { return p.element == element && p.object == object.name; };
  if (reads.size() < kMostSources && std::none_of(reads.begin(), reads.end(), same))
    reads.push_back({object.name, element});
}

void Trace::write(const MicroOp& op, const Block& block, std::uint32_t thread, const Object& object,
                  std::uint64_t element) {
  BlockState& b = blocks_[&block];
  Pending& pending = (object.shared ? b.shared : global_)[object.base];
  pending.width = pending.width == 0 ? op.width : std::min<std::uint32_t>(pending.width, op.width);
  if (log_.n_writes >= TraceLog::kMostWrites) {
    log_.truncated = true;
    return;
  }
  ++log_.n_writes;
  pending.writes.push_back({element, block.linear, thread, position_of(op).line, b.reads[thread]});
}

void Trace::before(Warp& w, const MicroOp& op) {
  if (op.kind == OpKind::load || op.kind == OpKind::store || op.kind == OpKind::atomic)
    addresses_ = addresses_of(w, op);
  if (op.kind == OpKind::shuffle) exchange(w, op, TraceRow::After::shuffle, op.src[0]);
}

void Trace::after(Warp& w, const MicroOp& op) {
  if (op.kind == OpKind::vote && op.dst[0] != MicroOp::kNoSlot && (op.pred_dst & 1) == 0)
    exchange(w, op, TraceRow::After::vote, op.dst[0]);
  const bool reads = op.kind == OpKind::load || op.kind == OpKind::atomic;
  const bool writes = op.kind == OpKind::store || op.kind == OpKind::atomic;
  if ((!reads && !writes) || op.space == MemorySpace::constant || op.space == MemorySpace::local) return;
  for (std::uint32_t m = w.mask; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    const std::uint32_t thread = w.number * kLanes + static_cast<std::uint32_t>(lane);
    for (std::uint32_t k = 0; k < op.count; ++k) {
      const std::uint64_t address = addresses_.at[lane] + std::uint64_t{k} * op.width;
      const Object* object = object_at(address);
      if (object == nullptr) continue;
      const std::uint64_t element = (address - object->base) / op.width;
      if (reads) read(blocks_[w.block], thread, *object, element);
      if (writes) write(op, *w.block, thread, *object, element);
    }
  }
}

// What each lane brings to a shuffle, or gets from a vote.
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
  add(std::move(row));
}

}  // namespace course::sim
