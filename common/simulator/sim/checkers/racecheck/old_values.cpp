// SPDX-License-Identifier: MIT
// Old values for strong loads. Strong accesses (volatile, relaxed, atomics) never race, but by themselves
// they order nothing: a load of global memory that does not happen after another block's newest write may
// return the value from before that write. One host thread runs all blocks, so memory alone would never show
// this. Therefore the checker draws for each strong write how many loads will miss it, that is, get the old
// value.
// The PTX memory model allows each of these values, so a correct program computes the same results as without
// them:
//   A load that happens after the write, by the order that sync.cpp tracks or by the order of fence.sc,
//   gets the new value.
//   Once a thread of another block has got the new value, or an atomic has, all threads get it (coherence).
//   Threads of the writing block, and atomics that change the value, always get the newest value.
//   A load that gets the old value acquires only what that value published.
//   A write is missed by fewer than kMisses loads, so a loop that polls ends.
// In three cases the model allows an old value and the checker does not choose it. If one thread of a block
// knows of a fence.sc or has released its writes, the whole block counts as having done so. Only the last
// write of a word can be missed. The lanes of one instruction that read the same word get the same value.
// Weak accesses, and those of 1 or 2 bytes, are left alone.
// Source: NVIDIA, "PTX ISA" 9.0, 8.9 (ordering of memory operations) and 8.10 (axioms: coherence,
// fence-SC, causality).
#include <algorithm>
#include <bit>
#include <cstring>

#include "sim/checkers/racecheck/racecheck.hpp"
#include "sim/grid/calm.hpp"
#include "sim/machine/provenance.hpp"

namespace course::sim {
namespace {

constexpr std::size_t kMostUnseen = std::size_t{1} << 18;
constexpr std::size_t kMostMisses = std::size_t{1} << 12;
constexpr std::uint64_t kMisses = 4;  // a write is missed by fewer loads than this

}  // namespace

// Whether the op may get an old value, or write a value that other blocks may miss.
bool Racecheck::may_be_old(const MicroOp& op) {
  const std::uint32_t bytes = std::uint32_t{op.width} * op.count;
  return (op.kind == OpKind::load || op.kind == OpKind::store || op.kind == OpKind::atomic) &&
         (op.space == MemorySpace::global || op.space == MemorySpace::generic) && is_strong(op) &&
         reaches_device(op) && (op.width == 4 || op.width == 8) && (bytes == 4 || bytes == 8 || bytes == 16);
}

bool Racecheck::may_get_old_values(const Program& program, const LaunchRequest& launch) {
  bool loads = false, writes = false;
  const std::set<std::uint32_t> reading = atomics_that_only_read(program);
  for (const MicroOp& op : program.ops)
    if (may_be_old(op)) (op.kind == OpKind::load || reading.contains(op.index) ? loads : writes) = true;
  return loads && writes && launch.grid.count() > 1;
}

void Racecheck::give_old_values(bool on, std::uint64_t schedule_seed) {
  gives_old_values_ = on;
  dice_ = Rng(seed_for(schedule_seed, "old values"));
  // In a calm launch: of one write in 1, 2, 4, … 1024, the same in the whole launch.
  one_write_in_ = is_calm(schedule_seed) ? std::uint64_t{1} << dice_.below(11) : 1;
  set_looks_after(on);
}

// Calls `each` for the unseen writes that overlap these bytes. `each` may erase the one that it is called
// for.
template <typename Each>
void Racecheck::for_unseen(std::uint64_t address, std::uint64_t n_bytes, const Each& each) {
  if (address >= unseen_end_ || address + n_bytes <= unseen_begin_) return;
  const auto visit = [&](std::uint64_t word) {
    const auto it = unseen_.find(word);
    if (it != unseen_.end() && word * 4 + it->second.bytes > address) each(it);
  };
  const std::uint64_t first = address / 4, of_8 = first & ~std::uint64_t{1},
                      of_16 = first & ~std::uint64_t{3};
  if (of_16 != of_8) visit(of_16);
  if (of_8 != first) visit(of_8);
  for (std::uint64_t word = first; word * 4 < address + n_bytes; ++word) visit(word);
}

void Racecheck::forget_unseen(std::uint64_t address, std::uint64_t n_bytes) {
  for_unseen(address, n_bytes, [&](auto it) { unseen_.erase(it); });
}

// Notes that the block has released everything that it has written so far.
void Racecheck::note_release(BlockState& b) {
  if (b.unreleased.empty()) return;
  ++n_fences_;
  for (const std::uint64_t word : b.unreleased) {
    const auto it = unseen_.find(word);
    if (it != unseen_.end() && it->second.block == b.number && it->second.released == 0)
      it->second.released = n_fences_;
  }
  b.unreleased.clear();
}

// Must be called before order_by() orders the access by what its address publishes.
void Racecheck::note_old_values(CurrentAccess& h, std::uint32_t lanes) {
  to_deliver_.clear();
  if (h.op.kind == OpKind::mbarrier) return;
  if (h.strong && only_reads(h.op)) return note_load(h, lanes);
  if (h.writes) note_write(h, lanes);
}

void Racecheck::note_write(CurrentAccess& h, std::uint32_t lanes) {
  if (h.strong && releases(h.op) && reaches_device(h.op)) note_release(h.b);
  if (!h.strong || !may_be_old(h.op)) {
    if (unseen_.empty()) return;
    if (h.a.run && lanes == h.a.mask) return forget_unseen(h.a.start(), std::uint64_t{h.a.count} * h.a.bytes);
    for (std::uint32_t m = lanes; m != 0; m &= m - 1) forget_unseen(h.a.at(std::countr_zero(m)), h.a.bytes);
    return;
  }
  ++n_instructions_;
  for (std::uint32_t m = lanes; m != 0; m &= m - 1) {
    const std::uint64_t address = h.a.at(std::countr_zero(m)), word = address / 4;
    if (!is_inside(h, address - h.shadow.base)) continue;  // a fault follows
    const auto there = unseen_.find(word);
    if (there != unseen_.end() && there->second.instruction == n_instructions_) {
      there->second.lanes |= m & -m;  // an earlier lane of this instruction has written it, too
      continue;
    }
    forget_unseen(address, h.a.bytes);
    if (unseen_.size() >= kMostUnseen) continue;
    if (one_write_in_ > 1 && dice_.below(one_write_in_) != 0) continue;
    const auto misses = static_cast<std::uint8_t>(dice_.below(kMisses));
    if (misses == 0 || !arena_.has(address, h.a.bytes)) continue;  // in the second case a fault follows
    Unseen& u = unseen_[word];
    std::memcpy(u.old.data(), reinterpret_cast<const void*>(address), h.a.bytes);
    const auto variable = sync_variables_.find(word);
    u.is_first = variable == sync_variables_.end();
    if (!u.is_first) u.old_published = variable->second;
    u.instruction = n_instructions_;
    u.block = h.b.number;
    u.warp = h.w.number;
    u.lanes = m & -m;
    u.id = h.id;
    u.bytes = static_cast<std::uint8_t>(h.a.bytes);
    u.misses = misses;
    unseen_begin_ = std::min(unseen_begin_, address);
    unseen_end_ = std::max(unseen_end_, address + h.a.bytes);
    h.b.unreleased.push_back(word);
  }
}

bool Racecheck::must_see(const CurrentAccess& h, const Unseen& u, int lane) const {
  if (u.misses == 0 || (u.released != 0 && u.released < h.b.fence)) return true;
  for (std::uint32_t m = u.lanes; m != 0; m &= m - 1)
    if (ordered(h, u.id, static_cast<std::uint32_t>(std::countr_zero(m)), lane)) return true;
  return false;
}

void Racecheck::note_load(CurrentAccess& h, std::uint32_t lanes) {
  if (h.writes && releases(h.op) && reaches_device(h.op)) note_release(h.b);
  for (std::uint32_t m = misses_.empty() ? 0 : lanes; m != 0; m &= m - 1) {
    const auto it = misses_.find(h.a.at(std::countr_zero(m)) / 4);
    if (it != misses_.end() && it->second.block == h.b.number && it->second.warp == h.w.number &&
        it->second.lane == static_cast<std::uint32_t>(std::countr_zero(m)))
      misses_.erase(it);
  }
  if (unseen_.empty()) return;
  const bool takes = may_be_old(h.op);
  ++n_instructions_;
  // If one lane must see the new value, all lanes of the instruction must.
  for (std::uint32_t m = lanes; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    for_unseen(h.a.at(lane), h.a.bytes, [&](auto it) {
      Unseen& u = it->second;
      if (u.instruction != n_instructions_) u.is_due = false;
      u.instruction = n_instructions_;
      const bool is_alike = takes && it->first == h.a.at(lane) / 4 && u.bytes == h.a.bytes;
      u.is_due = u.is_due || !is_alike || u.block == h.b.number || must_see(h, u, lane);
    });
  }
  for (std::uint32_t m = lanes; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    for_unseen(h.a.at(lane), h.a.bytes, [&](auto it) {
      Unseen& u = it->second;
      if (!u.is_due) {
        h.gets_old |= m & -m;
        to_deliver_.push_back({lane, u.old});
        // Of a word that has changed twice, such as a tile's status in a look-back, either value may be
        // correct.
        if (u.is_first && misses_.size() < kMostMisses &&
            missing_between(h, lane, record(u.id), u.id,
                            static_cast<std::uint32_t>(std::countr_zero(u.lanes)),
                            it->first) == Missing::fence)
          misses_.try_emplace(it->first,
                              Miss{h.op.index, h.b.number, h.w.number, static_cast<std::uint32_t>(lane), u.id,
                                   static_cast<std::uint32_t>(std::countr_zero(u.lanes))});
      } else if (u.block != h.b.number || !must_see(h, u, lane)) {
        unseen_.erase(it);
      }
    });
  }
  for (std::uint32_t m = h.gets_old; m != 0; m &= m - 1) {
    Unseen& u = unseen_.at(h.a.at(std::countr_zero(m)) / 4);
    if (u.instruction == n_instructions_) --u.misses;
    u.instruction = 0;
  }
}

void Racecheck::after(Warp& w, const MicroOp& op) {
  if (op.kind != OpKind::load && op.kind != OpKind::atomic) return;
  for (const Old& old : to_deliver_)
    for (std::size_t k = 0; k < op.count; ++k) {
      if (op.dst[k] == MicroOp::kNoSlot) continue;
      if (op.width == 8)
        std::memcpy(&w.slot<std::uint64_t>(op.dst[k])[old.lane], old.value.data() + k * 8, 8);
      else
        std::memcpy(&w.slot<std::uint32_t>(op.dst[k])[old.lane], old.value.data() + k * 4, 4);
    }
  to_deliver_.clear();
}

}  // namespace course::sim
