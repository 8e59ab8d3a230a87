// SPDX-License-Identifier: MIT
#include "sim/grid/progress_watch.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "sim/machine/access.hpp"
#include "sim/memory/memory.hpp"

namespace course::sim {
namespace {

constexpr int kTurns = 32;  // that a block is observed for

constexpr std::uint32_t bit(OpKind kind) {
  return 1u << static_cast<std::uint32_t>(kind);
}
constexpr std::uint32_t kWatched =
    bit(OpKind::load) | bit(OpKind::store) | bit(OpKind::atomic) | bit(OpKind::mbarrier);

class Hash {
 public:
  void add(const void* data, std::size_t n_bytes) {
    const auto* bytes = static_cast<const std::byte*>(data);
    std::size_t k = 0;
    for (; k + 8 <= n_bytes; k += 8) {
      std::uint64_t word;
      std::memcpy(&word, bytes + k, 8);
      mix(word);
    }
    for (; k < n_bytes; ++k) mix(static_cast<std::uint64_t>(bytes[k]));
  }
  void mix(std::uint64_t word) {
    a_ = (a_ ^ word) * 0x9e3779b97f4a7c15u;
    b_ = (b_ + word) * 0xc2b2ae3d27d4eb4fu;
    a_ ^= a_ >> 29;
    b_ ^= b_ >> 31;
  }
  bool operator==(const Hash&) const = default;

 private:
  std::uint64_t a_ = 1, b_ = 2;
};

// Everything that decides what the block does next, except global memory.
Hash state_of(const Block& block) {
  Hash h;
  h.add(block.shared, block.shared_bytes);
  for (const Barrier& b : block.barriers)
    for (const std::uint32_t n : {b.arrived, b.expected, b.true_threads, b.voters}) h.mix(n);
  for (const Warp& w : block.warps) {
    h.add(w.registers, w.program->register_bytes);
    h.add(w.local.data(), w.local.size());
    for (const Group& g : w.groups)
      for (const std::uint64_t n :
           {std::uint64_t{g.block}, std::uint64_t{g.done}, std::uint64_t{g.mask},
            static_cast<std::uint64_t>(g.wait), std::uint64_t{g.barrier}, std::uint64_t{g.passed}})
        h.mix(n);
    for (const auto& calls : w.calls) h.mix(calls.size());
  }
  return h;
}

}  // namespace

ProgressWatch::ProgressWatch(Worker& worker)
    : CompositeObserver(worker.observer != nullptr ? std::vector{worker.observer} : std::vector<Observer*>{}),
      worker_(worker),
      inner_(worker.observer) {
  worker_.observer = this;
}

ProgressWatch::~ProgressWatch() {
  worker_.observer = inner_;
}

ProgressWatch::Verdict ProgressWatch::watch(Block& block, const std::function<bool()>& turn) {
  std::vector<std::uint32_t> observed;
  for (Warp& w : block.warps) {
    observed.push_back(w.observed);
    w.observed |= kWatched;
  }
  const std::vector<std::uint64_t> runs = worker_.block_runs;
  const std::size_t printed = worker_.output.size();
  Hash known = state_of(block);
  bool repeats = false, ended = false;
  for (int k = 1; k <= kTurns && !repeats && !ended && !changed_; ++k) {
    ended = turn();
    settle();
    const Hash now = state_of(block);
    repeats = now == known;
    if (std::has_single_bit(static_cast<unsigned>(k))) known = now;  // Brent's cycle detection
  }
  for (std::size_t k = 0; k < block.warps.size(); ++k)
    if (inner_ == nullptr) block.warps[k].observed = observed[k];
  if (ended || changed_ || worker_.output.size() != printed) return Verdict::gets_on;
  if (repeats) return Verdict::repeats;
  const auto& blocks = worker_.program->blocks;
  for (std::size_t k = 0; k < runs.size(); ++k)
    if (worker_.block_runs[k] != runs[k] && !blocks[k].polling) return Verdict::gets_on;
  return wanders_ ? Verdict::gets_on : Verdict::polls;
}

void ProgressWatch::settle() {
  for (const Cell& c : pending_) changed_ = changed_ || std::memcmp(c.memory, c.old, c.n_bytes) != 0;
  pending_.clear();
}

void ProgressWatch::before(Warp& w, const MicroOp& op) {
  const std::uint32_t observed = w.observed;
  CompositeObserver::before(w, op);
  w.observed = observed;
  if ((kWatched & bit(op.kind)) == 0) return;
  settle();
  if (op.space == MemorySpace::local || op.space == MemorySpace::constant ||
      op.space == MemorySpace::shared) {
    if (op.space != MemorySpace::shared || op.kind == OpKind::store) return;
  }
  const bool writes = op.kind != OpKind::load;
  const bool looks = op.kind != OpKind::store && op.dst[0] != MicroOp::kNoSlot;
  looks_elsewhere_ = looks_elsewhere_ || op.kind != OpKind::mbarrier;
  const Addresses a = addresses_of(w, op);
  const Arena& arena = *worker_.arena;
  for (const int i : EachLane{w.mask}) {
    if (looks) {
      const std::uint64_t key =
          (std::uint64_t{op.index} * 64 + w.number) * kLanes + static_cast<std::uint64_t>(i);
      const auto [at, fresh] = looks_.try_emplace(key, a.at[i]);
      wanders_ = wanders_ || at->second != a.at[i];
    }
    Cell c{reinterpret_cast<const std::byte*>(a.at[i]), {0, 0}, std::min(a.bytes, 16u)};
    if (!writes || !arena.has(a.at[i], c.n_bytes)) continue;  // not global memory, or a fault follows
    std::memcpy(c.old, c.memory, c.n_bytes);
    pending_.push_back(c);
  }
}

void ProgressWatch::threads_exit(Warp& w, const Group& g, const BasicBlock& b) {
  changed_ = true;
  CompositeObserver::threads_exit(w, g, b);
}
void ProgressWatch::copies_issued(Warp& w, const CopyBatch& batch) {
  changed_ = true;
  CompositeObserver::copies_issued(w, batch);
}
void ProgressWatch::copies_finished(Block& b, const CopyBatch& batch, std::uint32_t lanes,
                                    std::uint64_t barrier) {
  changed_ = true;
  CompositeObserver::copies_finished(b, batch, lanes, barrier);
}
void ProgressWatch::mbarrier_arrived(Warp& w, int lane, std::uint64_t address) {
  changed_ = true;
  CompositeObserver::mbarrier_arrived(w, lane, address);
}
void ProgressWatch::mbarrier_ended(Block& b, std::uint64_t address) {
  changed_ = true;
  CompositeObserver::mbarrier_ended(b, address);
}

}  // namespace course::sim
