// SPDX-License-Identifier: MIT
// The functions whose signature or structures changed from CUDA 12 to 13, in CUDA 13's form; abi12.cpp has
// the other form.
#include "cudart/api/api.hpp"
#include "cudart/device_properties.hpp"
#include "cudart/graph/graph_api.hpp"
#include "cudart/runtime/memory/managed.hpp"
#include "cudart/runtime/memory/memory.hpp"
#include "cudart/runtime/memory/pool.hpp"

using namespace course::cudart;  // NOLINT: this file is only their exported face

#ifndef CUDART_PER_THREAD

namespace {
constexpr int kVersion = 13000;
}

CUDART_API cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return api([&]() -> Status {
    if (properties == nullptr) return cudaErrorInvalidValue;
    if (!runtime().is_device(device)) return fail(cudaErrorInvalidDevice, "there is no device {}", device);
    const course::sim::DevicePreset& chip = runtime().environment().device.preset;
    fill_properties(*properties, chip, device);
    fill_later_properties(*properties, chip);
    return cudaSuccess;
  });
}

CUDART_API cudaMemGetDefaultMemPool(cudaMemPool_t* pool, cudaMemLocation* location, cudaMemAllocationType) {
  return device_api([&]() -> Status {
    if (pool == nullptr || location == nullptr) return cudaErrorInvalidValue;
    if (location->type != cudaMemLocationTypeDevice || !runtime().is_device(location->id))
      return fail(cudaErrorNotSupported, "memory pools exist on devices only");
    *pool = default_pool(runtime().context(location->id));
    return cudaSuccess;
  });
}

CUDART_API cudaMemGetMemPool(cudaMemPool_t* pool, cudaMemLocation* location, cudaMemAllocationType) {
  return device_api([&]() -> Status {
    if (pool == nullptr || location == nullptr) return cudaErrorInvalidValue;
    if (location->type != cudaMemLocationTypeDevice || !runtime().is_device(location->id))
      return fail(cudaErrorNotSupported, "memory pools exist on devices only");
    *pool = current_pool(runtime().context(location->id));
    return cudaSuccess;
  });
}

CUDART_API cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t dst, cudaGraphNode_t src) {
  return device_api([&] { return copy_kernel_attributes(dst, src); });
}

#endif  // CUDART_PER_THREAD

CUDART_API TWIN(cudaMemPrefetchBatchAsync)(void** pointers, size_t* sizes, size_t count,
                                           cudaMemLocation* locations, size_t* indices, size_t n_locations,
                                           unsigned long long, cudaStream_t) {
  return device_api([&]() -> Status {
    if (pointers == nullptr || sizes == nullptr || locations == nullptr || indices == nullptr)
      return cudaErrorInvalidValue;
    if (n_locations == 0 || n_locations > count || indices[0] != 0) return cudaErrorInvalidValue;
    // Location i applies to the ranges from indices[i] up to the next index.
    for (size_t i = 0, which = 0; i < count; ++i) {
      while (which + 1 < n_locations && indices[which + 1] <= i) ++which;
      if (Status status = prefetch(pointers[i], sizes[i], locations[which]); !status.ok()) return status;
    }
    return cudaSuccess;
  });
}

CUDART_API TWIN(cudaMemcpyBatchAsync)(void* const* dsts, const void* const* srcs, const size_t* sizes,
                                      size_t count, cudaMemcpyAttributes*, size_t*, size_t,
                                      cudaStream_t stream) {
  return device_api([&] { return copy_batch(dsts, srcs, sizes, count, stream_or_default(stream), nullptr); });
}

#define V2(name) name
#define TWIN_V2(name) TWIN(name)
#define TWIN_V3(name) TWIN(name)
#include "cudart/abi/later_forms.inc"
