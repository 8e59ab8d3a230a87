// SPDX-License-Identifier: MIT
#include "sim/timing/model.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/grid/launch_counters.hpp"
#include "sim/timing/bounds.hpp"

namespace course::sim {

Modelled model_time(const DevicePreset& preset, const LaunchRequest& launch, const Counters& c,
                    const UnitClocks& block) {
  const Timing& t = preset.timing;
  const auto as_double = [](std::uint64_t n) { return static_cast<double>(n); };
  const double clocks = preset.clock_ghz * 1e3;
  const double blocks = as_double(launch.grid.count());
  const double used = std::clamp(blocks, 1.0, static_cast<double>(preset.multiprocessors));

  const double bytes =
      32 * (as_double(c.memory_read_sectors) + t.write_share * as_double(c.memory_write_sectors));
  // Of the sectors that reach the L2, those that it has and those that it gets from memory or is given.
  const double read = as_double(c.global_load_sectors - c.near_sectors + c.local_sectors);
  const double from_memory = as_double(c.memory_read_sectors);
  const double atomic = as_double(std::min(c.global_atomic_passes, c.global_store_sectors));
  const double written = as_double(c.global_store_sectors) - atomic;
  const double sectors = std::max(read - from_memory, 0.0) + atomic +
                         t.l2_fill_cost * (from_memory + written) +
                         (t.partial_cost - t.l2_fill_cost) * as_double(c.partial_sectors);
  // The multiprocessor that gets one block more than others ends last.
  const double uneven = blocks > 0 ? std::ceil(blocks / used) * used / blocks : 1;
  const UnitClocks all = unit_clocks(c, t);

  struct Part {
    double us;  // that it takes at the rate that kernels reach
    Bound bound;
    double busy;  // µs at its highest rate: what a profiler counts
  };
  const auto part = [](double us, Bound bound, double efficiency = 1) {
    return Part{us, bound, us * efficiency};
  };
  // All multiprocessors share the work, but one does all that a block needs.
  const auto shared = [&](std::size_t unit, Bound bound) {
    const double us = uneven * all[unit] / used / clocks;
    return Part{std::max(us, block[unit] / clocks), bound, us};
  };
  std::array<Part, 8> parts{{
      part(bytes / (preset.memory_gb_per_s * 1e3), Bound::memory, t.memory_efficiency),
      part(sectors / t.l2_sectors_per_clock / clocks / t.l2_efficiency, Bound::second_level_cache,
           t.l2_efficiency),
      shared(0, Bound::shared_memory_and_l1),
      shared(1, Bound::issue),
      shared(2, Bound::shared_atomics),
      part(std::max(as_double(c.hottest_atomics) / t.hot_atomics_per_clock,
                    as_double(c.global_atomic_passes) / t.atomic_sectors_per_clock) /
               clocks,
           Bound::global_atomics),
      part(blocks / t.blocks_per_clock / clocks, Bound::starting_blocks),
      part(as_double(c.chain_clocks) / clocks, Bound::latency),
  }};
  // Warps of a block may share what they load, but each sector that memory has sent came to some block.
  parts[1].us = std::max(parts[1].us, std::min(block[3], from_memory / t.near_sectors_per_clock) / clocks);
  const auto less = [](const Part& a, const Part& b) { return a.us < b.us; };
  const Part& most = *std::ranges::max_element(parts, less);
  double sum = 0;
  for (const Part& p : parts) sum += most.us > 0 ? std::pow(p.us / most.us, t.blend) : 0;
  // A kernel whose data are in memory begins with a wait that overlaps with nothing.
  const double first =
      c.memory_read_sectors > 0 && 2 * c.memory_read_sectors >= c.global_load_sectors ? t.first_access_us : 0;
  Modelled m;
  const double work = most.us * (sum > 0 ? std::pow(sum, 1 / t.blend) : 0);
  m.us = t.kernel_us + first + work;
  // The limiter is the busiest unit, as in a profiler, if it is busy for at least half of the time.
  const Part& busiest = *std::max_element(parts.begin(), parts.end() - 1,
                                          [](const Part& a, const Part& b) { return a.busy < b.busy; });
  const bool keeps_busy = busiest.busy >= m.us / 2;
  m.bound_by = name_of(keeps_busy ? busiest.bound : work < t.kernel_us ? Bound::launch : most.bound);
  return m;
}

}  // namespace course::sim
