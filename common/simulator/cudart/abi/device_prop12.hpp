// SPDX-License-Identifier: MIT
// CUDA 12's cudaDeviceProp. It has additional fields (clocks, modes) between those of CUDA 13. The size and
// offsets in the assertions are those of CUDA 12.9's header.
#pragma once

#include <cstddef>

#include "cudart/cuda_abi.h"

// clang-format off
struct cudaDeviceProp12 {
  char name[256]; cudaUUID_t uuid; char luid[8]; unsigned int luidDeviceNodeMask;
  size_t totalGlobalMem, sharedMemPerBlock; int regsPerBlock, warpSize; size_t memPitch;
  int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate; size_t totalConstMem; int major, minor;
  size_t textureAlignment, texturePitchAlignment;
  int deviceOverlap, multiProcessorCount, kernelExecTimeoutEnabled, integrated;
  int canMapHostMemory, computeMode, maxTexture1D, maxTexture1DMipmap, maxTexture1DLinear, maxTexture2D[2],
      maxTexture2DMipmap[2];
  int maxTexture2DLinear[3], maxTexture2DGather[2], maxTexture3D[3], maxTexture3DAlt[3], maxTextureCubemap,
      maxTexture1DLayered[2];
  int maxTexture2DLayered[3], maxTextureCubemapLayered[2], maxSurface1D, maxSurface2D[2], maxSurface3D[3],
      maxSurface1DLayered[2];
  int maxSurface2DLayered[3], maxSurfaceCubemap, maxSurfaceCubemapLayered[2];
  size_t surfaceAlignment; int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver,
      asyncEngineCount;
  int unifiedAddressing, memoryClockRate, memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize,
      maxThreadsPerMultiProcessor;
  int streamPrioritiesSupported, globalL1CacheSupported, localL1CacheSupported;
  size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID, hostNativeAtomicSupported;
  int singleToDoublePrecisionPerfRatio, pageableMemoryAccess, concurrentManagedAccess,
      computePreemptionSupported;
  int canUseHostPointerForRegisteredMem, cooperativeLaunch, cooperativeMultiDeviceLaunch;
  size_t sharedMemPerBlockOptin;
  int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost, maxBlocksPerMultiProcessor,
      accessPolicyMaxWindowSize;
  size_t reservedSharedMemPerBlock; int hostRegisterSupported, sparseCudaArraySupported,
      hostRegisterReadOnlySupported;
  int timelineSemaphoreInteropSupported, memoryPoolsSupported, gpuDirectRDMASupported;
  unsigned int gpuDirectRDMAFlushWritesOptions;
  int gpuDirectRDMAWritesOrdering; unsigned int memoryPoolSupportedHandleTypes;
  int deferredMappingCudaArraySupported, ipcEventSupported, clusterLaunch, unifiedFunctionPointers,
      reserved[63];
};
// clang-format on
static_assert(sizeof(cudaDeviceProp12) == 1032);
static_assert(offsetof(cudaDeviceProp12, clockRate) == 348);
static_assert(offsetof(cudaDeviceProp12, major) == 360);
static_assert(offsetof(cudaDeviceProp12, multiProcessorCount) == 388);
static_assert(offsetof(cudaDeviceProp12, computeMode) == 404);
static_assert(offsetof(cudaDeviceProp12, surfaceAlignment) == 568);
static_assert(offsetof(cudaDeviceProp12, memoryClockRate) == 608);
static_assert(offsetof(cudaDeviceProp12, regsPerMultiprocessor) == 648);
static_assert(offsetof(cudaDeviceProp12, sharedMemPerBlockOptin) == 696);
static_assert(offsetof(cudaDeviceProp12, reservedSharedMemPerBlock) == 720);
static_assert(offsetof(cudaDeviceProp12, hostRegisterSupported) == 728);
static_assert(offsetof(cudaDeviceProp12, clusterLaunch) == 772);
