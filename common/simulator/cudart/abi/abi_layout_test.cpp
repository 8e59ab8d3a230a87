// SPDX-License-Identifier: MIT
// Compares structures and values of cuda_abi.h with the toolkit's header at compile time: a difference fails
// the build. For CUDA 13 only, because cuda_abi.h describes CUDA 13.
#include <cuda_runtime_api.h>

#include <cstddef>

#if CUDART_VERSION >= 13000

#undef CUDART_CHECK_AGAINST_TOOLKIT
#undef cudaArrayDefault
#undef cudaArrayLayered
#undef cudaArraySurfaceLoadStore
#undef cudaArrayCubemap
#undef cudaArrayTextureGather
#undef cudaStreamDefault
#undef cudaStreamNonBlocking
#undef cudaEventDefault
#undef cudaEventBlockingSync
#undef cudaEventDisableTiming
#undef cudaEventInterprocess
#undef cudaHostAllocPortable
#undef cudaHostAllocMapped
#undef cudaHostAllocWriteCombined
#undef cudaMemAttachGlobal
#undef cudaMemAttachHost
#undef cudaMemAttachSingle
#undef cudaOccupancyDefault
#undef cudaOccupancyDisableCachingOverride
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
namespace ours {
#include "cudart/cuda_abi.h"
}
#pragma GCC diagnostic pop

#define SAME_SIZE(type) \
  static_assert(sizeof(ours::type) == sizeof(::type) && alignof(ours::type) == alignof(::type))
#define SAME_FIELD(type, field)                                           \
  static_assert(offsetof(ours::type, field) == offsetof(::type, field) && \
                sizeof(ours::type::field) == sizeof(::type::field))
#define SAME_VALUE(name) static_assert(static_cast<long>(ours::name) == static_cast<long>(::name))

#define X(code, name, text) SAME_VALUE(name);
#include "cudart/error_table.inc"
#undef X

SAME_SIZE(cudaPitchedPtr);
SAME_SIZE(cudaExtent);
SAME_SIZE(cudaPos);
SAME_SIZE(cudaResourceDesc);
SAME_FIELD(cudaResourceDesc, res);
SAME_FIELD(cudaResourceDesc, res.pitch2D.pitchInBytes);
SAME_SIZE(cudaTextureDesc);
SAME_FIELD(cudaTextureDesc, borderColor);
SAME_FIELD(cudaTextureDesc, normalizedCoords);
SAME_SIZE(cudaMemcpy3DParms);
SAME_FIELD(cudaMemcpy3DParms, srcPtr);
SAME_FIELD(cudaMemcpy3DParms, dstArray);
SAME_FIELD(cudaMemcpy3DParms, extent);
SAME_FIELD(cudaMemcpy3DParms, kind);
SAME_SIZE(cudaPointerAttributes);
SAME_FIELD(cudaPointerAttributes, hostPointer);
SAME_SIZE(cudaMemLocation);
SAME_SIZE(cudaMemAccessDesc);
SAME_SIZE(cudaMemPoolProps);
SAME_FIELD(cudaMemPoolProps, location);
SAME_FIELD(cudaMemPoolProps, maxSize);
SAME_SIZE(cudaFuncAttributes);
SAME_FIELD(cudaFuncAttributes, numRegs);
SAME_FIELD(cudaFuncAttributes, ptxVersion);
SAME_FIELD(cudaFuncAttributes, nonPortableClusterSizeAllowed);
SAME_SIZE(cudaLaunchAttributeValue);
SAME_FIELD(cudaLaunchAttributeValue, programmaticEvent);
SAME_FIELD(cudaLaunchAttributeValue, launchCompletionEvent);
SAME_SIZE(cudaLaunchAttribute);
SAME_FIELD(cudaLaunchAttribute, val);
SAME_SIZE(cudaLaunchConfig_t);
SAME_FIELD(cudaLaunchConfig_t, dynamicSmemBytes);
SAME_FIELD(cudaLaunchConfig_t, numAttrs);
SAME_SIZE(cudaGraphEdgeData);
SAME_SIZE(cudaKernelNodeParams);
SAME_FIELD(cudaKernelNodeParams, kernelParams);
SAME_SIZE(cudaMemsetParams);
SAME_FIELD(cudaMemsetParams, width);
SAME_SIZE(cudaHostNodeParams);
SAME_SIZE(cudaMemAllocNodeParams);
SAME_FIELD(cudaMemAllocNodeParams, dptr);
SAME_SIZE(cudaGraphExecUpdateResultInfo);
SAME_SIZE(cudaChannelFormatDesc);
SAME_SIZE(dim3);
SAME_SIZE(cudaDeviceProp);
SAME_FIELD(cudaDeviceProp, totalGlobalMem);
SAME_FIELD(cudaDeviceProp, maxGridSize);
SAME_FIELD(cudaDeviceProp, major);
SAME_FIELD(cudaDeviceProp, multiProcessorCount);
SAME_FIELD(cudaDeviceProp, surfaceAlignment);
SAME_FIELD(cudaDeviceProp, unifiedAddressing);
SAME_FIELD(cudaDeviceProp, l2CacheSize);
SAME_FIELD(cudaDeviceProp, sharedMemPerMultiprocessor);
SAME_FIELD(cudaDeviceProp, managedMemory);
SAME_FIELD(cudaDeviceProp, cooperativeLaunch);
SAME_FIELD(cudaDeviceProp, sharedMemPerBlockOptin);
SAME_FIELD(cudaDeviceProp, reservedSharedMemPerBlock);
SAME_FIELD(cudaDeviceProp, memoryPoolsSupported);
SAME_FIELD(cudaDeviceProp, clusterLaunch);
SAME_FIELD(cudaDeviceProp, hostNumaMultinodeIpcSupported);

SAME_VALUE(cudaMemcpyDefault);
SAME_VALUE(cudaMemcpyDeviceToHost);
SAME_VALUE(cudaMemoryTypeManaged);
SAME_VALUE(cudaMemLocationTypeHostNumaCurrent);
SAME_VALUE(cudaMemAdviseUnsetAccessedBy);
SAME_VALUE(cudaMemPoolAttrUsedMemHigh);
SAME_VALUE(cudaFuncAttributeMaxDynamicSharedMemorySize);
SAME_VALUE(cudaFuncAttributeClusterSchedulingPolicyPreference);
SAME_VALUE(cudaLaunchAttributeCooperative);
SAME_VALUE(cudaLaunchAttributeClusterDimension);
SAME_VALUE(cudaLaunchAttributeProgrammaticEvent);
SAME_VALUE(cudaLaunchAttributePriority);
SAME_VALUE(cudaLaunchAttributeLaunchCompletionEvent);
SAME_VALUE(cudaStreamCaptureModeRelaxed);
SAME_VALUE(cudaStreamCaptureStatusInvalidated);
SAME_VALUE(cudaGraphNodeTypeConditional);
SAME_VALUE(cudaGraphNodeTypeMemFree);
SAME_VALUE(cudaGraphNodeTypeWaitEvent);
SAME_VALUE(cudaGraphInstantiateFlagAutoFreeOnLaunch);
SAME_VALUE(cudaGraphExecUpdateErrorTopologyChanged);
SAME_VALUE(cudaGraphExecUpdateErrorNodeTypeChanged);
SAME_VALUE(cudaDriverEntryPointSymbolNotFound);
SAME_VALUE(cudaLimitPersistingL2CacheSize);
SAME_VALUE(cudaDevAttrMultiProcessorCount);
SAME_VALUE(cudaDevAttrComputeCapabilityMinor);
SAME_VALUE(cudaDevAttrMaxSharedMemoryPerBlockOptin);
SAME_VALUE(cudaDevAttrSingleToDoublePrecisionPerfRatio);
SAME_VALUE(cudaDevAttrReservedSharedMemoryPerBlock);
SAME_VALUE(cudaDevAttrMemoryPoolsSupported);
SAME_VALUE(cudaDevAttrClusterLaunch);
SAME_VALUE(cudaDevAttrHostNumaId);
SAME_VALUE(cudaDevAttrMax);
SAME_VALUE(cudaChannelFormatKindNone);

#endif
