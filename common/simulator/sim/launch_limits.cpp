// SPDX-License-Identifier: MIT
#include "sim/launch_limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace course::sim {
namespace {

// Of a launch: even empty blocks would take minutes.
constexpr std::uint64_t kMostBlocks = std::uint64_t{1} << 27;

std::string in_brackets(const Dim3& d) {
  return fmt::format("({}, {}, {})", d.x, d.y, d.z);
}

std::optional<LaunchRefusal> check_cluster(const LaunchRequest& r, const LaunchSettings* settings) {
  if (settings != nullptr && settings->cluster_must_be_set && r.cluster.count() == 0)
    return LaunchRefusal{LaunchLimit::cluster, "it must be launched with a cluster size"};
  const auto [x, y, z] = r.cluster;
  const bool portable = settings != nullptr && !settings->nonportable_cluster;
  const std::uint64_t most = portable ? kPortableClusterSize : kMaxClusterSize;
  if (std::max({x, y, z}) > most || r.cluster.count() > most)  // the product may overflow
    return LaunchRefusal{LaunchLimit::cluster,
                         fmt::format("a cluster of {} blocks: at most {}", r.cluster.count(), most)};
  if (r.cluster.count() <= 1) return std::nullopt;
  if (r.grid.x % x != 0 || r.grid.y % y != 0 || r.grid.z % z != 0)
    return LaunchRefusal{LaunchLimit::cluster, fmt::format("the grid {} is not a multiple of the cluster {}",
                                                           in_brackets(r.grid), in_brackets(r.cluster))};
  return std::nullopt;
}

}  // namespace

int blocks_per_multiprocessor(const DevicePreset& p, int threads_per_block, int registers_per_thread,
                              std::uint64_t shared_bytes) {
  if (threads_per_block <= 0 || threads_per_block > p.max_threads_per_block) return 0;
  const int warps = (threads_per_block + 31) / 32;
  int blocks = std::min(p.max_blocks_per_multiprocessor, p.max_threads_per_multiprocessor / (warps * 32));
  blocks = std::min(blocks, p.most_warps(registers_per_thread) / warps);
  const std::uint64_t shared = (shared_bytes + p.reserved_shared_per_block + 127) / 128 * 128;
  if (shared > 0) blocks = std::min(blocks, static_cast<int>(p.shared_per_multiprocessor / shared));
  return blocks;
}

std::optional<LaunchRefusal> check_shared(const DevicePreset& chip, std::uint64_t in_arrays,
                                          std::uint64_t dynamic, const LaunchSettings* settings) {
  const std::uint64_t total = in_arrays + dynamic;
  if (settings != nullptr && settings->max_dynamic_shared >= 0) {
    const auto allowed = std::max(static_cast<std::uint64_t>(settings->max_dynamic_shared),
                                  chip.shared_per_block - std::min(chip.shared_per_block, in_arrays));
    if (dynamic <= allowed) return std::nullopt;
    return LaunchRefusal{LaunchLimit::value, fmt::format("{} bytes of dynamic shared memory, allowed are {} "
                                                         "(cudaFuncAttributeMaxDynamicSharedMemorySize)",
                                                         dynamic, allowed)};
  }
  const std::uint64_t most = settings != nullptr ? chip.shared_per_block : chip.shared_per_block_optin;
  if (dynamic <= most && total <= most) return std::nullopt;
  return LaunchRefusal{
      LaunchLimit::value,
      fmt::format(
          "it needs {} bytes of shared memory ({} of __shared__ arrays and {} dynamic), the limit is {}; "
          "up to {} after cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)",
          total, in_arrays, dynamic, most, chip.shared_per_block_optin)};
}

std::optional<LaunchRefusal> check_launch(const DevicePreset& chip, const KernelFacts& facts,
                                          const LaunchRequest& r, const LaunchSettings* settings) {
  const auto refuse = [](LaunchLimit limit, std::string text) {
    return LaunchRefusal{limit, std::move(text)};
  };
  const std::uint64_t threads = r.block.count();
  if (r.grid.count() == 0 || threads == 0)
    return refuse(LaunchLimit::configuration, fmt::format("grid {} of blocks {} holds no thread",
                                                          in_brackets(r.grid), in_brackets(r.block)));
  const auto most_threads = static_cast<std::uint64_t>(chip.max_threads_per_block);
  if (threads > most_threads || r.block.x > most_threads || r.block.y > most_threads ||
      r.block.z > kMaxBlockZ)
    return refuse(LaunchLimit::configuration,
                  fmt::format("a block of {} = {} threads; at most {}, and {} along z", in_brackets(r.block),
                              threads, most_threads, kMaxBlockZ));
  if (r.grid.x > kMaxGridX || r.grid.y > kMaxGridYZ || r.grid.z > kMaxGridYZ)
    return refuse(LaunchLimit::configuration,
                  fmt::format("a grid of {}; at most ({}, {}, {})", in_brackets(r.grid), kMaxGridX,
                              kMaxGridYZ, kMaxGridYZ));
  if (threads > static_cast<std::uint64_t>(facts.max_threads))
    return refuse(LaunchLimit::value, fmt::format("a block of {} threads, its __launch_bounds__ allow {}",
                                                  threads, facts.max_threads));
  constexpr int kLanes = 32;
  const auto warps = static_cast<int>((threads + kLanes - 1) / kLanes);
  if (const int most = chip.most_warps(facts.registers); warps > most)
    return refuse(
        LaunchLimit::resources,
        fmt::format("a block of {} threads with {} registers each; a multiprocessor has {} registers, "
                    "for at most {} such threads. Launch smaller blocks, or compile the kernel for this "
                    "size with __launch_bounds__({})",
                    threads, facts.registers, chip.registers_per_multiprocessor, most * kLanes, threads));
  if (auto refusal = check_shared(chip, facts.static_shared, r.dynamic_shared, settings)) return refusal;
  if (auto refusal = check_cluster(r, settings)) return refusal;
  if (r.cooperative) {
    const int resident = blocks_per_multiprocessor(chip, static_cast<int>(threads), facts.registers,
                                                   facts.static_shared + r.dynamic_shared);
    const auto most = static_cast<std::uint64_t>(resident) * static_cast<std::uint64_t>(chip.multiprocessors);
    if (r.grid.count() > most)
      return refuse(LaunchLimit::cooperative,
                    fmt::format("{} blocks, but only {} fit the device at once ({} on each of {})",
                                r.grid.count(), most, resident, chip.multiprocessors));
  }
  if (r.grid.count() > kMostBlocks)
    return refuse(LaunchLimit::endless,
                  fmt::format("a grid of {} blocks would not end; the simulator runs at most {} in a launch",
                              r.grid.count(), kMostBlocks));
  return std::nullopt;
}

}  // namespace course::sim
