// SPDX-License-Identifier: MIT
// What a launch did, in numbers. All counters are exact and the same on every host.
// "Requests" are warp-wide memory instructions; a sector is 32 aligned bytes; a wavefront is one pass of the 32
// shared-memory banks.
#pragma once

#include <array>
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

}  // namespace course::sim
