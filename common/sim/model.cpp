// SPDX-License-Identifier: MIT
// T = launch + max over the resources of (demand ÷ what the multiprocessors in use can supply).
#include "sim/model.hpp"

#include <algorithm>
#include <array>

namespace course::sim {

Modelled model_time(const DevicePreset& preset, const LaunchRequest& launch, const Counters& c) {
  const double sms = preset.multiprocessors, clock_hz = preset.clock_ghz * 1e9;
  const double blocks = static_cast<double>(launch.grid.count());
  const double used = std::min(sms, std::max(blocks, 1.0));
  const double warps = blocks * static_cast<double>((launch.block.count() + 31) / 32);

  // One multiprocessor can draw about three times its fair share of the memory's rate; below that, few blocks leave it idle.
  const double bandwidth = preset.memory_gb_per_s * 1e9 * std::min(1.0, 3.0 * used / sms);
  const double bytes = 32.0 * static_cast<double>(c.global_load_sectors + c.global_store_sectors);
  const double memory = bytes / bandwidth;
  const double issue = static_cast<double>(c.warp_instructions) / (4.0 * used * clock_hz);
  const double shared = static_cast<double>(c.shared_wavefronts) / (used * clock_hz);
  const double atomics = static_cast<double>(c.atomic_serialised) / (used * clock_hz);
  // A warp's own chain: one instruction of a warp every four clocks at best, a memory request every 600.
  const double per_warp = warps > 0 ? static_cast<double>(c.warp_instructions) / warps : 0;
  const double requests = static_cast<double>(c.global_load_requests) / std::max(warps, 1.0);
  const double latency = (4.0 * per_warp + 600.0 * std::min(requests, 1.0)) / clock_hz;

  struct Term {
    double seconds;
    const char* name;
  };
  const std::array<Term, 5> terms{{{memory, "memory"},
                                   {issue, "issue"},
                                   {shared, "shared memory"},
                                   {atomics, "atomics"},
                                   {latency, "latency"}}};
  const Term& most = *std::max_element(terms.begin(), terms.end(),
                                       [](const Term& a, const Term& b) { return a.seconds < b.seconds; });
  Modelled m;
  m.us = preset.launch_us + most.seconds * 1e6;
  m.bound_by = most.seconds * 1e6 < preset.launch_us ? "launch" : most.name;
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
  blocks = std::min(blocks, static_cast<int>(p.shared_per_multiprocessor / shared));
  return blocks;
}

}  // namespace course::sim
