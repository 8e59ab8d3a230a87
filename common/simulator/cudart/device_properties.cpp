// SPDX-License-Identifier: MIT
#include "cudart/device_properties.hpp"

namespace course::cudart {

int attribute_of(const sim::DevicePreset& chip, int ordinal, cudaDeviceAttr attribute) {
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock: return chip.max_threads_per_block;
    case cudaDevAttrMaxBlockDimX: return chip.max_threads_per_block;
    case cudaDevAttrMaxBlockDimY: return chip.max_threads_per_block;
    case cudaDevAttrMaxBlockDimZ: return sim::kMaxBlockZ;
    case cudaDevAttrMaxGridDimX: return sim::kMaxGridX;
    case cudaDevAttrMaxGridDimY: return sim::kMaxGridYZ;
    case cudaDevAttrMaxGridDimZ: return sim::kMaxGridYZ;
    case cudaDevAttrMaxSharedMemoryPerBlock: return static_cast<int>(chip.shared_per_block);
    case cudaDevAttrTotalConstantMemory: return static_cast<int>(chip.constant_memory);
    case cudaDevAttrWarpSize: return kWarpSize;
    case cudaDevAttrMaxPitch: return kMaxPitch;
    case cudaDevAttrMaxRegistersPerBlock: return chip.registers_per_multiprocessor;
    case cudaDevAttrClockRate: return clock_khz(chip);
    case cudaDevAttrTextureAlignment: return kTextureAlignment;
    case cudaDevAttrGpuOverlap: return 1;
    case cudaDevAttrMultiProcessorCount: return chip.multiprocessors;
    case cudaDevAttrCanMapHostMemory: return 1;
    case cudaDevAttrSurfaceAlignment: return kTextureAlignment;
    case cudaDevAttrConcurrentKernels: return 1;
    case cudaDevAttrPciBusId: return kPciBusOfDevice0 + ordinal;
    case cudaDevAttrMemoryClockRate: return memory_clock_khz(chip);
    case cudaDevAttrGlobalMemoryBusWidth: return memory_bus_bits(chip);
    case cudaDevAttrL2CacheSize: return chip.l2_bytes;
    case cudaDevAttrMaxThreadsPerMultiProcessor: return chip.max_threads_per_multiprocessor;
    case cudaDevAttrAsyncEngineCount: return kAsyncEngines;
    case cudaDevAttrUnifiedAddressing: return 1;
    case cudaDevAttrTexturePitchAlignment: return kTexturePitchAlignment;
    case cudaDevAttrComputeCapabilityMajor: return chip.compute_major;
    case cudaDevAttrComputeCapabilityMinor: return chip.compute_minor;
    case cudaDevAttrStreamPrioritiesSupported: return 1;
    case cudaDevAttrGlobalL1CacheSupported: return 1;
    case cudaDevAttrLocalL1CacheSupported: return 1;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: return static_cast<int>(chip.shared_per_multiprocessor);
    case cudaDevAttrMaxRegistersPerMultiprocessor: return chip.registers_per_multiprocessor;
    case cudaDevAttrManagedMemory: return 1;
    case cudaDevAttrSingleToDoublePrecisionPerfRatio:
      return chip.compute_minor == 0 ? 2 : 32;  // x.0 is the compute capability of data-centre chips
    case cudaDevAttrConcurrentManagedAccess: return 1;
    case cudaDevAttrComputePreemptionSupported: return 1;
    case cudaDevAttrHostRegisterSupported: return 1;
    case cudaDevAttrCanUseHostPointerForRegisteredMem: return 1;
    case cudaDevAttrCooperativeLaunch: return 1;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: return static_cast<int>(chip.shared_per_block_optin);
    case cudaDevAttrMaxBlocksPerMultiprocessor: return chip.max_blocks_per_multiprocessor;
    case cudaDevAttrReservedSharedMemoryPerBlock: return static_cast<int>(chip.reserved_shared_per_block);
    case cudaDevAttrMemoryPoolsSupported: return 1;
    case cudaDevAttrClusterLaunch: return chip.compute_major >= 9 ? 1 : 0;
    case cudaDevAttrMemSyncDomainCount: return 1;
    case cudaDevAttrNumaId:
    case cudaDevAttrHostNumaId: return 0;
    default:
      // This device does not have the features of all other attributes.
      return attribute > 0 && attribute < cudaDevAttrMax ? 0 : -1;
  }
}

}  // namespace course::cudart
