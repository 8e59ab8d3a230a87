// SPDX-License-Identifier: MIT
#include "sim/checkers/racecheck/old_values.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "sim/checkers/racecheck/memory_model.hpp"
#include "sim/grid/calm_schedule.hpp"
#include "sim/machine/access.hpp"
#include "sim/machine/atomic_patterns.hpp"

namespace course::sim::race {
namespace {

constexpr std::size_t kMaxUnseen = std::size_t{1} << 18;
constexpr std::size_t kMaxMisses = std::size_t{1} << 12;
constexpr std::uint64_t kMisses = 4;  // a write is missed by fewer loads than this

// Whether the op may get an old value, or write a value that other blocks may miss.
bool may_be_old(const MicroOp& op) {
  const std::uint32_t bytes = std::uint32_t{op.width} * op.count;
  return accesses_memory(op.kind) && (op.space == MemorySpace::global || op.space == MemorySpace::generic) &&
         is_strong(op) && reaches_device(op) && op.width <= 8 && bytes <= 16;
}

}  // namespace

std::vector<OldValues::Role> OldValues::roles_of(const Program& program) {
  const std::set<std::uint32_t> reading = atomics_that_only_read(program);
  std::vector<Role> roles(program.ops.size(), Role::other);
  for (const MicroOp& op : program.ops) {
    Role& role = roles[op.index];
    if (op.kind == OpKind::load || reading.contains(op.index)) role = Role::reads;
    if (op.kind == OpKind::store) role = Role::replaces;
    if (op.kind != OpKind::atomic || role == Role::reads) continue;
    const ptx::Instruction& i = program.functions[op.function].source->instructions[op.ptx_index];
    const bool integers = i.has("u32") || i.has("s32") || i.has("u64") || i.has("s64");
    if (i.has("cas")) role = Role::compares;
    if (op.dst[0] != MicroOp::kNoSlot) continue;  // its result may have been used
    if (i.has("exch")) role = Role::replaces;
    if (i.has("add") && integers) role = Role::adds;
  }
  return roles;
}

bool OldValues::may_occur(const Program& program, const LaunchRequest& launch) {
  if (launch.grid.count() <= 1) return false;
  bool looks = false, fetches = false, writes = false, repeats = false;
  const std::vector<Role> roles = roles_of(program);
  for (const MicroOp& op : program.ops) {
    if (!may_be_old(op)) continue;
    const Role role = roles[op.index];
    looks = looks || role == Role::reads || role == Role::compares;
    fetches = fetches || (op.kind == OpKind::atomic && op.dst[0] != MicroOp::kNoSlot);
    writes = writes || role != Role::reads;
    repeats = repeats || role == Role::adds || role == Role::replaces;
  }
  return (looks && writes) || (fetches && repeats);
}

void OldValues::turn(bool on, std::uint64_t schedule_seed) {
  on_ = on;
  dice_ = Rng(seed_for(schedule_seed, "old values"));
  // In a calm launch: of one write in 1, 2, 4, … 1024, the same in the whole launch.
  one_write_in_ = is_calm(schedule_seed) ? std::uint64_t{1} << dice_.below(11) : 1;
}

// Calls `each` for the unseen writes that overlap these bytes. `each` may erase the one that it is called
// for.
template <typename Each>
void OldValues::for_unseen(std::uint64_t address, std::uint64_t n_bytes, const Each& each) {
  if (address >= end_ || address + n_bytes <= begin_) return;
  const auto visit = [&](std::uint64_t start) {
    const auto it = unseen_.find(start);
    if (it != unseen_.end() && start + it->second.bytes > address) each(it);
  };
  const std::uint64_t end = address + n_bytes;
  std::uint64_t last = ~std::uint64_t{0};
  for (std::uint64_t aligned = 16; aligned >= step_; aligned /= 2)
    if (const std::uint64_t start = address & ~(aligned - 1); start != last) visit(last = start);
  for (std::uint64_t start = last + step_; start < end; start += step_) visit(start);
}

void OldValues::forget(std::uint64_t address, std::uint64_t n_bytes) {
  for_unseen(address, n_bytes, [&](auto it) { unseen_.erase(it); });
}

void OldValues::launch_begins(const Program& program) {
  step_ = 4;
  if (on_) {
    roles_ = roles_of(program);
    for (const MicroOp& op : program.ops)
      if (may_be_old(op)) step_ = std::min(step_, std::uint64_t{op.width} * op.count);
  }
  unseen_.clear();
  misses_.clear();
  put_back_.clear();
  begin_ = ~std::uint64_t{0};
  end_ = 0;
}

void OldValues::note_fence(BlockState& b, const MicroOp& op) {
  if (!on_) return;
  note_release(b);
  b.fence = std::max(b.fence, b.seen_fence);
  if ((op.order & kOrderMask) == kSequential) b.fence = ++n_fences_;
}

// Notes that the block has released everything that it has written so far.
void OldValues::note_release(BlockState& b) {
  if (b.unreleased.empty()) return;
  ++n_fences_;
  for (const std::uint64_t address : b.unreleased) {
    const auto it = unseen_.find(address);
    if (it != unseen_.end() && it->second.block == b.number && it->second.released == 0)
      it->second.released = n_fences_;
  }
  b.unreleased.clear();
}

void OldValues::note(CurrentAccess& h, std::uint32_t lanes) {
  if (h.op.kind == OpKind::mbarrier) return;
  if (h.writes && h.strong && releases(h.op) && reaches_device(h.op)) note_release(h.b);
  if (h.strong && (h.reads || h.op.dst[0] != MicroOp::kNoSlot)) forget_misses(h, lanes);
  if (h.strong && roles_[h.op.index] == Role::reads) return note_load(h, lanes);
  if (h.writes) note_write(h, lanes);
}

// The threads read these words again.
void OldValues::forget_misses(const CurrentAccess& h, std::uint32_t lanes) {
  for (std::uint32_t m = misses_.empty() ? 0 : lanes; m != 0; m &= m - 1) {
    const auto it = misses_.find(h.a.at(std::countr_zero(m)));
    if (it != misses_.end() && it->second.block == h.b.number && it->second.warp == h.w.number &&
        it->second.lane == static_cast<std::uint32_t>(std::countr_zero(m)))
      misses_.erase(it);
  }
}

void OldValues::note_write(CurrentAccess& h, std::uint32_t lanes) {
  if (!h.strong || !may_be_old(h.op)) {
    if (unseen_.empty()) return;
    if (h.a.run && lanes == h.a.mask) return forget(h.a.start(), std::uint64_t{h.a.count} * h.a.bytes);
    for (const int lane : EachLane{lanes}) forget(h.a.at(lane), h.a.bytes);
    return;
  }
  ++n_instructions_;
  for (const int lane : EachLane{lanes}) {
    const std::uint64_t address = h.a.at(lane);
    if (!h.is_inside(address - h.shadow.base)) continue;  // a fault follows
    const auto there = unseen_.find(address);
    if (there != unseen_.end() && there->second.instruction == n_instructions_) {
      there->second.lanes |= 1u << lane;  // an earlier lane of this instruction has written it, too
      continue;
    }
    // Additions whose results are not used nearly always come first: a write that all of them miss is one
    // that their sum lacks.
    const bool hears = h.op.dst[0] != MicroOp::kNoSlot;
    if (there != unseen_.end() && may_precede(h, there->second, lanes, lane) &&
        dice_.below(hears ? 2 : 8) != 0) {
      give_old(h, there, lane);
      if (hears) --there->second.misses;
      continue;
    }
    forget(address, h.a.bytes);
    if (unseen_.size() >= kMaxUnseen) continue;
    if (one_write_in_ > 1 && dice_.below(one_write_in_) != 0) continue;
    const auto misses = static_cast<std::uint8_t>(dice_.below(kMisses));
    if (misses == 0 || !arena_.has(address, h.a.bytes)) continue;  // in the second case a fault follows
    Unseen& u = unseen_[address];
    std::memcpy(u.old.data(), reinterpret_cast<const void*>(address), h.a.bytes);
    u.role = roles_[h.op.index];
    u.is_first = true;
    for_variables(sync_.variables(), keys_of(h.op, address),
                  [&](std::uint64_t, const SyncVariable& variable) {
                    u.old_published.add(variable);
                    u.is_first = u.role == Role::adds && variable.last.block != h.b.number;
                  });
    u.instruction = n_instructions_;
    u.block = h.b.number;
    u.warp = h.w.number;
    u.lanes = 1u << lane;
    u.id = h.id;
    u.bytes = static_cast<std::uint8_t>(h.a.bytes);
    u.misses = misses;
    begin_ = std::min(begin_, address);
    end_ = std::max(end_, address + h.a.bytes);
    h.b.unreleased.push_back(address);
  }
}

bool OldValues::must_see(const CurrentAccess& h, const Unseen& u, int lane) {
  if (u.misses == 0 || (u.released != 0 && u.released < h.b.fence)) return true;
  for (std::uint32_t m = u.lanes; m != 0; m &= m - 1)
    if (h.is_after(u.id, static_cast<std::uint32_t>(std::countr_zero(m)), lane)) return true;
  return false;
}

// Whether the atomic operation of a lane may take place before the write that it could miss.
bool OldValues::may_precede(const CurrentAccess& h, const Unseen& u, std::uint32_t lanes, int lane) const {
  if (h.op.kind != OpKind::atomic || u.bytes != h.a.bytes || u.block == h.b.number || must_see(h, u, lane))
    return false;
  for (std::uint32_t m = lanes & ~(1u << lane); m != 0; m &= m - 1)
    if (h.a.at(std::countr_zero(m)) == h.a.at(lane)) return false;
  if (u.role == Role::adds || u.role == Role::replaces) return true;
  return roles_[h.op.index] == Role::compares && h.stored(lane, 0) != value_at(u.old.data(), u.bytes);
}

// The lane gets the value from before the write. `it`: in unseen_.
void OldValues::give_old(CurrentAccess& h, UnseenWrites::iterator it, int lane) {
  Unseen& u = it->second;
  h.gets_old |= 1u << lane;
  // Of a word that has changed twice, such as a tile's status in a look-back, either value may be correct.
  const auto other_lane = static_cast<std::uint32_t>(std::countr_zero(u.lanes));
  if ((h.reads || h.op.dst[0] != MicroOp::kNoSlot) && u.is_first && misses_.size() < kMaxMisses &&
      is_fence(sync_.missing_between(h, lane, u.id, other_lane, keys_of(h.op, it->first).first)))
    misses_.try_emplace(it->first, Miss{h.op.index, h.b.number, h.w.number, static_cast<std::uint32_t>(lane),
                                        u.id, other_lane});
  if (std::ranges::any_of(put_back_, [&](const auto& p) { return p.first == it->first; })) return;
  auto* const memory = reinterpret_cast<std::byte*>(it->first);
  std::memcpy(put_back_.emplace_back(it->first, Value{}).second.data(), memory, u.bytes);
  std::memcpy(memory, u.old.data(), u.bytes);
}

void OldValues::note_load(CurrentAccess& h, std::uint32_t lanes) {
  if (unseen_.empty()) return;
  const bool takes = may_be_old(h.op);
  ++n_instructions_;
  // If one lane must see the new value of a word, all lanes of the instruction that read this word must.
  for (const int lane : EachLane{lanes}) {
    for_unseen(h.a.at(lane), h.a.bytes, [&](auto it) {
      Unseen& u = it->second;
      if (u.instruction != n_instructions_) u.is_due = false;
      u.instruction = n_instructions_;
      const bool is_alike = takes && it->first == h.a.at(lane) && u.bytes == h.a.bytes;
      u.is_due = u.is_due || !is_alike || u.block == h.b.number || must_see(h, u, lane);
    });
  }
  for (const int lane : EachLane{lanes}) {
    for_unseen(h.a.at(lane), h.a.bytes, [&](auto it) {
      Unseen& u = it->second;
      if (!u.is_due)
        give_old(h, it, lane);
      else if (u.block != h.b.number || !must_see(h, u, lane))
        unseen_.erase(it);
      else if (u.role == Role::adds)
        u.role = Role::other;  // the sum is known, so no addition can precede it any more
    });
  }
  for (const auto& [address, newest] : put_back_) --unseen_.at(address).misses;
}

void OldValues::after(const MicroOp& op) {
  if (op.kind != OpKind::load && op.kind != OpKind::atomic) return;
  for (auto& [address, newest] : put_back_) {
    Unseen& u = unseen_.at(address);
    auto* const memory = reinterpret_cast<std::byte*>(address);
    if (roles_[op.index] != Role::reads) {
      const std::uint64_t sum =
          value_at(memory, u.bytes) + value_at(newest.data(), u.bytes) - value_at(u.old.data(), u.bytes);
      if (u.role == Role::adds) std::memcpy(newest.data(), &sum, u.bytes);
      std::memcpy(u.old.data(), memory, u.bytes);
    }
    std::memcpy(memory, newest.data(), u.bytes);
  }
  put_back_.clear();
}

}  // namespace course::sim::race
