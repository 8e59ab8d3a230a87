// SPDX-License-Identifier: MIT
// Reading order: access; check_in; then word_by_word.cpp.
#include "sim/checkers/racecheck/racecheck.hpp"

#include <algorithm>
#include <memory>

#include "sim/checkers/racecheck/memory_model.hpp"
#include "sim/machine/atomic_patterns.hpp"

namespace course::sim::race {

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
      shadow_(arena),
      old_values_(arena, sync_) {}

std::vector<const Finding*> Racecheck::found() const {
  std::vector<const Finding*> all;
  for (const FoundRaces::Race& race : found_.all()) all.push_back(&race.finding);
  return all;
}

// --- begin and end -----------------------------------------------------------------------------------------

void Racecheck::launch_begins(const Program& program, const LaunchRequest& launch) {
  program_ = &program;
  launch_ = &launch;
  if (records_.launch_begins()) {
    shadow_.clear();
    blocks_.clear();
  }
  sync_.launch_begins(program);
  old_values_.launch_begins(program);
  found_.clear();
  changes_ = changes_of(program);
  replaced_.clear();
  systems_.clear();
  swap_loads_ = loads_before_swaps(program);
  updates_ = std::ranges::any_of(program.ops, [](const MicroOp& op) {
    return op.kind == OpKind::atomic && (op.space == MemorySpace::global || op.space == MemorySpace::generic);
  });
}

void Racecheck::launch_ends() {
  for (const auto& [address, miss] : old_values_.misses()) report_miss(address, miss);
  found_.report_to(findings_);
}

bool Racecheck::nobody_met(std::span<const Racecheck* const> parts, std::uint64_t address,
                           std::uint64_t n_bytes) {
  const std::uint64_t start = address - parts.front()->arena_.base();
  for (std::uint64_t line = start / kLineBytes; line * kLineBytes < start + n_bytes; ++line) {
    int n_touched = 0;
    for (const Racecheck* part : parts) n_touched += part->shadow_.has_touched(line, part->records_) ? 1 : 0;
    if (n_touched < 2) continue;
    for (std::uint64_t word = line * kLineWords; word < (line + 1) * kLineWords; ++word) {
      int n_write = 0, n_read = 0, n_both = 0;
      for (const Racecheck* part : parts) {
        const auto t = part->shadow_.traces(line, word, part->records_);
        n_write += t.written ? 1 : 0;
        n_read += t.read ? 1 : 0;
        n_both += t.written && t.read ? 1 : 0;
      }
      const bool writes_met = n_write > 1 && !parts.front()->updates_;
      if (writes_met || (n_write > 0 && n_read > n_both) || (n_both > 0 && n_write > 1)) return false;
    }
  }
  return true;
}

void Racecheck::block_begins(Block& block) {
  if (blocks_.size() <= block.storage) blocks_.resize(block.storage + 1);
  auto& slot = blocks_[block.storage];
  if (slot == nullptr) slot = std::make_unique<BlockState>();
  slot->begin(block, next());
}

// --- accesses ----------------------------------------------------------------------------------------------

Shadow Racecheck::shadow_of(BlockState& b, Place place) {
  if (place == Place::shared)
    return {b.written.data(), b.read.data(), nullptr, nullptr, kSharedWindow,
            b.shared_bytes,   b.first,       b.bound, true};
  const RecordId first = records_.first();
  return shadow_.cells(first, launch_->grid.count() == 1 ? b.bound : first);
}

// Checks the lanes of an access that lie in one kind of memory.
inline void Racecheck::check_in(CurrentAccess& h, Place place, std::uint32_t lanes) {
  h.shadow = shadow_of(h.b, place);
  const bool run = shortcuts_ && h.a.run && lanes == h.a.mask;
  if (h.writes && !changes_.empty()) check_changes(h, lanes);
  if (place == Place::shared) {
    if (!run || !adjacent_lanes(h)) by_lane(h, lanes);
  } else if (!run || !whole_lines(h)) {
    const std::uint32_t left = lanes & ~mark_lines(h, lanes);
    if (left != 0) open_lines(h, left);
    if (left != 0 && (!run || left != lanes || !adjacent_lanes(h))) by_lane(h, left);
  }
  if (old_values_.are_on() && place == Place::global) old_values_.note(h, lanes);
  if (h.reads && !changes_.empty()) note_loaded(h, lanes);
  if (h.strong) sync_.order_by(h, lanes, old_values_);
}

void Racecheck::access(Warp& w, const MicroOp& op, const LaneAccess& a) {
  if (op.space == MemorySpace::constant || (!a.mixed && a.place == Place::local)) return;
  BlockState& b = state(*w.block);
  WarpState& ws = b.warps[w.number];
  const bool asks = op.kind == OpKind::mbarrier && op.dst[0] != MicroOp::kNoSlot && (op.pred_dst & 1) != 0;
  const bool reads = asks || op.kind == OpKind::load;
  const RecordId id = record_of(ws, w, b, op.index, Record::access);
  CurrentAccess h{w, op, b, ws, a, records_, {}, id, reads, !reads, is_strong(op)};
  if (op.kind == OpKind::load && (op.order & kNonCoherent) != 0 && !a.mixed && a.place == Place::global)
    check_non_coherent(h);
  if (!a.mixed) return check_in(h, a.place, a.mask);
  std::uint32_t lanes_in[3] = {0, 0, 0};  // by Place
  for (const int lane : EachLane{a.mask}) lanes_in[static_cast<int>(place_of(a.at(lane)))] |= 1u << lane;
  for (const Place place : {Place::global, Place::shared})
    if (lanes_in[static_cast<int>(place)] != 0) check_in(h, place, lanes_in[static_cast<int>(place)]);
}

// For a load through the read-only path, which may not see what the same launch has written, ordered or not.
void Racecheck::check_non_coherent(CurrentAccess& h) {
  h.shadow = shadow_of(h.b, Place::global);
  h.shadow.bound = h.shadow.floor;  // writes before the block's last barrier count, too
  const Cell limit = h.shadow.floor << kLaneBits;
  if (nothing_written(h, limit)) return;
  bool opened = false;
  for (const int lane : EachLane{h.a.mask}) {
    const std::uint64_t offset = h.a.at(lane) - h.shadow.base;
    if (!h.is_inside(offset) || h.shadow.line_written[offset / kLineBytes] < limit) continue;
    if (!opened) open_lines(h, h.a.mask);
    opened = true;
    for (std::uint64_t at = offset / 4 * 4; at < offset + h.a.bytes; at += 4) {
      Cell written = h.shadow.written[at / 4];
      if (written >= limit && h.is_bytes(written)) {
        const Cell* const cells = shadow_.bytes_of(at / 4);
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

void Racecheck::doubt() {
  throw DeviceFault(Fault::launch_timeout, "it must be repeated");
}

}  // namespace course::sim::race
