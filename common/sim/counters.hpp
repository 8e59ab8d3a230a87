// SPDX-License-Identifier: MIT
// What a launch did, in numbers. All counters are exact and the same on every host.
// "Requests" are warp-wide memory instructions; a sector is 32 aligned bytes; a wavefront is one pass of the 32
// shared-memory banks.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "sim/timing.hpp"

namespace course::sim {

struct Counters {
  std::uint64_t launches = 0;
  std::uint64_t warp_instructions = 0;
  std::uint64_t lane_instructions = 0;  // ÷ (32 · warp_instructions) = share of active lanes
  std::uint64_t branches = 0;           // warp-wide conditional branches executed
  std::uint64_t divergent_branches = 0;
  std::uint64_t global_load_requests = 0;
  std::uint64_t global_load_sectors = 0;
  std::uint64_t global_load_bytes = 0;  // asked for by lanes
  std::uint64_t global_store_requests = 0;
  std::uint64_t global_store_sectors = 0;
  std::uint64_t global_store_bytes = 0;
  std::uint64_t shared_requests = 0;
  std::uint64_t shared_wavefronts = 0;  // ÷ requests = 1.0 without bank conflicts
  std::uint64_t shared_conflicts = 0;   // wavefronts beyond those that as many bytes without conflicts take
  std::uint64_t local_requests = 0;
  std::uint64_t local_sectors = 0;    // lanes' words lie side by side, as on a GPU
  std::uint64_t atomic_requests = 0;  // warp-wide atom and red, global and shared
  std::uint64_t atomic_lanes = 0;
  std::uint64_t atomic_serialised = 0;  // sum over requests of the most lanes on one address
  std::uint64_t shared_atomic_requests =
      0;  // those in shared memory, and the passes of its banks that they take:
  std::uint64_t shared_atomic_wavefronts =
      0;                       // lanes on one address share a pass here, see atomic_serialised
  std::uint64_t barriers = 0;  // block-wide barriers completed, and phases of mbarriers
  // For the timing model (model.hpp); caches as far as cache.hpp follows them:
  std::uint64_t global_lines = 0;  // 128-byte lines that requests touch: passes of the first-level cache
  std::uint64_t near_sectors = 0;  // loaded sectors that a warp's last lines held
  std::uint64_t memory_read_sectors = 0;  // that came from memory itself, each once a launch
  std::uint64_t memory_write_sectors = 0;
  std::uint64_t partial_sectors = 0;       // stored without all of their bytes, summed over requests
  std::uint64_t global_atomic_passes = 0;  // distinct sectors, summed over requests
  std::uint64_t hottest_atomics =
      0;  // quarter passes of global atomics in the part of the cache that did most, see HotSpots
  std::uint64_t shared_atomic_passes =
      0;  // of shared atomics: bank conflicts, and lanes in turn where old values are used
  std::uint64_t chain_clocks =
      0;  // until the last block ends, were every warp held up by itself and its waits alone
  std::array<std::uint64_t, kInstructionKinds> mix{};  // warp instructions by kind
  // Only in dataflow mode (work and step complexity of the watched data):
  std::uint64_t work = 0;   // operations that combine two values derived from watched data
  std::uint64_t steps = 0;  // longest chain of such operations

  Counters& operator+=(const Counters& other);
};

// The counters by name, apart from `mix`. Those that for_each_sum visits are sums over launches, the others are maxima.
template <typename Visit>
constexpr void for_each_sum(const Visit& visit) {
  visit("launches", &Counters::launches);
  visit("warp_instructions", &Counters::warp_instructions);
  visit("lane_instructions", &Counters::lane_instructions);
  visit("branches", &Counters::branches);
  visit("divergent_branches", &Counters::divergent_branches);
  visit("global_load_requests", &Counters::global_load_requests);
  visit("global_load_sectors", &Counters::global_load_sectors);
  visit("global_load_bytes", &Counters::global_load_bytes);
  visit("global_store_requests", &Counters::global_store_requests);
  visit("global_store_sectors", &Counters::global_store_sectors);
  visit("global_store_bytes", &Counters::global_store_bytes);
  visit("shared_requests", &Counters::shared_requests);
  visit("shared_wavefronts", &Counters::shared_wavefronts);
  visit("shared_conflicts", &Counters::shared_conflicts);
  visit("local_requests", &Counters::local_requests);
  visit("local_sectors", &Counters::local_sectors);
  visit("atomic_requests", &Counters::atomic_requests);
  visit("atomic_lanes", &Counters::atomic_lanes);
  visit("atomic_serialised", &Counters::atomic_serialised);
  visit("shared_atomic_requests", &Counters::shared_atomic_requests);
  visit("shared_atomic_wavefronts", &Counters::shared_atomic_wavefronts);
  visit("barriers", &Counters::barriers);
  visit("global_lines", &Counters::global_lines);
  visit("near_sectors", &Counters::near_sectors);
  visit("memory_read_sectors", &Counters::memory_read_sectors);
  visit("memory_write_sectors", &Counters::memory_write_sectors);
  visit("partial_sectors", &Counters::partial_sectors);
  visit("global_atomic_passes", &Counters::global_atomic_passes);
  visit("shared_atomic_passes", &Counters::shared_atomic_passes);
  visit("chain_clocks", &Counters::chain_clocks);
  visit("work", &Counters::work);
}
template <typename Visit>
constexpr void for_each_maximum(const Visit& visit) {
  visit("steps", &Counters::steps);
  visit("hottest_atomics", &Counters::hottest_atomics);
}

// Every field has its line above.
static_assert([] {
  std::size_t n = 0;
  const auto one_more = [&n](const char*, std::uint64_t Counters::*) { ++n; };
  for_each_sum(one_more);
  for_each_maximum(one_more);
  return (n + kInstructionKinds) * sizeof(std::uint64_t) == sizeof(Counters);
}());

inline Counters& Counters::operator+=(const Counters& other) {
  for_each_sum([&](const char*, std::uint64_t Counters::*field) { this->*field += other.*field; });
  for_each_maximum([&](const char*, std::uint64_t Counters::*field) {
    this->*field = std::max(this->*field, other.*field);
  });
  for (std::size_t k = 0; k < kInstructionKinds; ++k) mix[k] += other.mix[k];
  return *this;
}

}  // namespace course::sim
