// SPDX-License-Identifier: MIT
// The functions whose signature or structures changed from CUDA 12 to 13, in CUDA 13's form; abi12.cpp has
// the other form.
#include "cudart/api/api.hpp"
#include "cudart/device_properties.hpp"
#include "cudart/graph/graph_api.hpp"
#include "cudart/runtime/managed.hpp"
#include "cudart/runtime/memory.hpp"
#include "cudart/runtime/pool.hpp"

using namespace course::cudart;  // NOLINT: this file is only their exported face

#ifndef CUDART_PER_THREAD

namespace {
constexpr int kVersion = 13000;
}

CUDART_EXPORT cudaError_t cudaRuntimeGetVersion(int* version) {
  return api("cudaRuntimeGetVersion", [&]() -> Status {
    if (version == nullptr) return cudaErrorInvalidValue;
    *version = kVersion;
    return cudaSuccess;
  });
}

CUDART_EXPORT cudaError_t cudaDriverGetVersion(int* version) {
  return api("cudaDriverGetVersion", [&]() -> Status {
    if (version == nullptr) return cudaErrorInvalidValue;
    *version = kVersion;
    return cudaSuccess;
  });
}

CUDART_EXPORT cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return api("cudaGetDeviceProperties", [&]() -> Status {
    if (properties == nullptr) return cudaErrorInvalidValue;
    if (!runtime().is_device(device)) return fail(cudaErrorInvalidDevice, "there is no device {}", device);
    const course::sim::DevicePreset& chip = runtime().environment().device.preset;
    fill_properties(*properties, chip, device);
    fill_later_properties(*properties, chip);
    return cudaSuccess;
  });
}

CUDART_EXPORT cudaError_t cudaMemAdvise(const void* pointer, size_t n_bytes, cudaMemoryAdvise advice,
                                        cudaMemLocation location) {
  return device_api("cudaMemAdvise", [&](Context&) { return advise(pointer, n_bytes, advice, location); });
}

CUDART_EXPORT cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t* pool, cudaMemLocation* location,
                                                   cudaMemAllocationType) {
  return device_api("cudaMemGetDefaultMemPool", [&](Context&) -> Status {
    if (pool == nullptr || location == nullptr) return cudaErrorInvalidValue;
    if (location->type != cudaMemLocationTypeDevice || !runtime().is_device(location->id)) {
      return fail(cudaErrorNotSupported, "memory pools exist on devices only");
    }
    *pool = default_pool(runtime().context(location->id));
    return cudaSuccess;
  });
}

CUDART_EXPORT cudaError_t cudaMemGetMemPool(cudaMemPool_t* pool, cudaMemLocation* location,
                                            cudaMemAllocationType) {
  return device_api("cudaMemGetMemPool", [&](Context&) -> Status {
    if (pool == nullptr || location == nullptr) return cudaErrorInvalidValue;
    if (location->type != cudaMemLocationTypeDevice || !runtime().is_device(location->id)) {
      return fail(cudaErrorNotSupported, "memory pools exist on devices only");
    }
    *pool = current_pool(runtime().context(location->id));
    return cudaSuccess;
  });
}

CUDART_EXPORT cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t dst, cudaGraphNode_t src) {
  return device_api("cudaGraphKernelNodeCopyAttributes",
                    [&](Context&) { return copy_kernel_attributes(dst, src); });
}

CUDART_EXPORT cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                                            cudaGraphEdgeData* data, size_t* n) {
  return device_api("cudaGraphGetEdges", [&](Context&) { return graph_edges(graph, from, to, data, n); });
}

CUDART_EXPORT cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* out,
                                                       cudaGraphEdgeData* data, size_t* n) {
  return device_api("cudaGraphNodeGetDependencies",
                    [&](Context&) { return node_dependencies(node, out, data, n); });
}

CUDART_EXPORT cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* out,
                                                         cudaGraphEdgeData* data, size_t* n) {
  return device_api("cudaGraphNodeGetDependentNodes",
                    [&](Context&) { return node_dependents(node, out, data, n); });
}

CUDART_EXPORT cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                                   const cudaGraphNode_t* to, const cudaGraphEdgeData*,
                                                   size_t n) {
  return device_api("cudaGraphAddDependencies",
                    [&](Context&) { return graph_add_dependencies(graph, from, to, n); });
}

CUDART_EXPORT cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                                      const cudaGraphNode_t* to, const cudaGraphEdgeData*,
                                                      size_t n) {
  return device_api("cudaGraphRemoveDependencies",
                    [&](Context&) { return graph_remove_dependencies(graph, from, to, n); });
}

CUDART_EXPORT cudaError_t cudaGraphAddNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                           const cudaGraphNode_t* dependencies, const cudaGraphEdgeData*,
                                           size_t n, cudaGraphNodeParams* parameters) {
  return device_api("cudaGraphAddNode", [&](Context& context) {
    return graph_add_any_node(context, out, graph, dependencies, n, parameters);
  });
}

#endif  // CUDART_PER_THREAD

CUDART_EXPORT cudaError_t TWIN(cudaMemPrefetchAsync)(const void* pointer, size_t n_bytes,
                                                     cudaMemLocation location, unsigned, cudaStream_t) {
  return device_api("cudaMemPrefetchAsync", [&](Context&) { return prefetch(pointer, n_bytes, location); });
}

CUDART_EXPORT cudaError_t TWIN(cudaMemPrefetchBatchAsync)(void** pointers, size_t* sizes, size_t count,
                                                          cudaMemLocation* locations, size_t* indices,
                                                          size_t n_locations, unsigned long long,
                                                          cudaStream_t) {
  return device_api("cudaMemPrefetchBatchAsync", [&](Context&) -> Status {
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

CUDART_EXPORT cudaError_t TWIN(cudaMemcpyBatchAsync)(void* const* dsts, const void* const* srcs,
                                                     const size_t* sizes, size_t count, cudaMemcpyAttributes*,
                                                     size_t*, size_t, cudaStream_t stream) {
  return device_api("cudaMemcpyBatchAsync", [&](Context&) {
    return copy_batch(dsts, srcs, sizes, count, stream_or_default(stream), nullptr);
  });
}

CUDART_EXPORT cudaError_t TWIN(cudaStreamGetCaptureInfo)(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                                         unsigned long long* id, cudaGraph_t* graph,
                                                         const cudaGraphNode_t** dependencies,
                                                         const cudaGraphEdgeData** data, size_t* n) {
  return device_api("cudaStreamGetCaptureInfo", [&](Context&) {
    return capture_info(stream_or_default(stream), {status, id, graph, dependencies, data, n});
  });
}

CUDART_EXPORT cudaError_t TWIN(cudaStreamUpdateCaptureDependencies)(cudaStream_t stream,
                                                                    cudaGraphNode_t* dependencies,
                                                                    const cudaGraphEdgeData*, size_t n,
                                                                    unsigned flags) {
  return device_api("cudaStreamUpdateCaptureDependencies", [&](Context&) {
    return update_capture_dependencies(stream_or_default(stream), dependencies, n, flags);
  });
}
