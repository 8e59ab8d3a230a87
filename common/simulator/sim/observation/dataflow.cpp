// SPDX-License-Identifier: MIT
#include "sim/observation/dataflow.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <new>

#include "sim/machine/control_flow.hpp"

namespace course::sim {
namespace {

std::uint32_t deeper(std::uint32_t a, std::uint32_t b) {
  return std::max(a, b);
}

}  // namespace

Dataflow::Dataflow(const Arena& arena) : Observer(false), arena_(arena) {
  void* place = mmap(nullptr, arena.size() / 4 * sizeof(Depth), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (place == MAP_FAILED) throw std::bad_alloc();
  global_ = static_cast<Depth*>(place);
}

Dataflow::~Dataflow() {
  munmap(global_, arena_.size() / 4 * sizeof(Depth));
}

// The watched buffers start with depth 0; marked again only if the number of buffers has changed.
void Dataflow::mark_data() {
  const auto ranges = arena_.data_ranges();
  const bool known = ranges.size() == inputs_.size();
  inputs_ = ranges;
  if (known) return;
  for (const Allocation& range : ranges)
    std::fill(global_ + (range.base - arena_.base()) / 4,
              global_ + (range.base + range.size - arena_.base() + 3) / 4, 1);
}

// What the host writes does not derive from data, unless it is the data.
void Dataflow::host_wrote(std::uint64_t address, std::uint64_t n_bytes) {
  for (std::uint64_t at = (address + 3) / 4 * 4; at + 4 <= address + n_bytes; at += 4) {
    Depth& word = global_[(at - arena_.base()) / 4];
    const auto holds = [&](const Allocation& one) { return at - one.base < one.size; };
    if (word != 0 && std::ranges::none_of(inputs_, holds)) word = 0;
  }
}

void Dataflow::launch_begins(const Program& program, const LaunchRequest&) {
  program_ = &program;
  blocks_.clear();
  elsewhere_.clear();
  mark_data();
}

void Dataflow::block_begins(Block& block) {
  if (blocks_.size() <= block.storage) blocks_.resize(block.storage + 1);
  auto& all = blocks_[block.storage];
  if (all == nullptr) all = std::make_unique<BlockShadow>();
  all->warps.resize(block.warps.size());
  for (Values<Depth>& values : all->warps) values.reset(*program_);
  all->shared.assign(block.shared_bytes / 4 + 1, 0);
  std::fill_n(all->arrived, kBarriers, Gathered{});
  std::fill_n(all->released, kBarriers, 0);
}

// --- depths ------------------------------------------------------------------------------------------------

Dataflow::Depth Dataflow::combined(Depth a, Depth b) {
  if (a == 0 || b == 0) return deeper(a, b);
  ++work_;
  const Depth depth = deeper(a, b) + 1;
  deepest_ = std::max<std::uint64_t>(deepest_, depth - 1);
  return depth;
}

void Dataflow::Gathered::add(Depth one) {
  n += one != 0 ? 1 : 0;
  deepest = deeper(deepest, one);
}

Dataflow::Depth Dataflow::gathered(const Gathered& all, bool tree) {
  if (all.n < 2) return all.deepest;
  work_ += tree ? all.n - 1 : 1;
  const Depth depth = all.deepest + (tree ? static_cast<Depth>(std::bit_width(all.n - 1)) : 1);
  deepest_ = std::max<std::uint64_t>(deepest_, depth - 1);
  return depth;
}

// --- memory ------------------------------------------------------------------------------------------------

// The word that contains a generic address; nullptr if it is in local memory or outside of all memory.
Dataflow::Depth* Dataflow::memory(const Warp& w, std::uint64_t address) {
  if (address < kSharedWindow)
    return arena_.contains(address) ? &global_[(address - arena_.base()) / 4] : nullptr;
  std::vector<Depth>& shared = shadow(*w.block).shared;
  const std::uint64_t word = (address - kSharedWindow) / 4;
  return word < shared.size() ? &shared[word] : nullptr;
}

namespace {

std::uint64_t local_word(const Warp& w, int lane, std::uint64_t address) {
  const std::uint64_t thread = (std::uint64_t{w.block->storage} * kLanes + w.number) * kLanes;
  return (thread + static_cast<std::uint64_t>(lane)) << 24 ^ address / 4 % (1 << 24);
}

}  // namespace

Dataflow::Depth Dataflow::load(const Warp& w, int lane, std::uint64_t address, std::uint32_t n_bytes) {
  Depth all = 0;
  for (std::uint64_t at = address / 4 * 4; at < address + n_bytes; at += 4) {
    if (const Depth* word = memory(w, at); word != nullptr)
      all = deeper(all, *word);
    else if (const auto known = elsewhere_.find(local_word(w, lane, at)); known != elsewhere_.end())
      all = deeper(all, known->second);
  }
  return all;
}

// Of a word of which only some bytes are written, the deeper value counts.
void Dataflow::store(const Warp& w, int lane, std::uint64_t address, std::uint32_t n_bytes, Depth value) {
  for (std::uint64_t at = address / 4 * 4; at < address + n_bytes; at += 4) {
    Depth* const word = memory(w, at);
    Depth& to = word != nullptr ? *word : elsewhere_[local_word(w, lane, at)];
    to = at >= address && at + 4 <= address + n_bytes ? value : deeper(to, value);
  }
}

// --- ops ---------------------------------------------------------------------------------------------------

void Dataflow::before(Warp& w, const MicroOp& op) {
  Values<Depth>& values = shadow(*w.block).warps[w.number];
  const std::uint32_t by_guard = values.lanes(ValueSlot::guard(op)) & w.mask;
  const std::uint32_t derived = values.lanes_of_sources(op) & w.mask;
  const FlowRule& rule = program_->rows[op.index]->flow;
  switch (op.kind) {
    case OpKind::load:
    case OpKind::store:
    case OpKind::atomic: access(w, op, values); break;
    case OpKind::vote:
    case OpKind::reduce: warp_wide(w, op, values); break;
    case OpKind::shuffle: {
      const ValueSlot source = ValueSlot::source(op, 0);
      Values<Depth>::Lanes moved{};
      if (values.lanes(source) != 0) {
        const LaneBits from = lanes_read(w, op);
        for_lanes(w.mask, [&](int i) {
          moved[static_cast<std::size_t>(i)] =
              values.low(source, static_cast<int>(from[static_cast<std::size_t>(i)]));
        });
      }
      for_lanes(w.mask, [&](int i) {
        const Depth by =
            deeper(values.low(ValueSlot::source(op, 1), i), values.low(ValueSlot::source(op, 2), i));
        values.set(ValueSlot::result(op, 0), i, deeper(moved[static_cast<std::size_t>(i)], by), 0);
        values.set(ValueSlot::result(op, 1), i, by, 0);
      });
      break;
    }
    case OpKind::sync:
      for_lanes(op.dst[0] != MicroOp::kNoSlot ? w.mask : 0, [&](int i) {
        const std::uint32_t number = w.slot<std::uint32_t>(op.src[1])[i] & 15;
        values.set(ValueSlot::result(op, 0), i, shadow(*w.block).released[number], 0);
      });
      break;
    case OpKind::fence:
    case OpKind::control: break;
    default: {
      values.forget_results(op, w.mask & ~derived);
      const bool carries = rule.carry_in || rule.carry_out;
      const ValueSlot carry{program_->carry_slot, true, false};
      for_lanes(derived | (carries ? w.mask : 0), [&](int i) {
        const Depth carried = rule.carry_in ? values.low(carry, i) : 0;
        values.flow(w, op, rule, i, deeper, [this](Depth a, Depth b) { return combined(a, b); });
        if (!carries) return;
        const ValueSlot sum = ValueSlot::result(op, 0);
        const Depth low = deeper(values.low(sum, i), carried), high = deeper(values.high(sum, i), carried);
        values.set(sum, i, low, high);
        if (rule.carry_out) values.set(carry, i, low, 0);
      });
    }
  }
  if (by_guard != 0 && op.kind != OpKind::store) guarded_off(w, op, by_guard);
}

// A guarded op leaves a value that depends on the guard, whether it is executed or not.
void Dataflow::guarded_off(Warp& w, const MicroOp& op, std::uint32_t lanes) {
  Values<Depth>& values = shadow(*w.block).warps[w.number];
  for_lanes(lanes & values.lanes(ValueSlot::guard(op)), [&](int i) {
    const Depth by = values.low(ValueSlot::guard(op), i);
    for (int k = 0; k < (op.kind == OpKind::store ? 0 : 4); ++k) {
      const ValueSlot at = ValueSlot::result(op, k);
      if (at.exists()) values.set(at, i, deeper(values.low(at, i), by), deeper(values.high(at, i), by));
    }
  });
}

void Dataflow::access(Warp& w, const MicroOp& op, Values<Depth>& values) {
  const Addresses a = addresses_of(w, op);
  for_lanes_in_turn(w, w.mask, [&](int i) {  // of those that store in one place, the last one wins
    if (op.kind == OpKind::atomic) return atomic(w, op, values, i, a.at[i]);
    const ValueSlot address = ValueSlot::source(op, 0);
    const Depth by = deeper(values.low(address, i), values.high(address, i)),
                guard = values.low(ValueSlot::guard(op), i);
    const std::uint32_t width = std::min<std::uint32_t>(op.width, 4);
    for (int k = 0; k < op.count; ++k) {
      const std::uint64_t at = a.at[i] + static_cast<std::uint64_t>(k) * op.width;
      if (op.kind == OpKind::load) {
        const Depth high = op.width == 8 ? deeper(load(w, i, at + 4, 4), by) : 0;
        values.set(ValueSlot::result(op, k), i, deeper(load(w, i, at, width), by), high);
      } else {
        const ValueSlot value = ValueSlot::stored(op, k);
        store(w, i, at, width, deeper(values.low(value, i), deeper(by, guard)));
        if (op.width == 8) store(w, i, at + 4, 4, deeper(values.high(value, i), deeper(by, guard)));
      }
    }
  });
}

// What an atomic adds also derives from its address and guard, which decide where and whether it does.
void Dataflow::atomic(Warp& w, const MicroOp& op, Values<Depth>& values, int lane, std::uint64_t address) {
  const auto whole = [&](ValueSlot at) { return deeper(values.low(at, lane), values.high(at, lane)); };
  const bool double_wide = op.width == 16;  // b in src[1] and src[2], c in src[3] and dst[3]
  Depth value = deeper(whole(ValueSlot::source(op, 0)), whole(ValueSlot::guard(op)));
  const Depth where = whole(ValueSlot::source(op, 0));
  for (int k = 1; k < 4; ++k) value = deeper(value, whole(ValueSlot::source(op, k)));
  if (double_wide) value = deeper(value, whole({op.dst[3], false, true}));
  const Depth old = load(w, lane, address, op.width);
  store(w, lane, address, op.width, combined(old, value));
  for (int k = 0; k < (double_wide ? 2 : 1); ++k)
    values.set(ValueSlot::result(op, k), lane, deeper(old, where), deeper(old, where));
}

// Votes and matches are one operation; a reduction is as many as a tree of additions.
void Dataflow::warp_wide(Warp& w, const MicroOp& op, Values<Depth>& values) {
  const ValueSlot source = ValueSlot::source(op, 0);
  const bool votes = values.lanes(source) != 0;  // activemask and elect have no source
  const std::uint32_t* members = votes ? w.slot<std::uint32_t>(op.src[3]) : nullptr;
  std::uint32_t last = 0;
  Depth result = 0;
  Values<Depth>::Lanes results{};
  for_lanes(votes ? w.mask : 0, [&](int i) {
    const std::uint32_t peers = members[i] & w.mask;
    if (peers != last) {
      last = peers;
      Gathered all;
      for_lanes(peers,
                [&](int peer) { all.add(deeper(values.low(source, peer), values.high(source, peer))); });
      result = gathered(all, op.kind == OpKind::reduce);
    }
    results[static_cast<std::size_t>(i)] = result;
  });
  for (int k = 0; k < 2; ++k)
    for_lanes(w.mask, [&](int i) {
      values.set(ValueSlot::result(op, k), i, results[static_cast<std::size_t>(i)], 0);
    });
}

void Dataflow::barrier_arrived(Warp& w, std::uint32_t mask, const MicroOp& op) {
  if ((op.pred_src & 1) == 0) return;
  BlockShadow& block = shadow(*w.block);
  Gathered lanes;
  for_lanes(mask, [&](int i) { lanes.add(block.warps[w.number].low(ValueSlot::source(op, 0), i)); });
  block.arrived[barrier_number(w, mask, op)].add(gathered(lanes, false));
}

void Dataflow::barrier_released(Block& block, std::uint32_t barrier) {
  BlockShadow& all = shadow(block);
  all.released[barrier] = gathered(std::exchange(all.arrived[barrier], {}), true);
}

// --- what the machine moves --------------------------------------------------------------------------------

void Dataflow::local_moved(Warp& w, int lane, std::uint32_t offset, std::uint32_t bytes) {
  store(w, lane, kLocalWindow + offset, bytes, 0);
}

void Dataflow::local_copied(Warp& w, int lane, std::uint32_t to, std::uint32_t from, std::uint32_t bytes) {
  for (std::uint32_t k = 0; k < bytes; k += 4)
    store(w, lane, kLocalWindow + to + k, std::min(bytes - k, 4u),
          load(w, lane, kLocalWindow + from + k, std::min(bytes - k, 4u)));
}

void Dataflow::copies_finished(Block& block, const CopyBatch& batch, std::uint32_t lanes, std::uint64_t) {
  const Warp& w = block.warps[batch.warp];
  for_lanes(lanes, [&](int i) {
    for (std::uint32_t k = 0; k < batch.bytes[i]; k += 4)
      store(w, i, batch.to[i] + k, 4, k < batch.read[i] ? load(w, i, batch.from[i] + k, 4) : 0);
  });
}

}  // namespace course::sim
