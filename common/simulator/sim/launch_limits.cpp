// SPDX-License-Identifier: MIT
#include "sim/launch_limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace course::sim {
namespace {

constexpr int kLanes = 32;
// Of a launch: even empty blocks would take minutes.
constexpr std::uint64_t kMaxBlocks = std::uint64_t{1} << 27;

std::string in_brackets(const Dim3& d) {
  return fmt::format("({}, {}, {})", d.x, d.y, d.z);
}

template <typename... Args>
LaunchRefusal refuse(LaunchLimit limit, fmt::format_string<Args...> text, Args&&... args) {
  return {limit, fmt::format(text, std::forward<Args>(args)...)};
}

std::optional<LaunchRefusal> check_grid_and_block(const DevicePreset& chip, const LaunchRequest& r) {
  using enum LaunchLimit;
  const auto most = static_cast<std::uint64_t>(chip.max_threads_per_block);
  if (r.grid.count() == 0 || r.block.count() == 0)
    return refuse(configuration, "grid {} of blocks {} holds no thread", in_brackets(r.grid),
                  in_brackets(r.block));
  // The product of three large numbers may overflow.
  if (r.block.count() > most || r.block.x > most || r.block.y > most || r.block.z > kMaxBlockZ)
    return refuse(configuration, "a block of {} = {} threads; at most {}, and {} along z",
                  in_brackets(r.block), r.block.count(), most, kMaxBlockZ);
  if (r.grid.x > kMaxGridX || r.grid.y > kMaxGridYZ || r.grid.z > kMaxGridYZ)
    return refuse(configuration, "a grid of {}; at most ({}, {}, {})", in_brackets(r.grid), kMaxGridX,
                  kMaxGridYZ, kMaxGridYZ);
  return std::nullopt;
}

std::optional<LaunchRefusal> check_cluster(const LaunchRequest& r, const LaunchSettings* settings) {
  if (settings != nullptr && settings->cluster_must_be_set && r.cluster.count() == 0)
    return refuse(LaunchLimit::cluster, "it must be launched with a cluster size");
  const auto [x, y, z] = r.cluster;
  const bool portable = settings != nullptr && !settings->nonportable_cluster;
  const auto most = static_cast<std::uint64_t>(portable ? kPortableClusterSize : kMaxClusterSize);
  if (std::max({x, y, z}) > most || r.cluster.count() > most)
    return refuse(LaunchLimit::cluster, "a cluster of {} blocks: at most {}", r.cluster.count(), most);
  if (r.cluster.count() > 1 && (r.grid.x % x != 0 || r.grid.y % y != 0 || r.grid.z % z != 0))
    return refuse(LaunchLimit::cluster, "the grid {} is not a multiple of the cluster {}",
                  in_brackets(r.grid), in_brackets(r.cluster));
  return std::nullopt;
}

}  // namespace

int blocks_per_multiprocessor(const DevicePreset& p, int threads_per_block, int registers_per_thread,
                              std::uint64_t shared_bytes) {
  if (threads_per_block <= 0 || threads_per_block > p.max_threads_per_block) return 0;
  const int warps = (threads_per_block + kLanes - 1) / kLanes;
  int blocks = std::min(p.max_blocks_per_multiprocessor, p.max_threads_per_multiprocessor / (warps * kLanes));
  blocks = std::min(blocks, p.most_warps(registers_per_thread) / warps);
  const std::uint64_t shared = (shared_bytes + p.reserved_shared_per_block + 127) / 128 * 128;
  if (shared > 0) blocks = std::min(blocks, static_cast<int>(p.shared_per_multiprocessor / shared));
  return blocks;
}

int most_threads_per_block(const DevicePreset& p, const KernelFacts& facts) {
  return std::min({facts.max_threads, p.max_threads_per_block, p.most_warps(facts.registers) * kLanes});
}

int estimated_registers(const DevicePreset& p, int declared, int max_threads, std::uint32_t min_blocks) {
  const int warps = (std::clamp(max_threads, 1, p.max_threads_per_block) + kLanes - 1) / kLanes;
  // As ptxas does, ignore a minimum of blocks that the chip can't hold at once, whatever their registers.
  const int fit =
      std::min(p.max_threads_per_multiprocessor / (warps * kLanes), p.max_blocks_per_multiprocessor);
  const int blocks =
      min_blocks <= static_cast<std::uint32_t>(fit) ? std::max(static_cast<int>(min_blocks), 1) : 1;
  return std::min(std::clamp(declared / 3, 16, 255), p.most_registers(warps * blocks));
}

std::optional<LaunchRefusal> check_shared(const DevicePreset& chip, std::uint64_t in_arrays,
                                          std::uint64_t dynamic, const LaunchSettings* settings) {
  using enum LaunchLimit;
  if (settings != nullptr && settings->max_dynamic_shared >= 0) {
    const std::uint64_t usual = chip.shared_per_block - std::min(chip.shared_per_block, in_arrays);
    const auto allowed = std::max(static_cast<std::uint64_t>(settings->max_dynamic_shared), usual);
    if (dynamic <= allowed) return std::nullopt;
    return refuse(value,
                  "{} bytes of dynamic shared memory, allowed are {} "
                  "(cudaFuncAttributeMaxDynamicSharedMemorySize)",
                  dynamic, allowed);
  }
  const std::uint64_t most = settings != nullptr ? chip.shared_per_block : chip.shared_per_block_optin;
  if (dynamic <= most && in_arrays + dynamic <= most) return std::nullopt;
  return refuse(
      value,
      "it needs {} bytes of shared memory ({} of __shared__ arrays and {} dynamic), the limit is {}; "
      "up to {} after cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)",
      in_arrays + dynamic, in_arrays, dynamic, most, chip.shared_per_block_optin);
}

std::optional<LaunchRefusal> check_launch(const DevicePreset& chip, const KernelFacts& facts,
                                          const LaunchRequest& r, const LaunchSettings* settings) {
  using enum LaunchLimit;
  if (auto refusal = check_grid_and_block(chip, r)) return refusal;
  const auto threads = static_cast<int>(r.block.count());
  if (threads > facts.max_threads)
    return refuse(value, "a block of {} threads, its __launch_bounds__ allow {}", threads, facts.max_threads);
  if (const int most = most_threads_per_block(chip, facts); threads > most)
    return refuse(resources,
                  "a block of {} threads with {} registers each; a multiprocessor has {} registers, for at "
                  "most {} such threads. Launch smaller blocks, or compile the kernel for this size with "
                  "__launch_bounds__({})",
                  threads, facts.registers, chip.registers_per_multiprocessor, most, threads);
  if (auto refusal = check_shared(chip, facts.static_shared, r.dynamic_shared, settings)) return refusal;
  if (auto refusal = check_cluster(r, settings)) return refusal;
  const int resident =
      blocks_per_multiprocessor(chip, threads, facts.registers, facts.static_shared + r.dynamic_shared);
  const auto most = static_cast<std::uint64_t>(resident) * static_cast<std::uint64_t>(chip.multiprocessors);
  if (r.cooperative && r.grid.count() > most)
    return refuse(cooperative, "{} blocks, but only {} fit the device at once ({} on each of {})",
                  r.grid.count(), most, resident, chip.multiprocessors);
  if (r.grid.count() > kMaxBlocks)
    return refuse(endless, "a grid of {} blocks would not end; the simulator runs at most {} in a launch",
                  r.grid.count(), kMaxBlocks);
  return std::nullopt;
}

}  // namespace course::sim
