// SPDX-License-Identifier: MIT
// Memory: allocations, pools, copies, fills, and attributes of pointers.
#include "cudart/driver/driver.hpp"

#include <algorithm>
#include <vector>

namespace course::driver {

constexpr int kDefaultDirection = 4;

FORWARD(cuMemGetInfo_v2, cudaMemGetInfo, (std::size_t * free, std::size_t* total), free, total)
DRIVER cuMemAlloc_v2(CUdeviceptr* p, std::size_t n_bytes) {
  return n_bytes == 0 ? kInvalidValue : call("cudaMalloc", p, n_bytes);
}
FORWARD(cuMemFree_v2, cudaFree, (CUdeviceptr p), pointer(p))
FORWARD(cuMemAllocHost_v2, cudaMallocHost, (void** p, std::size_t n_bytes), p, n_bytes)
FORWARD(cuMemHostAlloc, cudaHostAlloc, (void** p, std::size_t n_bytes, unsigned flags), p, n_bytes, flags)
FORWARD(cuMemFreeHost, cudaFreeHost, (void* p), p)
FORWARD(cuMemHostRegister_v2, cudaHostRegister, (void* p, std::size_t n_bytes, unsigned flags), p, n_bytes,
        flags)
FORWARD(cuMemHostUnregister, cudaHostUnregister, (void* p), p)
FORWARD(cuMemHostGetDevicePointer_v2, cudaHostGetDevicePointer, (CUdeviceptr * d, void* p, unsigned flags), d,
        p, flags)
FORWARD(cuMemAllocManaged, cudaMallocManaged, (CUdeviceptr * p, std::size_t n_bytes, unsigned flags), p,
        n_bytes, flags)
FORWARD(cuMemAllocAsync, cudaMallocAsync, (CUdeviceptr * p, std::size_t n_bytes, Handle stream), p, n_bytes,
        stream)
FORWARD(cuMemAllocFromPoolAsync, cudaMallocFromPoolAsync,
        (CUdeviceptr * p, std::size_t n_bytes, Handle pool, Handle stream), p, n_bytes, pool, stream)
FORWARD(cuMemFreeAsync, cudaFreeAsync, (CUdeviceptr p, Handle stream), pointer(p), stream)
FORWARD(cuMemPoolCreate, cudaMemPoolCreate, (Handle * pool, const void* properties), pool, properties)
FORWARD(cuMemPoolDestroy, cudaMemPoolDestroy, (Handle pool), pool)
FORWARD(cuMemPoolTrimTo, cudaMemPoolTrimTo, (Handle pool, std::size_t keep), pool, keep)
FORWARD(cuMemPoolSetAttribute, cudaMemPoolSetAttribute, (Handle pool, int attribute, void* value), pool,
        attribute, value)
FORWARD(cuMemPoolGetAttribute, cudaMemPoolGetAttribute, (Handle pool, int attribute, void* value), pool,
        attribute, value)
FORWARD(cuMemPoolSetAccess, cudaMemPoolSetAccess, (Handle pool, const void* access, std::size_t n), pool,
        access, n)
FORWARD(cuMemPoolGetAccess, cudaMemPoolGetAccess, (int* flags, Handle pool, void* location), flags, pool,
        location)
FORWARD(cuMemcpy, cudaMemcpy, (CUdeviceptr to, CUdeviceptr from, std::size_t n_bytes), pointer(to),
        pointer(from), n_bytes, kDefaultDirection)
FORWARD(cuMemcpyAsync, cudaMemcpyAsync,
        (CUdeviceptr to, CUdeviceptr from, std::size_t n_bytes, Handle stream), pointer(to), pointer(from),
        n_bytes, kDefaultDirection, stream)
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
// cudaPointerAttributes.
struct PointerAttributes {
  int type, device;
  void *device_pointer, *host_pointer;
  long reserved[8];
};

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
DRIVER cuMemGetAddressRange_v2(CUdeviceptr* base, std::size_t* n_bytes, CUdeviceptr p) {
  void* start = nullptr;
  if (CUresult r = call("simFindAllocation", static_cast<const void*>(pointer(p)), &start, n_bytes);
      r != kSuccess)
    return r == kNotSupported ? r : kNotFound;
  if (base != nullptr) *base = address(start);
  return kSuccess;
}
DRIVER cuPointerGetAttribute(void* out, int attribute, CUdeviceptr p) {
  enum { kUnregistered, kHost, kDevice, kManaged };
  PointerAttributes a{};
  CUdeviceptr base = 0;
  std::size_t n_bytes = 0;
  if (out == nullptr) return kInvalidValue;
  if (CUresult r = call("cudaPointerGetAttributes", &a, pointer(p)); r != kSuccess) return r;
  if (a.type == kUnregistered) return kInvalidValue;
  switch (attribute) {
    case 1: return primary_of(a.device, static_cast<Handle*>(out));
    case 2: *static_cast<unsigned*>(out) = a.type == kHost ? kHost : kDevice; break;
    case 3: *static_cast<void**>(out) = a.device_pointer; break;
    case 4: *static_cast<void**>(out) = a.host_pointer; break;
    case 8: *static_cast<bool*>(out) = a.type == kManaged; break;
    case 9: *static_cast<int*>(out) = a.device; break;
    case 10: *static_cast<bool*>(out) = false; break;  // usable for IPC, which is not supported
    case 11:
    case 12:
      if (CUresult r = cuMemGetAddressRange_v2(&base, &n_bytes, address(a.device_pointer)); r != kSuccess)
        return r;
      *static_cast<std::uint64_t*>(out) = attribute == 11 ? base : n_bytes;
      break;
    case 13: *static_cast<bool*>(out) = true; break;        // mapped
    case 14: *static_cast<std::uint64_t*>(out) = 0; break;  // exportable handle types: none
    case 15: *static_cast<bool*>(out) = false; break;       // usable for GPUDirect RDMA
    default:
      say("cuPointerGetAttribute: attribute " + std::to_string(attribute) + " is not supported");
      return kNotSupported;
  }
  return kSuccess;
}
// Returns zeros for memory that does not belong to CUDA.
DRIVER cuPointerGetAttributes(unsigned n, const int* attributes, void** out, CUdeviceptr p) {
  PointerAttributes a{};
  if (attributes == nullptr || out == nullptr) return kInvalidValue;
  if (CUresult r = call("cudaPointerGetAttributes", &a, pointer(p)); r != kSuccess) return r;
  const auto bytes_of = [](int attribute) -> std::size_t {
    const bool is_flag = attribute == 8 || attribute == 10 || attribute == 13 || attribute == 15;
    const bool is_number = attribute == 2 || attribute == 9;
    return is_flag ? sizeof(bool) : is_number ? sizeof(int) : sizeof(void*);
  };
  for (unsigned k = 0; k < n; ++k) {
    if (a.type == 0)
      std::fill_n(static_cast<std::byte*>(out[k]), bytes_of(attributes[k]), std::byte{0});
    else if (CUresult r = cuPointerGetAttribute(out[k], attributes[k], p); r != kSuccess)
      return r;
  }
  return kSuccess;
}

}  // namespace course::driver
