// SPDX-License-Identifier: MIT
// The driver API as CCCL and NCCL use it: libcuda.so.1 is opened at run time, and cuGetProcAddress finds the
// functions. The runtime API is used as well and sees the same devices, memory and streams.
#include <cuda.h>
#include <dlfcn.h>

#include <cstring>

#include "check.hpp"
#include "increment_ptx.hpp"

using Find = CUresult (*)(const char*, void**, int, cuuint64_t, CUdriverProcAddressQueryResult*);

Find find_entry() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  EXPECT(library != nullptr);
  return reinterpret_cast<Find>(dlsym(library, "cuGetProcAddress_v2"));
}

void* entry(const char* name) {
  static const Find find = find_entry();
  EXPECT(find != nullptr);
  void* function = nullptr;
  CUdriverProcAddressQueryResult result;
  if (find(name, &function, CUDA_VERSION, 0, &result) != CUDA_SUCCESS || function == nullptr) {
    std::printf("%s was not found\n", name);
    std::exit(1);
  }
  EXPECT(result == CU_GET_PROC_ADDRESS_SUCCESS);
  return function;
}

// The function with the version and the type of its declaration in cuda.h.
#define DRIVER(name) (reinterpret_cast<decltype(&name)>(entry(#name)))
#define DRIVER_CHECK(call) EXPECT((call) == CUDA_SUCCESS)

constexpr unsigned kItems = 64;

void devices() {
  DRIVER_CHECK(DRIVER(cuInit)(0));
  int n = 0, same = 0, version = 0, runtime_version = 0;
  DRIVER_CHECK(DRIVER(cuDeviceGetCount)(&n));
  CHECK(cudaGetDeviceCount(&same));
  EXPECT(n == same && n > 0);
  DRIVER_CHECK(DRIVER(cuDriverGetVersion)(&version));
  CHECK(cudaDriverGetVersion(&runtime_version));
  EXPECT(version == runtime_version);
  CUdevice device = -1;
  DRIVER_CHECK(DRIVER(cuDeviceGet)(&device, 0));
  EXPECT(DRIVER(cuDeviceGet)(&device, n) == CUDA_ERROR_INVALID_DEVICE);
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, 0));
  char name[256], start[8];
  DRIVER_CHECK(DRIVER(cuDeviceGetName)(name, sizeof name, device));
  EXPECT(std::strcmp(name, properties.name) == 0);
  DRIVER_CHECK(DRIVER(cuDeviceGetName)(start, sizeof start, device));
  EXPECT(std::strlen(start) == 7 && std::strncmp(start, name, 7) == 0);
  size_t bytes = 0;
  DRIVER_CHECK(DRIVER(cuDeviceTotalMem)(&bytes, device));
  EXPECT(bytes == properties.totalGlobalMem);
  int major = 0;
  DRIVER_CHECK(DRIVER(cuDeviceGetAttribute)(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
  EXPECT(major == properties.major);
  CUuuid id;
  DRIVER_CHECK(DRIVER(cuDeviceGetUuid)(&id, device));
  EXPECT(std::memcmp(&id, &properties.uuid, sizeof id) == 0);
}

void contexts() {
  CUcontext primary = nullptr, current = nullptr, popped = nullptr;
  DRIVER_CHECK(DRIVER(cuDevicePrimaryCtxRetain)(&primary, 0));
  unsigned flags = 0;
  int active = 0;
  DRIVER_CHECK(DRIVER(cuDevicePrimaryCtxGetState)(0, &flags, &active));
  EXPECT(active == 1);
  DRIVER_CHECK(DRIVER(cuCtxPushCurrent)(primary));
  DRIVER_CHECK(DRIVER(cuCtxGetCurrent)(&current));
  EXPECT(current == primary);
  CUdevice device = -1;
  DRIVER_CHECK(DRIVER(cuCtxGetDevice)(&device));
  EXPECT(device == 0);
  DRIVER_CHECK(DRIVER(cuCtxPopCurrent)(&popped));
  EXPECT(popped == primary);
  DRIVER_CHECK(DRIVER(cuCtxSetCurrent)(primary));
  DRIVER_CHECK(DRIVER(cuCtxSynchronize)());
#if CUDA_VERSION >= 13000
  CUcontext own = nullptr, second = nullptr;
  DRIVER_CHECK(DRIVER(cuCtxCreate)(&own, nullptr, 0, 0));
  DRIVER_CHECK(DRIVER(cuCtxGetCurrent)(&current));
  EXPECT(own != primary && current == own);
  DRIVER_CHECK(DRIVER(cuCtxCreate)(&second, nullptr, 0, 0));
  EXPECT(second != own);
  DRIVER_CHECK(DRIVER(cuCtxSetCurrent)(own));
  DRIVER_CHECK(DRIVER(cuCtxGetCurrent)(&current));
  EXPECT(current == own);
  DRIVER_CHECK(DRIVER(cuCtxSetCurrent)(second));
  DRIVER_CHECK(DRIVER(cuCtxDestroy)(second));  // also removes it from the stack
  DRIVER_CHECK(DRIVER(cuCtxGetCurrent)(&current));
  EXPECT(current == own);
  DRIVER_CHECK(DRIVER(cuCtxDestroy)(own));
  DRIVER_CHECK(DRIVER(cuCtxGetCurrent)(&current));
  EXPECT(current == primary);
  EXPECT(DRIVER(cuCtxCreate)(&own, nullptr, 0, 12345) == CUDA_ERROR_INVALID_DEVICE);
#endif
}

void memory() {
  CUdeviceptr d = 0;
  DRIVER_CHECK(DRIVER(cuMemAlloc)(&d, kItems * 4));
  EXPECT(DRIVER(cuMemAlloc)(&d, 0) == CUDA_ERROR_INVALID_VALUE);
  EXPECT(cudaGetLastError() == cudaSuccess);  // errors of the driver do not affect the runtime's last error
  unsigned h[kItems];
  DRIVER_CHECK(DRIVER(cuMemsetD32)(d, 0x01020304, kItems));
  DRIVER_CHECK(DRIVER(cuMemcpyDtoH)(h, d, sizeof h));
  EXPECT(h[0] == 0x01020304 && h[kItems - 1] == 0x01020304);
  DRIVER_CHECK(DRIVER(cuMemsetD16)(d, 0xabcd, kItems));
  DRIVER_CHECK(DRIVER(cuMemsetD8)(d, 7, 4));
  DRIVER_CHECK(DRIVER(cuMemcpyDtoH)(h, d, sizeof h));
  EXPECT(h[0] == 0x07070707 && h[1] == 0xabcdabcd && h[kItems - 1] == 0x01020304);
  DRIVER_CHECK(DRIVER(cuMemFree)(d));
  CUmemoryPool pool;
  DRIVER_CHECK(DRIVER(cuDeviceGetDefaultMemPool)(&pool, 0));
  CUdeviceptr pooled = 0;
  DRIVER_CHECK(DRIVER(cuMemAllocFromPoolAsync)(&pooled, 256, pool, nullptr));
  DRIVER_CHECK(DRIVER(cuMemFreeAsync)(pooled, nullptr));
}

void launches() {
  CUmodule module;
  CUfunction increment;
  DRIVER_CHECK(DRIVER(cuModuleLoadData)(&module, kPtx));
  DRIVER_CHECK(DRIVER(cuModuleGetFunction)(&increment, module, "increment"));
  EXPECT(DRIVER(cuModuleGetFunction)(&increment, module, "missing") == CUDA_ERROR_NOT_FOUND);
  int most = 0;
  DRIVER_CHECK(DRIVER(cuFuncGetAttribute)(&most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, increment));
  EXPECT(most == 1024);
  CUdeviceptr bias = 0;
  size_t bytes = 0;
  DRIVER_CHECK(DRIVER(cuModuleGetGlobal)(&bias, &bytes, module, "bias"));
  EXPECT(bytes == 4);
  CUstream stream;
  CUevent begin, end;
  DRIVER_CHECK(DRIVER(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING));
  DRIVER_CHECK(DRIVER(cuEventCreate)(&begin, CU_EVENT_DEFAULT));
  DRIVER_CHECK(DRIVER(cuEventCreate)(&end, CU_EVENT_DEFAULT));
  unsigned h[kItems], *d = nullptr, by = 7;
  for (unsigned i = 0; i < kItems; ++i) h[i] = i;
  CHECK(cudaMalloc(&d, sizeof h));
  const auto address = reinterpret_cast<CUdeviceptr>(d);
  DRIVER_CHECK(DRIVER(cuEventRecord)(begin, stream));
  DRIVER_CHECK(DRIVER(cuMemcpyHtoDAsync)(address, h, sizeof h, stream));
  void* arguments[] = {&d, &by};
  DRIVER_CHECK(DRIVER(cuLaunchKernel)(increment, 1, 1, 1, kItems, 1, 1, 0, stream, arguments, nullptr));
  CUlaunchConfig config{};
  config.gridDimX = config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.blockDimX = kItems;
  config.hStream = stream;
  DRIVER_CHECK(DRIVER(cuLaunchKernelEx)(&config, increment, arguments, nullptr));
  DRIVER_CHECK(DRIVER(cuMemcpyDtoHAsync)(h, address, sizeof h, stream));
  bool called = false;
  DRIVER_CHECK(DRIVER(cuLaunchHostFunc)(
      stream, [](void* flag) { *static_cast<bool*>(flag) = true; }, &called));
  DRIVER_CHECK(DRIVER(cuEventRecord)(end, stream));
  DRIVER_CHECK(DRIVER(cuStreamSynchronize)(stream));
  EXPECT(called);
  for (unsigned i = 0; i < kItems; ++i) EXPECT(h[i] == i + 2 * 1007);
  DRIVER_CHECK(DRIVER(cuEventQuery)(end));
  EXPECT(DRIVER(cuLaunchKernel)(increment, 1, 1, 1, 4096, 1, 1, 0, stream, arguments, nullptr) ==
         CUDA_ERROR_INVALID_VALUE);
  EXPECT(cudaGetLastError() == cudaSuccess);
  DRIVER_CHECK(DRIVER(cuEventDestroy)(begin));
  DRIVER_CHECK(DRIVER(cuEventDestroy)(end));
  DRIVER_CHECK(DRIVER(cuStreamDestroy)(stream));
  DRIVER_CHECK(DRIVER(cuModuleUnload)(module));
  CHECK(cudaFree(d));
}

void errors() {
  const char* text = nullptr;
  DRIVER_CHECK(DRIVER(cuGetErrorName)(CUDA_ERROR_NOT_FOUND, &text));
  EXPECT(std::strcmp(text, "CUDA_ERROR_NOT_FOUND") == 0);
  DRIVER_CHECK(DRIVER(cuGetErrorName)(CUDA_ERROR_LAUNCH_TIMEOUT, &text));
  EXPECT(std::strcmp(text, "CUDA_ERROR_LAUNCH_TIMEOUT") == 0);
  DRIVER_CHECK(DRIVER(cuGetErrorString)(CUDA_ERROR_INVALID_VALUE, &text));
  EXPECT(std::strcmp(text, "invalid argument") == 0);
  EXPECT(DRIVER(cuGetErrorName)(static_cast<CUresult>(12345), &text) == CUDA_ERROR_INVALID_VALUE);
  void* function = &function;
  CUdriverProcAddressQueryResult result;
  EXPECT(find_entry()("cuNoSuchFunction", &function, CUDA_VERSION, 0, &result) == CUDA_ERROR_NOT_FOUND);
  EXPECT(function == nullptr && result == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
}

void through_the_runtime() {
#if CUDART_VERSION >= 12050
  void* function = nullptr;
  cudaDriverEntryPointQueryResult result;
  CHECK(cudaGetDriverEntryPointByVersion("cuDeviceGetCount", &function, CUDART_VERSION, cudaEnableDefault,
                                         &result));
  EXPECT(result == cudaDriverEntryPointSuccess);
  int n = 0;
  DRIVER_CHECK(reinterpret_cast<decltype(&cuDeviceGetCount)>(function)(&n));
  EXPECT(n > 0);
  CHECK(cudaGetDriverEntryPointByVersion("cuNoSuchFunction", &function, CUDART_VERSION, cudaEnableDefault,
                                         &result));
  EXPECT(result == cudaDriverEntryPointSymbolNotFound && function == nullptr);
#endif
}

int main() {
  devices();
  contexts();
  memory();
  launches();
  errors();
  through_the_runtime();
  std::puts("ok");
}
