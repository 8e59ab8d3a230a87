// SPDX-License-Identifier: MIT
// The limits of a launch, checked in one place for the device and for the CUDA runtime, which give the
// reasons their own error codes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/types.hpp"

namespace course::sim {

constexpr int kMaxGridX = 0x7fffffff, kMaxGridYZ = 65535;      // blocks
constexpr int kMaxBlockZ = 64;                                 // threads
constexpr int kPortableClusterSize = 8, kMaxClusterSize = 16;  // blocks

enum class LaunchLimit : std::uint8_t {
  configuration,  // grid or block
  value,          // what the kernel was compiled or set up for
  resources,      // registers
  cluster,
  cooperative,  // blocks that must be resident at once
  endless,      // more blocks than the simulator can run
};

struct LaunchRefusal {
  LaunchLimit limit;
  std::string text;  // without the kernel's name
};

// What a program has set for a kernel with cudaFuncSetAttribute.
struct LaunchSettings {
  std::int64_t max_dynamic_shared = -1;  // -1: not set
  bool nonportable_cluster = false;
  bool cluster_must_be_set = false;
};

// The number of blocks that fit on one multiprocessor at once; 0 if not even one fits.
int blocks_per_multiprocessor(const DevicePreset& preset, int threads_per_block, int registers_per_thread,
                              std::uint64_t shared_bytes);

// The largest block that the kernel's launch bounds, its registers and the chip allow; see check_launch.
int most_threads_per_block(const DevicePreset& preset, const KernelFacts& facts);

// The registers of a thread of a kernel without machine code. PTX registers are virtual; about a third of the
// declared 32-bit registers remains after register allocation. As the compiler does, it keeps the launch
// bounds: blocks of max_threads threads can be launched, and min_blocks of them are resident at once.
int estimated_registers(const DevicePreset& preset, int declared, int max_threads, std::uint32_t min_blocks);

// Shared memory alone: the arrays that a kernel's own facts count, or with them those of called functions.
std::optional<LaunchRefusal> check_shared(const DevicePreset& chip, std::uint64_t in_arrays,
                                          std::uint64_t dynamic, const LaunchSettings* settings);

// Without settings, all that the chip can do is allowed. A cluster of 0 blocks is none.
std::optional<LaunchRefusal> check_launch(const DevicePreset& chip, const KernelFacts& facts,
                                          const LaunchRequest& request, const LaunchSettings* settings);

}  // namespace course::sim
