// SPDX-License-Identifier: MIT
// What threads know to have happened before, what they can publish, and what they have seen without acquiring
// it.
#pragma once

#include <cstdint>

#include "sim/checkers/racecheck/vector_clock.hpp"

namespace course::sim::race {

enum Scope : std::uint8_t { kBlockWide, kDeviceWide, kScopes };

// What a fence has prepared to be published by the thread's next strong write: the thread's own accesses
// before `own`, those of its warp before `warp`, those of its block before `block`, and `other`.
struct Publication {
  RecordId own = 0, warp = 0, block = 0;
  VectorClock other;
  bool empty() const { return own == 0 && block == 0 && other.empty(); }
  bool is_copy_of(const Publication& p) const {
    return own == p.own && warp == p.warp && block == p.block && other.is_copy_of(p.other);
  }
  // Adds this, published by `lanes` of a warp, to a clock.
  void add_to(VectorClock& into, std::uint32_t of_block, std::uint32_t of_warp, std::uint32_t lanes) const {
    if (empty()) return;
    BlockClock news;
    news.all_up_to(block);
    news.add({of_warp, ~0u, warp});
    news.add({of_warp, lanes, own});
    into.join(other);
    into.add(of_block, news);
  }
};

// Of one thread, or of all threads of a warp.
struct ThreadClocks {
  VectorClock known;  // in addition to what the bounds of the block and the warp imply
  Publication ready[kScopes];
  VectorClock seen[kScopes];  // from relaxed reads; becomes known at the next fence of that scope

  bool trivial() const {
    return known.empty() && ready[0].empty() && ready[1].empty() && seen[0].empty() && seen[1].empty();
  }
  bool is_copy_of(const ThreadClocks& k) const {
    return known.is_copy_of(k.known) && ready[0].is_copy_of(k.ready[0]) && ready[1].is_copy_of(k.ready[1]) &&
           seen[0].is_copy_of(k.seen[0]) && seen[1].is_copy_of(k.seen[1]);
  }
  void join(const ThreadClocks& from) {
    known.join(from.known);
    for (int s = 0; s < kScopes; ++s) {
      seen[s].join(from.seen[s]);
      ready[s].other.join(from.ready[s].other);
    }
  }
  // Adds what `lanes` of a warp know and have ready. A barrier also acquires what they have seen.
  void add_at_barrier(const ThreadClocks& from, std::uint32_t block, std::uint32_t warp,
                      std::uint32_t lanes) {
    known.join(from.known);
    for (int s = 0; s < kScopes; ++s) {
      known.join(from.seen[s]);
      from.ready[s].add_to(ready[s].other, block, warp, lanes);
    }
  }
  // A fence: what has been seen becomes known; `now` is prepared for publication by the next strong write.
  void acquire_seen(Scope scope) {
    for (int s = 0; s <= scope; ++s) {
      known.join(seen[s]);
      seen[s] = VectorClock{};
    }
  }
  void prepare(const Publication& now, Scope scope) {
    ready[kBlockWide] = now;
    if (scope == kDeviceWide) ready[kDeviceWide] = now;
  }
};

}  // namespace course::sim::race
