// SPDX-License-Identifier: MIT
#include "sim/checkers/racecheck/thread_clocks.hpp"

namespace course::sim::race {

void Publication::add_to(VectorClock& into, std::uint32_t of_block, std::uint32_t of_warp,
                         std::uint32_t lanes) const {
  if (empty()) return;
  BlockClock news;
  news.all_up_to(block);
  news.add({of_warp, ~0u, warp});
  news.add({of_warp, lanes, own});
  into.join(other);
  into.add(of_block, news);
}

void ThreadClocks::join(const ThreadClocks& from) {
  known.join(from.known);
  for (int s = 0; s < kScopes; ++s) {
    seen[s].join(from.seen[s]);
    ready[s].other.join(from.ready[s].other);
  }
}

void ThreadClocks::add_at_barrier(const ThreadClocks& from, std::uint32_t block, std::uint32_t warp,
                                  std::uint32_t lanes) {
  known.join(from.known);
  for (int s = 0; s < kScopes; ++s) {
    known.join(from.seen[s]);
    from.ready[s].add_to(ready[s].other, block, warp, lanes);
  }
}

void ThreadClocks::acquire_seen(Scope scope) {
  for (int s = 0; s <= scope; ++s) {
    known.join(seen[s]);
    seen[s] = VectorClock{};
  }
}

void ThreadClocks::prepare(const Publication& now, Scope scope) {
  ready[kBlockWide] = now;
  if (scope == kDeviceWide) ready[kDeviceWide] = now;
}

}  // namespace course::sim::race
