// SPDX-License-Identifier: MIT
#include "sim/checkers/racecheck/barriers.hpp"

#include <algorithm>
#include <bit>

#include "sim/machine/control_flow.hpp"

namespace course::sim::race {

void arrive(BlockState& b, Warp& w, std::uint32_t mask, const MicroOp& op, RecordId next) {
  // At the barrier of a cluster, arriving and waiting are two instructions. What a thread does between them
  // counts as done before the barrier.
  const bool waits = waits_at_barrier(op) || op.imm == kClusterArrive;
  b.arrivals[barrier_number(w, mask, op)].push_back(
      {w.number, mask, next, waits, op.src[2] != MicroOp::kNoSlot});
  b.warps[w.number].fresh = next;
}

bool release(BlockState& b, Block& block, std::uint32_t barrier, RecordId next) {
  std::vector<Arrival>& arrivals = b.arrivals[barrier];
  b.fence = std::max(b.fence, b.seen_fence);
  std::uint32_t waiting = 0;
  bool all_wait = true, counted = false;
  ThreadClocks news;
  for (const Arrival& a : arrivals) {
    waiting += count_lanes(a.lanes);
    all_wait = all_wait && a.waits;
    counted = counted || a.counted;
    if (!b.trivial) b.add_at_barrier(news, a.warp, a.lanes);
  }
  // If all threads take part, one number is enough. Threads that have exited count as arrived at a
  // __syncthreads().
  const bool whole = all_wait && waiting >= (counted ? block.n_threads : block.live_threads);
  if (whole) {
    if (!b.trivial) {
      news.known.forget(b.number);
      for (WarpState& ws : b.warps) {
        ws.split = false;
        ws.whole = news;
      }
      b.trivial = news.trivial();
    }
    b.bound = next;
    for (WarpState& ws : b.warps) ws.fresh = next;
  } else {
    BlockClock own;
    for (const Arrival& a : arrivals) {
      own.add({a.warp, kAllLanes, b.warps[a.warp].bound});
      own.add({a.warp, a.lanes, a.before});
    }
    news.known.add(b.number, own);
    for (const Arrival& a : arrivals)
      if (a.waits) b.give(block.warps[a.warp], a.lanes, news);
  }
  arrivals.clear();
  return whole;
}

void sync_warp(BlockState& b, Warp& w, std::uint32_t mask, const MicroOp& op, RecordId next) {
  WarpState& ws = b.warps[w.number];
  const std::uint32_t* members = w.slot<std::uint32_t>(op.src[3]);
  for (std::uint32_t left = mask; left != 0;) {
    const std::uint32_t wanted = members[std::countr_zero(left)];
    std::uint32_t tile = 0;
    for (std::uint32_t m = left; m != 0; m &= m - 1)
      if (members[std::countr_zero(m)] == wanted) tile |= m & -m;
    left &= ~tile;
    const bool trivial = !ws.split && ws.whole.trivial();
    ThreadClocks news;
    if (!trivial) b.add_at_barrier(news, w.number, tile);
    if ((w.live & ~tile) == 0) {
      if (!trivial) {
        ws.split = false;
        ws.whole = std::move(news);
      }
      ws.bound = next;
    } else {
      BlockClock own;
      own.add({w.number, tile, next});
      news.known.add(b.number, own);
      b.give(w, tile, news);
      ws.note_wait(tile, *std::max_element(ws.waited, ws.waited + kLanes), next);
    }
  }
  ws.fresh = next;
}

}  // namespace course::sim::race
