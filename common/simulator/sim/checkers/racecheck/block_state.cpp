// SPDX-License-Identifier: MIT
#include "sim/checkers/racecheck/block_state.hpp"

#include <algorithm>
#include <bit>

namespace course::sim::race {

void WarpState::note_wait(std::uint32_t lanes, RecordId before, RecordId next) {
  for (const int lane : EachLane{lanes}) waited[lane] = std::max(waited[lane], before);
  if (std::exchange(may_exchange, false)) fresh = next;
}

void BlockState::begin(const Block& block, RecordId next) {
  number = static_cast<std::uint32_t>(block.linear);
  first = bound = next;
  warps.resize(block.warps.size());
  for (WarpState& ws : warps) {
    ws.fresh = ws.bound = first;
    ws.loaded.clear();
    if (!trivial) {
      ws.split = false;
      ws.whole = ThreadClocks{};
    }
  }
  trivial = true;
  shared_bytes = block.shared_bytes;
  const std::size_t words = (shared_bytes + 3) / 4;
  if (written.size() < words) {
    written.resize(words);
    read.resize(words);
  }
  sync_variables.clear();
  flights.clear();
  gates.clear();
  for (auto& arrived : arrivals) arrived.clear();
  n_looks = 0;
  fence = seen_fence = 0;
  unreleased.clear();
}

ThreadClocks& BlockState::clocks_of(const Warp& w, int lane) {
  WarpState& ws = warps[w.number];
  trivial = false;
  if (!ws.split && w.live == 1u << lane) return ws.whole;
  if (!ws.split) {
    ws.split = true;
    ws.by_lane.assign(kLanes, ws.whole);
  }
  return ws.by_lane[static_cast<std::size_t>(lane)];
}

void BlockState::give(const Warp& w, std::uint32_t lanes, const ThreadClocks& news) {
  WarpState& ws = warps[w.number];
  if (!ws.split && (w.live & ~lanes) == 0) {
    ws.whole.join(news);
    trivial = false;
    return;
  }
  for (const int lane : EachLane{lanes}) clocks_of(w, lane).join(news);
}

void BlockState::add_at_barrier(ThreadClocks& into, std::uint32_t warp, std::uint32_t lanes) const {
  const WarpState& ws = warps[warp];
  if (!ws.split) {
    if (!ws.whole.trivial()) into.add_at_barrier(ws.whole, number, warp, lanes);
    return;
  }
  for (std::uint32_t left = lanes; left != 0;) {
    const ThreadClocks& one = ws.of(std::countr_zero(left));
    std::uint32_t alike = 0;
    for (const int lane : EachLane{left})
      if (one.is_copy_of(ws.of(lane))) alike |= 1u << lane;
    into.add_at_barrier(one, number, warp, alike);
    left &= ~alike;
  }
}

}  // namespace course::sim::race
