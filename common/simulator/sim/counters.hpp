// SPDX-License-Identifier: MIT
// What a launch did, in numbers. All counters are exact and the same on every host. A request is a warp-wide
// memory instruction, a sector is 32 aligned bytes, a wavefront is one pass through the 32 banks of shared
// memory.
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
  std::uint64_t lane_instructions = 0;  // divided by 32 · warp_instructions: share of active lanes
  std::uint64_t branches = 0;           // warp-wide conditional branches executed
  std::uint64_t divergent_branches = 0;
  std::uint64_t global_load_requests = 0;
  // Sectors and bytes (that the lanes requested): also those of global atomics, which read and write them,
  // asynchronous copies, textures, surfaces and prefetches.
  std::uint64_t global_load_sectors = 0;
  std::uint64_t global_load_bytes = 0;
  std::uint64_t global_store_requests = 0;
  std::uint64_t global_store_sectors = 0;
  std::uint64_t global_store_bytes = 0;
  std::uint64_t shared_requests = 0;    // loads, stores and copies, without atomics
  std::uint64_t shared_wavefronts = 0;  // divided by them: 1.0 without conflicts, if lanes access ≤ 4 bytes
  std::uint64_t shared_conflicts = 0;   // wavefronts beyond those of a conflict-free access of the same size
  std::uint64_t local_requests = 0;
  std::uint64_t local_sectors = 0;    // counted as if the lanes' words were adjacent, as on a GPU
  std::uint64_t atomic_requests = 0;  // warp-wide atom and red instructions, global and shared
  std::uint64_t atomic_lanes = 0;
  // Turns that the hardware takes for them: the largest number of lanes on one address, or wavefronts if
  // those are more; only wavefronts for increments that shared memory combines (combines_lanes in
  // launch_counters.cpp).
  std::uint64_t atomic_turns = 0;
  std::uint64_t shared_atomic_requests = 0;  // the atomic_requests in shared memory
  // Wavefronts of atomics in shared memory: lanes on one address share one.
  std::uint64_t shared_atomic_wavefronts = 0;
  // Completed barriers of blocks, also of some of their threads only, and mbarrier phases.
  std::uint64_t barriers = 0;
  // For the timing model (model.hpp). Caches are modelled as cache.hpp describes:
  std::uint64_t global_lines = 0;  // 128-byte lines that requests touch, also of local memory: L1 accesses
  std::uint64_t near_sectors = 0;  // loaded sectors found in the lines that the warp loaded last
  std::uint64_t memory_read_sectors = 0;  // that came from DRAM, each counted once per launch
  std::uint64_t memory_write_sectors = 0;
  std::uint64_t partial_sectors = 0;       // of stores that do not fill all of their sectors: all these
  std::uint64_t global_atomic_passes = 0;  // distinct sectors of global atomics, summed over requests
  // Passes of global atomics in the busiest part of the L2, see HotSpots.
  std::uint64_t hottest_atomics = 0;
  // The atomic_turns in shared memory, and those of additions that the assembler makes a loop of.
  std::uint64_t shared_atomic_passes = 0, shared_loop_passes = 0;
  // Clocks until the last block ends if each warp were limited only by its own latencies and waits.
  std::uint64_t chain_clocks = 0;
  std::array<std::uint64_t, kInstructionKinds> mix{};  // warp instructions by kind
  // Only in dataflow mode (work and step complexity of the watched data):
  std::uint64_t work = 0;   // operations that combine two values which both derive from watched data
  std::uint64_t steps = 0;  // length of the longest chain of such operations

  Counters& operator+=(const Counters& other);
};

// All counters by name, except `mix`. for_each_sum visits those that are added over launches,
// for_each_maximum those of which the maximum is kept.
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
  visit("atomic_turns", &Counters::atomic_turns);
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
  visit("shared_loop_passes", &Counters::shared_loop_passes);
  visit("chain_clocks", &Counters::chain_clocks);
  visit("work", &Counters::work);
}
template <typename Visit>
constexpr void for_each_maximum(const Visit& visit) {
  visit("steps", &Counters::steps);
  visit("hottest_atomics", &Counters::hottest_atomics);
}

// Every field is visited above.
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
