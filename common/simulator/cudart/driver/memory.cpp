// SPDX-License-Identifier: MIT
// Memory: allocations, pools, copies, fills.
#include "cudart/driver/driver.hpp"

#include <algorithm>
#include <vector>

namespace course::driver {

constexpr int kDefaultDirection = 4;

FORWARD(cuMemGetInfo_v2, cudaMemGetInfo)
DRIVER cuMemAlloc_v2(CUdeviceptr* p, std::size_t n_bytes) {
  return n_bytes == 0 ? kInvalidValue : call("cudaMalloc", p, n_bytes);
}
FORWARD(cuMemFree_v2, cudaFree)
FORWARD(cuMemAllocHost_v2, cudaMallocHost)
FORWARD(cuMemHostAlloc, cudaHostAlloc)
FORWARD(cuMemFreeHost, cudaFreeHost)
FORWARD(cuMemHostRegister_v2, cudaHostRegister)
FORWARD(cuMemHostUnregister, cudaHostUnregister)
FORWARD(cuMemHostGetDevicePointer_v2, cudaHostGetDevicePointer)
FORWARD(cuMemAllocManaged, cudaMallocManaged)
FORWARD(cuMemAllocAsync, cudaMallocAsync)
FORWARD(cuMemAllocFromPoolAsync, cudaMallocFromPoolAsync)
FORWARD(cuMemFreeAsync, cudaFreeAsync)
FORWARD(cuMemPoolCreate, cudaMemPoolCreate)
FORWARD(cuMemPoolDestroy, cudaMemPoolDestroy)
FORWARD(cuMemPoolTrimTo, cudaMemPoolTrimTo)
FORWARD(cuMemPoolSetAttribute, cudaMemPoolSetAttribute)
FORWARD(cuMemPoolGetAttribute, cudaMemPoolGetAttribute)
FORWARD(cuMemPoolSetAccess, cudaMemPoolSetAccess)
FORWARD(cuMemPoolGetAccess, cudaMemPoolGetAccess)
DRIVER cuMemcpy(CUdeviceptr to, CUdeviceptr from, std::size_t n_bytes) {
  return call("cudaMemcpy", pointer(to), pointer(from), n_bytes, kDefaultDirection);
}
DRIVER cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t n_bytes, Handle stream) {
  return call("cudaMemcpyAsync", pointer(to), pointer(from), n_bytes, kDefaultDirection, stream);
}
DRIVER_ALIAS(cuMemcpyHtoD_v2, cuMemcpy);
DRIVER_ALIAS(cuMemcpyDtoH_v2, cuMemcpy);
DRIVER_ALIAS(cuMemcpyDtoD_v2, cuMemcpy);
DRIVER_ALIAS(cuMemcpyHtoDAsync_v2, cuMemcpyAsync);
DRIVER_ALIAS(cuMemcpyDtoHAsync_v2, cuMemcpyAsync);
DRIVER_ALIAS(cuMemcpyDtoDAsync_v2, cuMemcpyAsync);

namespace {

template <typename T>
CUresult fill_async(CUdeviceptr to, T value, std::size_t n, Handle stream) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(&value);
  if (std::all_of(bytes, bytes + sizeof(T), [&](unsigned char b) { return b == bytes[0]; }))
    return call("cudaMemsetAsync", pointer(to), int{bytes[0]}, n * sizeof(T), stream);
  int capturing = 0;
  if (CUresult r = call("cudaStreamIsCapturing", stream, &capturing); r != kSuccess) return r;
  if (capturing != 0) return kNotSupported;
  const std::vector<T> pattern(n, value);  // the copy is executed at once, so the pattern may be freed
  return cuMemcpyAsync(to, address(pattern.data()), n * sizeof(T), stream);
}

}  // namespace

DRIVER cuMemsetD8Async(CUdeviceptr to, std::uint8_t value, std::size_t n, Handle stream) {
  return fill_async(to, value, n, stream);
}
DRIVER cuMemsetD16Async(CUdeviceptr to, std::uint16_t value, std::size_t n, Handle stream) {
  return fill_async(to, value, n, stream);
}
DRIVER cuMemsetD32Async(CUdeviceptr to, std::uint32_t value, std::size_t n, Handle stream) {
  return fill_async(to, value, n, stream);
}
DRIVER cuMemsetD8_v2(CUdeviceptr to, std::uint8_t value, std::size_t n) {
  return fill_async(to, value, n, nullptr);
}
DRIVER cuMemsetD16_v2(CUdeviceptr to, std::uint16_t value, std::size_t n) {
  return fill_async(to, value, n, nullptr);
}
DRIVER cuMemsetD32_v2(CUdeviceptr to, std::uint32_t value, std::size_t n) {
  return fill_async(to, value, n, nullptr);
}

}  // namespace course::driver
