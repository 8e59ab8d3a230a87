// SPDX-License-Identifier: MIT
#include "sim/grid/waiting.hpp"

#include <algorithm>
#include <bit>

#include "sim/grid/signals.hpp"

namespace course::sim {
namespace {

template <typename Each>
void for_lanes(const Warp& w, const Each& each) {
  for (std::uint32_t m = w.mask; m != 0; m &= m - 1) each(std::countr_zero(m));
}

// Whether the warp polls the same addresses again, in a loop that does nothing else. Then everything since
// the last time was waiting and takes no time of its own.
bool looks_again(Warp& w, const MicroOp& op, const std::uint64_t* at) {
  std::uint64_t addresses = 0;
  for_lanes(w, [&](int lane) { addresses = (addresses ^ at[lane]) * 0x9e3779b97f4a7c15u; });
  if (w.polled_op == op.index && w.polled_addresses == addresses) {
    w.time = w.polled_time;
    return true;
  }
  w.polled_op = op.index;
  w.polled_addresses = addresses;
  w.polled_time = w.time;
  return false;
}

// Whether an atomic takes turns with others on its word: unlike additions, exchanges do not give the same
// result in any order, so one that reads what another block has written comes after it.
bool takes_turns(const Warp& w, const MicroOp& op) {
  const ptx::Instruction& i = w.program->functions[op.function].source->instructions[op.ptx_index];
  return i.has("cas") || i.has("exch");
}

}  // namespace

void await_signal(Warp& w, const MicroOp& op, const std::uint64_t* at) {
  looks_again(w, op, at);
  Signals& signals = *w.worker->signals;
  std::uint64_t seen[kLanes];
  int n_seen = 0;
  bool two_stages = false;
  std::uint64_t until = 0;
  for_lanes(w, [&](int lane) {
    const Signals::Signal* s = signals.find(at[lane]);
    if (s == nullptr) return;
    if (s->block == w.block->linear) {
      w.sees_own = true;
      return;
    }
    until = std::max(until, s->first);
    two_stages = two_stages || s->first != s->last;
    if (std::find(seen, seen + n_seen, s->block) == seen + n_seen) seen[n_seen++] = s->block;
  });
  w.time = std::max(w.time, until);
  if (!two_stages) return;
  signals.looks += 1;
  signals.blocks_seen += static_cast<std::uint64_t>(n_seen);
}

void raise_signal(Warp& w, const std::uint64_t* at) {
  const std::uint64_t visible_from = w.time + w.worker->publish_clocks;
  for_lanes(w, [&](int lane) { w.worker->signals->raise(at[lane], visible_from, w.block->linear); });
}

void atomic_signal(Warp& w, const MicroOp& op, const std::uint64_t* at) {
  const Signals::Signal* s = w.worker->signals->find(at[std::countr_zero(w.mask)]);
  if (op.dst[0] != MicroOp::kNoSlot) {
    w.sees_own = w.sees_own || (s != nullptr && s->block == w.block->linear);
    // A lock is only free once the block before has released it, even if nothing has to be tried again here,
    // where blocks run one after the other.
    const bool waits = looks_again(w, op, at) || w.only_polls || (s != nullptr && takes_turns(w, op));
    if (s != nullptr && waits) w.time = std::max(w.time, s->last);
  }
  raise_signal(w, at);
}

void count_hot_spots(Warp& w, const std::uint64_t* at) {
  std::uint64_t sorted[kLanes];
  int n = 0;
  for_lanes(w, [&](int lane) { sorted[n++] = at[lane]; });
  std::sort(sorted, sorted + n);
  for (int k = 0; k < n;) {
    // One sector: different words are handled at the same time, lanes on the same word one after the other.
    const std::uint64_t sector = sorted[k] / 32;
    std::uint64_t most = 0, run = 0;
    for (const int first = k; k < n && sorted[k] / 32 == sector; ++k) {
      run = k > first && sorted[k] == sorted[k - 1] ? run + 1 : 1;
      most = std::max(most, run);
    }
    w.worker->hot_spots.add(sector * 32 / HotSpots::kChunkBytes, 4 * most + 1);
    w.worker->atomic_passes += 1;
  }
}

}  // namespace course::sim
