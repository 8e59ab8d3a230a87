// SPDX-License-Identifier: MIT
// The functions whose signature or structures changed from CUDA 12 to 13, in CUDA 12's form; abi13.cpp has
// the other form. CUDA 12 has two or three versions of some functions: the plain name is that of CUDA 11, _v2
// and _v3 are later ones.
#include "cudart/abi/device_prop12.hpp"
#include "cudart/api/api.hpp"
#include "cudart/device_properties.hpp"
#include "cudart/graph/graph_api.hpp"
#include "cudart/runtime/memory/managed.hpp"
#include "cudart/runtime/memory/memory.hpp"

using namespace course::cudart;  // NOLINT: this file is only their exported face

#ifndef CUDART_PER_THREAD

namespace {

constexpr int kVersion = 12090;

cudaDeviceProp12 properties_of(int device) {
  const course::sim::DevicePreset& chip = runtime().environment().device.preset;
  cudaDeviceProp12 p;
  fill_properties(p, chip, device);
  fill_later_properties(p, chip);
  p.clockRate = clock_khz(chip);
  p.memoryClockRate = memory_clock_khz(chip);
  p.deviceOverlap = 1;
  p.singleToDoublePrecisionPerfRatio =
      attribute_of(chip, device, cudaDevAttrSingleToDoublePrecisionPerfRatio);
  return p;
}

Status get_properties(void* out, size_t n_bytes, int device) {
  if (out == nullptr) return cudaErrorInvalidValue;
  if (!runtime().is_device(device)) return fail(cudaErrorInvalidDevice, "there is no device {}", device);
  const cudaDeviceProp12 p = properties_of(device);
  std::copy_n(reinterpret_cast<const char*>(&p), n_bytes, static_cast<char*>(out));
  return cudaSuccess;
}

}  // namespace

// Defined in files that both versions share.
extern "C" {
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaDeviceReset(void);
cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value);
cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit);
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config);
cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config);
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end);
}

CUDART_API cudaThreadSynchronize(void) {
  return cudaDeviceSynchronize();
}
CUDART_API cudaThreadExit(void) {
  return cudaDeviceReset();
}
CUDART_API cudaThreadSetLimit(cudaLimit limit, size_t value) {
  return cudaDeviceSetLimit(limit, value);
}
CUDART_API cudaThreadGetLimit(size_t* value, cudaLimit limit) {
  return cudaDeviceGetLimit(value, limit);
}
CUDART_API cudaThreadSetCacheConfig(cudaFuncCache config) {
  return cudaDeviceSetCacheConfig(config);
}
CUDART_API cudaThreadGetCacheConfig(cudaFuncCache* config) {
  return cudaDeviceGetCacheConfig(config);
}
CUDART_API cudaEventElapsedTime_v2(float* ms, cudaEvent_t start, cudaEvent_t end) {
  return cudaEventElapsedTime(ms, start, end);
}

// CUDA 11's structure consists of the first fields of CUDA 12's.
CUDART_API cudaGetDeviceProperties(void* properties, int device) {
  return api(
      [&] { return get_properties(properties, offsetof(cudaDeviceProp12, hostRegisterSupported), device); });
}

CUDART_API cudaGetDeviceProperties_v2(cudaDeviceProp12* properties, int device) {
  return api([&] { return get_properties(properties, sizeof(cudaDeviceProp12), device); });
}

CUDART_API cudaMemAdvise(const void* pointer, size_t n_bytes, cudaMemoryAdvise advice, int device) {
  return device_api([&] { return advise(pointer, n_bytes, advice, location_of_ordinal(device)); });
}

CUDART_API cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                    size_t n) {
  return device_api([&] { return graph_add_dependencies(graph, from, to, n); });
}

#define V2(name) name##_v2
#define TWIN_V2(name) name##_v2
#define TWIN_V3(name) name##_v3
#else
#define TWIN_V2(name) name##_v2_ptsz
#define TWIN_V3(name) name##_v3_ptsz
#endif  // CUDART_PER_THREAD

CUDART_API TWIN(cudaMemPrefetchAsync)(const void* pointer, size_t n_bytes, int device, cudaStream_t) {
  return device_api([&] { return prefetch(pointer, n_bytes, location_of_ordinal(device)); });
}

CUDART_API TWIN(cudaStreamGetCaptureInfo)(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                          unsigned long long* id) {
  return device_api([&] {
    return capture_info(stream_or_default(stream), {status, id, nullptr, nullptr, nullptr, nullptr});
  });
}

CUDART_API TWIN_V2(cudaStreamGetCaptureInfo)(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                             unsigned long long* id, cudaGraph_t* graph,
                                             const cudaGraphNode_t** dependencies, size_t* n) {
  return device_api([&] {
    return capture_info(stream_or_default(stream), {status, id, graph, dependencies, nullptr, n});
  });
}

#include "cudart/abi/later_forms.inc"
