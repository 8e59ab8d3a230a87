// SPDX-License-Identifier: MIT
#include "sim/timing/model.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/timing/bounds.hpp"

namespace course::sim {

Modelled model_time(const DevicePreset& preset, const LaunchRequest& launch, const Counters& c) {
  const Timing& t = preset.timing;
  const auto as_double = [](std::uint64_t n) { return static_cast<double>(n); };
  const double clocks_per_us = preset.clock_ghz * 1e3;
  const double blocks = as_double(launch.grid.count());
  const double used = std::clamp(blocks, 1.0, static_cast<double>(preset.multiprocessors));

  const double bytes =
      32 * (as_double(c.memory_read_sectors) + t.write_share * as_double(c.memory_write_sectors));
  const double sectors =
      as_double(c.global_load_sectors - c.near_sectors + c.global_store_sectors + c.local_sectors) +
      (t.partial_cost - 1) * as_double(c.partial_sectors);
  double slots = 0, busiest_unit = 0;
  for (std::size_t k = 0; k < kInstructionKinds; ++k) {
    slots += t.issue[k] * as_double(c.mix[k]);
    busiest_unit = std::max(busiest_unit, t.unit[k] * as_double(c.mix[k]));
  }
  const double passes = as_double(c.shared_wavefronts + c.global_lines);

  struct Part {
    double us;
    Bound bound;
  };
  const std::array<Part, 8> parts{{
      {bytes / (preset.memory_gb_per_s * 1e3), Bound::memory},
      {sectors / t.l2_sectors_per_clock / clocks_per_us, Bound::second_level_cache},
      {passes / (t.near_passes_per_clock * used) / clocks_per_us, Bound::shared_memory_and_l1},
      {std::max(slots, busiest_unit) / (4 * used) / clocks_per_us, Bound::issue},
      {as_double(c.shared_atomic_passes) / (t.shared_atomics_per_clock * used) / clocks_per_us,
       Bound::shared_atomics},
      {std::max(as_double(c.hottest_atomics) / 4 / t.hot_atomics_per_clock,
                as_double(c.global_atomic_passes) / t.atomic_sectors_per_clock) /
           clocks_per_us,
       Bound::global_atomics},
      {blocks / t.blocks_per_clock / clocks_per_us, Bound::starting_blocks},
      {as_double(c.chain_clocks) / clocks_per_us, Bound::latency},
  }};
  const auto less = [](const Part& a, const Part& b) { return a.us < b.us; };
  const Part& most = *std::max_element(parts.begin(), parts.end(), less);
  double sum = 0;
  for (const Part& part : parts) sum += most.us > 0 ? std::pow(part.us / most.us, t.blend) : 0;
  // A kernel whose data are in memory begins with a wait that overlaps with nothing.
  constexpr double kFirstAccessUs = 0.8;
  const double first =
      c.memory_read_sectors > 0 && 2 * c.memory_read_sectors >= c.global_load_sectors ? kFirstAccessUs : 0;
  Modelled m;
  const double work = most.us * (sum > 0 ? std::pow(sum, 1 / t.blend) : 0);
  m.us = t.kernel_us + first + work;
  const Part& busiest = *std::max_element(parts.begin(), parts.end() - 1, less);
  const bool keeps_busy = busiest.us >= m.us / 2;
  m.bound_by = name_of(keeps_busy ? busiest.bound : work < t.kernel_us ? Bound::launch : most.bound);
  return m;
}

int blocks_per_multiprocessor(const DevicePreset& p, int threads_per_block, int registers_per_thread,
                              std::uint64_t shared_bytes) {
  if (threads_per_block <= 0 || threads_per_block > p.max_threads_per_block) return 0;
  const int warps = (threads_per_block + 31) / 32;
  int blocks = std::min(p.max_blocks_per_multiprocessor, p.max_threads_per_multiprocessor / (warps * 32));
  if (registers_per_thread > 0) {
    const int per_warp = (registers_per_thread * 32 + 255) / 256 * 256;
    blocks = std::min(blocks, p.registers_per_multiprocessor / (per_warp * warps));
  }
  const std::uint64_t shared = (shared_bytes + p.reserved_shared_per_block + 127) / 128 * 128;
  if (shared > 0) blocks = std::min(blocks, static_cast<int>(p.shared_per_multiprocessor / shared));
  return blocks;
}

}  // namespace course::sim
