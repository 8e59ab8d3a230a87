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

#endif  // CUDART_PER_THREAD

#define V2(name) name
#define TWIN_V2(name) TWIN(name)
#define TWIN_V3(name) TWIN(name)
#include "cudart/abi/later_forms.inc"
