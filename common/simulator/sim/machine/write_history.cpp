// SPDX-License-Identifier: MIT
#include "sim/machine/write_history.hpp"

#include <algorithm>

#include "sim/machine/access.hpp"

namespace course::sim {

void WriteHistory::launch_begins(const Program& program) {
  changes_.clear();
  pending_.clear();
  keeps_ = std::ranges::any_of(program.blocks, [](const BasicBlock& b) { return b.cost > b.counted; });
}

std::uint64_t WriteHistory::key(const Block& block, std::uint64_t address) {
  const bool shared = address >= kSharedWindow && address < kSharedWindow + kWindowSize;
  return address / 4 * 4 + (shared ? block.linear << 20 : 0);
}

void WriteHistory::after() {
  for (const Pending& p : pending_) {
    if (value_at(p.memory, pending_bytes_) == p.old) continue;
    if (changes_.size() < kMax || changes_.contains(p.place)) changes_.insert_or_assign(p.place, p.change);
  }
  pending_.clear();
}

void WriteHistory::before(Warp& w, const MicroOp& op) {
  if (!keeps_) return;
  pending_.clear();  // if the last op ended in a fault
  const bool changes = op.kind == OpKind::atomic || op.kind == OpKind::store || op.kind == OpKind::mbarrier;
  if (!changes || (op.kind != OpKind::atomic && (op.order & kOrderMask) == kWeak)) return;
  const bool swaps =
      // a compare-and-swap
      op.kind == OpKind::atomic && op.src[2] != MicroOp::kNoSlot && op.width <= 8;
  const Addresses a = addresses_of(w, op);
  pending_bytes_ = a.bytes;
  for (const int lane : EachLane{w.mask}) {
    const std::byte* const memory = memory_at(*w.worker->arena, *w.block, a.at[lane], a.bytes);
    const std::uint64_t old = value_at(memory, a.bytes);
    if (swaps) {  // only the first lane that finds the expected value changes it
      const std::uint64_t wanted =
          op.width == 8 ? w.slot<std::uint64_t>(op.src[1])[lane] : w.slot<std::uint32_t>(op.src[1])[lane];
      const bool taken = std::ranges::any_of(pending_, [&](const Pending& p) { return p.memory == memory; });
      if (wanted != old || taken) continue;
    }
    pending_.push_back({key(*w.block, a.at[lane]),
                        old,
                        memory,
                        {w.block->linear, w.number * kLanes + static_cast<std::uint32_t>(lane), op.index}});
  }
}

const WriteHistory::Change* WriteHistory::last(const Block& block, std::uint64_t address) {
  const auto it = changes_.find(key(block, address));
  return it == changes_.end() ? nullptr : &it->second;
}

}  // namespace course::sim
