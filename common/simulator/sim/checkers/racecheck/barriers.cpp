// SPDX-License-Identifier: MIT
// How barriers of a block and of a warp order the accesses of threads.
#include <algorithm>
#include <bit>

#include "sim/checkers/racecheck/block_state.hpp"
#include "sim/machine/control_flow.hpp"

namespace course::sim::race {

void BlockState::arrive(Warp& w, std::uint32_t mask, const MicroOp& op, RecordId next) {
  // At the barrier of a cluster, arriving and waiting are two instructions. What a thread does between them
  // counts as done before the barrier.
  const bool waits = waits_at_barrier(op) || op.imm == kClusterArrive;
  arrivals[barrier_number(w, mask, op)].push_back(
      {w.number, mask, next, waits, op.src[2] != MicroOp::kNoSlot});
  warps[w.number].fresh = next;
}

bool BlockState::release(Block& block, std::uint32_t barrier, RecordId next) {
  std::vector<Arrival>& arrived = arrivals[barrier];
  fence = std::max(fence, seen_fence);
  std::uint32_t waiting = 0;
  bool all_wait = true, counted = false;
  ThreadClocks news;
  for (const Arrival& a : arrived) {
    waiting += count_lanes(a.lanes);
    all_wait = all_wait && a.waits;
    counted = counted || a.counted;
    if (!trivial) add_at_barrier(news, a.warp, a.lanes);
  }
  // If all threads take part, one number is enough. Threads that have exited count as arrived at a
  // __syncthreads().
  const bool whole = all_wait && waiting >= (counted ? block.n_threads : block.live_threads);
  if (whole) {
    if (!trivial) {
      news.known.forget(number);
      for (WarpState& ws : warps) {
        ws.split = false;
        ws.whole = news;
      }
      trivial = news.trivial();
    }
    bound = next;
    for (WarpState& ws : warps) ws.fresh = next;
  } else {
    BlockClock own;
    for (const Arrival& a : arrived) {
      own.add({a.warp, kAllLanes, warps[a.warp].bound});
      own.add({a.warp, a.lanes, a.before});
    }
    news.known.add(number, own);
    for (const Arrival& a : arrived)
      if (a.waits) give(block.warps[a.warp], a.lanes, news);
  }
  arrived.clear();
  return whole;
}

void BlockState::sync_warp(Warp& w, std::uint32_t mask, const MicroOp& op, RecordId next) {
  WarpState& ws = warps[w.number];
  const std::uint32_t* members = w.slot<std::uint32_t>(op.src[3]);
  for (std::uint32_t left = mask; left != 0;) {
    const std::uint32_t wanted = members[std::countr_zero(left)];
    std::uint32_t tile = 0;
    for (const int lane : EachLane{left})
      if (members[lane] == wanted) tile |= 1u << lane;
    left &= ~tile;
    const bool knows_nothing = !ws.split && ws.whole.trivial();
    ThreadClocks news;
    if (!knows_nothing) add_at_barrier(news, w.number, tile);
    if ((w.live & ~tile) == 0) {
      if (!knows_nothing) {
        ws.split = false;
        ws.whole = std::move(news);
      }
      ws.bound = next;
    } else {
      BlockClock own;
      own.add({w.number, tile, next});
      news.known.add(number, own);
      give(w, tile, news);
      ws.note_wait(tile, *std::max_element(ws.waited, ws.waited + kLanes), next);
    }
  }
  ws.fresh = next;
}

}  // namespace course::sim::race
