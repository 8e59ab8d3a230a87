// SPDX-License-Identifier: MIT
// The results of property and attribute queries for a simulated chip. cudaDeviceProp has another layout in
// CUDA 12 but the same field names, so it is filled in by a template over the structure.
#pragma once

#include <algorithm>
#include <cmath>

#include "cudart/cuda_abi.h"
#include "sim/launch_limits.hpp"
#include "sim/types.hpp"

namespace course::cudart {

constexpr int kWarpSize = 32;
constexpr int kMaxPitch = 2147483647;
constexpr int kTextureAlignment = 512;
constexpr int kTexturePitchAlignment = 32;
constexpr int kAsyncEngines = 3;
constexpr int kStreamPriorityLow = 0, kStreamPriorityHigh = -5;
constexpr int kPciBusOfDevice0 = 1;

inline int clock_khz(const sim::DevicePreset& chip) {
  return static_cast<int>(std::lround(chip.clock_ghz * 1e6));
}

// The width of the memory bus in bits, and the clock that gives the data sheet's bandwidth with two transfers
// per cycle. The preset's bandwidth is what a copy achieves.
inline int memory_bus_bits(const sim::DevicePreset& chip) {
  if (chip.memory_gb_per_s > 3500) return 6016;
  if (chip.memory_gb_per_s > 1000) return 5120;
  return chip.compute_major >= 8 ? 128 : 256;
}
inline int memory_clock_khz(const sim::DevicePreset& chip) {
  constexpr double kAchievable = 0.883;  // measured on an H200
  const double bytes_per_cycle = 2.0 * memory_bus_bits(chip) / 8;
  return static_cast<int>(std::lround(chip.memory_gb_per_s / kAchievable * 1e6 / bytes_per_cycle));
}

// Fills in the fields that every version of the structure has. The other fields are zero.
template <typename Properties>
void fill_properties(Properties& p, const sim::DevicePreset& chip, int ordinal) {
  p = {};
  const std::size_t length = std::min(chip.name.size(), sizeof p.name - 1);
  std::copy_n(chip.name.begin(), length, p.name);
  std::copy_n("simulated GPU  ", 15, p.uuid.bytes);
  p.uuid.bytes[15] = static_cast<char>(ordinal);
  p.totalGlobalMem = chip.global_memory;
  p.sharedMemPerBlock = chip.shared_per_block;
  p.regsPerBlock = chip.registers_per_multiprocessor;
  p.warpSize = kWarpSize;
  p.memPitch = kMaxPitch;
  p.maxThreadsPerBlock = chip.max_threads_per_block;
  p.maxThreadsDim[0] = p.maxThreadsDim[1] = chip.max_threads_per_block;
  p.maxThreadsDim[2] = sim::kMaxBlockZ;
  p.maxGridSize[0] = sim::kMaxGridX;
  p.maxGridSize[1] = p.maxGridSize[2] = sim::kMaxGridYZ;
  p.totalConstMem = chip.constant_memory;
  p.major = chip.compute_major;
  p.minor = chip.compute_minor;
  p.textureAlignment = p.surfaceAlignment = kTextureAlignment;
  p.texturePitchAlignment = kTexturePitchAlignment;
  p.multiProcessorCount = chip.multiprocessors;
  p.canMapHostMemory = 1;
  p.concurrentKernels = 1;
  p.pciBusID = kPciBusOfDevice0 + ordinal;
  p.asyncEngineCount = kAsyncEngines;
  p.unifiedAddressing = 1;
  p.memoryBusWidth = memory_bus_bits(chip);
  p.l2CacheSize = chip.l2_bytes;
  p.maxThreadsPerMultiProcessor = chip.max_threads_per_multiprocessor;
  p.streamPrioritiesSupported = 1;
  p.globalL1CacheSupported = p.localL1CacheSupported = 1;
  p.sharedMemPerMultiprocessor = chip.shared_per_multiprocessor;
  p.regsPerMultiprocessor = chip.registers_per_multiprocessor;
  p.managedMemory = 1;
  p.concurrentManagedAccess = 1;
  p.computePreemptionSupported = 1;
  p.canUseHostPointerForRegisteredMem = 1;
  p.cooperativeLaunch = 1;
  p.sharedMemPerBlockOptin = chip.shared_per_block_optin;
  p.maxBlocksPerMultiProcessor = chip.max_blocks_per_multiprocessor;
  p.reservedSharedMemPerBlock = chip.reserved_shared_per_block;
}

// Fills in the fields that CUDA 11's structure does not have.
template <typename Properties>
void fill_later_properties(Properties& p, const sim::DevicePreset& chip) {
  p.memoryPoolsSupported = 1;
  p.hostRegisterSupported = 1;
  p.clusterLaunch = chip.compute_major >= 9 ? 1 : 0;
}

// The value of an attribute; -1 if the attribute does not exist.
int attribute_of(const sim::DevicePreset& chip, int ordinal, cudaDeviceAttr attribute);

}  // namespace course::cudart
