// SPDX-License-Identifier: MIT
// Preloaded into a runner (LD_PRELOAD): appends a line to the file that the environment variable
// QUERIES names whenever the host code asks the runtime about a device or a kernel. The
// first line is "preloaded".
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

// Written at once: a runner may be killed.
void record(const std::string& query) {
  const char* name = std::getenv("QUERIES");
  std::FILE* file = name != nullptr ? std::fopen(name, "a") : nullptr;
  if (file == nullptr) return;
  std::fputs((query + "\n").c_str(), file);
  std::fclose(file);
}
const bool preloaded = (record("preloaded"), true);

template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr which, int device) {
  record("cudaDeviceGetAttribute " + std::to_string(which) + " of device " + std::to_string(device));
  return next<decltype(cudaDeviceGetAttribute)>("cudaDeviceGetAttribute")(value, which, device);
}
cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* all) {
  record("cudaMemGetInfo");
  return next<decltype(cudaMemGetInfo)>("cudaMemGetInfo")(free_bytes, all);
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel) {
  record("cudaFuncGetAttributes");
  return next<decltype(cudaFuncGetAttributes)>("cudaFuncGetAttributes")(attributes, kernel);
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel, int threads,
                                                          std::size_t shared) {
  record("cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  return next<decltype(cudaOccupancyMaxActiveBlocksPerMultiprocessor)>(
      "cudaOccupancyMaxActiveBlocksPerMultiprocessor")(blocks, kernel, threads, shared);
}

}  // extern "C"
