// SPDX-License-Identifier: MIT
// Properties of kernels: attributes, occupancy, handles.
#include <algorithm>

#include "cudart/api/api.hpp"
#include "cudart/device_properties.hpp"
#include "cudart/runtime/operation.hpp"
#include "sim/launch_limits.hpp"

using namespace course::cudart;  // NOLINT: this file is only their exported face
using course::sim::KernelFacts;
using course::sim::KernelId;

namespace {

Status no_kernel(const void* key) {
  // CUDA 13 treats an unknown address as a kernel handle.
  return fail(key == nullptr ? cudaErrorInvalidDeviceFunction : cudaErrorInvalidResourceHandle,
              "{} is not a kernel of this program", key);
}

// Finds the kernel on the current device and calls `body` with it, under the context's lock.
template <typename Body>
cudaError_t with_kernel(const void* key, Body&& body, const char* call = CALLER) {
  return device_api(
      [&](Context& context) -> Status {
        Function* function = runtime().registry().find_function(key);
        if (function == nullptr) return no_kernel(key);
        const std::lock_guard guard(context.lock);
        KernelId id = 0;
        if (Status status = find_kernel(context, *function, id); !status.ok()) return status;
        return body(context, *function, id);
      },
      call);
}

FunctionSettings& settings_of(const Context& context, Function& function) {
  return function.on_device[context.ordinal].settings;
}

Status set_attribute(Context& context, Function& function, KernelId id, cudaFuncAttribute attribute,
                     int value) {
  const KernelFacts& facts = context.device().facts(id);
  const course::sim::DevicePreset& chip = context.device().options().preset;
  FunctionSettings& settings = settings_of(context, function);
  switch (attribute) {
    case cudaFuncAttributeMaxDynamicSharedMemorySize:
      if (value < 0 ||
          static_cast<std::uint64_t>(value) + facts.static_shared > chip.shared_per_block_optin) {
        return fail(cudaErrorInvalidValue,
                    "{} bytes of dynamic and {} of static shared memory: a block has at most {}", value,
                    facts.static_shared, chip.shared_per_block_optin);
      }
      settings.max_dynamic_shared = value;
      return cudaSuccess;
    case cudaFuncAttributePreferredSharedMemoryCarveout:
      if (value < -1 || value > 100) return fail(cudaErrorInvalidValue, "a carve-out of {} %", value);
      settings.carveout = value;
      return cudaSuccess;
    case cudaFuncAttributeRequiredClusterWidth: settings.cluster[0] = value; return cudaSuccess;
    case cudaFuncAttributeRequiredClusterHeight: settings.cluster[1] = value; return cudaSuccess;
    case cudaFuncAttributeRequiredClusterDepth: settings.cluster[2] = value; return cudaSuccess;
    case cudaFuncAttributeClusterDimMustBeSet: settings.cluster_must_be_set = value; return cudaSuccess;
    case cudaFuncAttributeNonPortableClusterSizeAllowed:
      settings.nonportable_cluster = value;
      return cudaSuccess;
    case cudaFuncAttributeClusterSchedulingPolicyPreference:
      settings.cluster_policy = value;
      return cudaSuccess;
    default:
      return fail(cudaErrorInvalidValue, "attribute {} cannot be set", static_cast<unsigned>(attribute));
  }
}

cudaError_t max_active_blocks(int* n_blocks, const void* key, int block_size, size_t shared,
                              const char* call = CALLER) {
  return with_kernel(
      key,
      [&](Context& context, Function&, KernelId id) -> Status {
        if (n_blocks == nullptr || block_size <= 0)
          return fail(cudaErrorInvalidValue, "a block of {} threads", block_size);
        *n_blocks = context.device().occupancy(id, block_size, shared);
        return cudaSuccess;
      },
      call);
}

}  // namespace

CUDART_API cudaFuncGetAttributes(cudaFuncAttributes* out, const void* key) {
  return with_kernel(key, [&](Context& context, Function& function, KernelId id) -> Status {
    if (out == nullptr) return cudaErrorInvalidValue;
    const KernelFacts& facts = context.device().facts(id);
    const course::sim::DevicePreset& chip = context.device().options().preset;
    const FunctionSettings& settings = settings_of(context, function);
    *out = {};
    out->sharedSizeBytes = facts.static_shared;
    out->localSizeBytes = facts.local_bytes;
    out->maxThreadsPerBlock = course::sim::most_threads_per_block(chip, facts);
    out->numRegs = facts.registers;
    out->ptxVersion = facts.ptx_version;
    out->binaryVersion = chip.compute_major * 10 + chip.compute_minor;
    out->maxDynamicSharedSizeBytes =
        settings.max_dynamic_shared >= 0
            ? settings.max_dynamic_shared
            : static_cast<int>(chip.shared_per_block - std::min(chip.shared_per_block, facts.static_shared));
    out->preferredShmemCarveout = settings.carveout;
    out->clusterDimMustBeSet = settings.cluster_must_be_set;
    out->requiredClusterWidth = settings.cluster[0];
    out->requiredClusterHeight = settings.cluster[1];
    out->requiredClusterDepth = settings.cluster[2];
    out->clusterSchedulingPolicyPreference = settings.cluster_policy;
    out->nonPortableClusterSizeAllowed = settings.nonportable_cluster;
    return cudaSuccess;
  });
}

CUDART_API cudaFuncSetAttribute(const void* key, cudaFuncAttribute attribute, int value) {
  return with_kernel(key, [&](Context& context, Function& function, KernelId id) {
    return set_attribute(context, function, id, attribute, value);
  });
}

CUDART_API cudaFuncSetCacheConfig(const void* key, cudaFuncCache) {
  return with_kernel(key, [](Context&, Function&, KernelId) { return Status(); });
}

CUDART_API cudaFuncSetSharedMemConfig(const void* key, cudaSharedMemConfig) {
  return with_kernel(key, [](Context&, Function&, KernelId) { return Status(); });
}

CUDART_API cudaFuncGetName(const char** name, const void* key) {
  return with_kernel(
      key, [&](Context&, Function& function, KernelId) { return give(name, function.name.c_str()); });
}

CUDART_API cudaGetKernel(cudaKernel_t* kernel, const void* host) {
  return api([&]() -> Status {
    Function* function = runtime().registry().find_function(host);
    if (kernel == nullptr) return cudaErrorInvalidValue;
    if (function == nullptr)
      return fail(cudaErrorInvalidDeviceFunction, "{} is not a kernel of this program", host);
    *kernel = reinterpret_cast<cudaKernel_t>(function);  // NOLINT: the ABI's opaque handle
    return cudaSuccess;
  });
}

CUDART_API cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* n_blocks, const void* key, int block_size,
                                                         size_t shared) {
  return max_active_blocks(n_blocks, key, block_size, shared);
}

CUDART_API cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* n_blocks, const void* key,
                                                                  int block_size, size_t shared,
                                                                  unsigned flags) {
  if (flags > cudaOccupancyDisableCachingOverride) {
    return api([&] { return fail(cudaErrorInvalidValue, "unknown flags {:#x}", flags); });
  }
  return max_active_blocks(n_blocks, key, block_size, shared);
}
