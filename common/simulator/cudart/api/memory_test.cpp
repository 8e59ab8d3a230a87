// SPDX-License-Identifier: MIT
// Memory of every kind, copies, arrays and textures, symbols, pools.
#include <cstring>

#include "cudart/testing/fixture.hpp"

namespace course::cudart {
namespace {

using sim::fake;

// --- arrays and textures

TEST_F(Api, ArraysKeepPartialCopies) {
  cudaArray_t array = nullptr;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc(16, 16, 0, 0, cudaChannelFormatKindUnsigned);
  ASSERT_EQ(cudaMallocArray(&array, &format, 4, 3, 0), cudaSuccess);
  const std::uint32_t in[2] = {1, 2};
  std::uint32_t out[12] = {};
  EXPECT_EQ(cudaMemcpy2DToArray(array, 8, 1, in, 8, 8, 1, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpy2DFromArray(out, 16, array, 0, 0, 16, 3, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(out[6], 1u);
  EXPECT_EQ(out[7], 2u);
  EXPECT_EQ(cudaFreeArray(array), cudaSuccess);
}

TEST_F(Api, RefusesCopiesBeyondAnArray) {
  cudaArray_t array = nullptr;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
  ASSERT_EQ(cudaMallocArray(&array, &format, 4, 3, 0), cudaSuccess);
  const float in[16] = {};
  EXPECT_EQ(cudaMemcpy2DToArray(array, 4, 0, in, 16, 16, 1, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy2DToArray(array, 0, 2, in, 16, 16, 2, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy2DToArray(array, 0, 0, in, 8, 16, 2, cudaMemcpyHostToDevice),
            cudaErrorInvalidPitchValue);
  EXPECT_EQ(cudaFreeArray(array), cudaSuccess);
  const cudaChannelFormatDesc three = cudaCreateChannelDesc(8, 8, 8, 0, cudaChannelFormatKindUnsigned);
  EXPECT_EQ(cudaMallocArray(&array, &three, 4, 3, 0), cudaErrorInvalidChannelDescriptor);
}

TEST_F(Api, TexturesRefuseUnreadableResources) {
  void* memory = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, 256), cudaSuccess);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = memory;
  resource.res.linear.desc = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindSigned);
  resource.res.linear.sizeInBytes = 512;
  cudaTextureDesc how{};
  cudaTextureObject_t texture = 0;
  EXPECT_EQ(cudaCreateTextureObject(&texture, &resource, &how, nullptr), cudaErrorInvalidValue)
      << "beyond the allocation";
  resource.res.linear.sizeInBytes = 256;
  how.filterMode = cudaFilterModeLinear;
  EXPECT_EQ(cudaCreateTextureObject(&texture, &resource, &how, nullptr), cudaErrorInvalidFilterSetting);
  how.filterMode = cudaFilterModePoint;
  ASSERT_EQ(cudaCreateTextureObject(&texture, &resource, &how, nullptr), cudaSuccess);
  EXPECT_EQ(cudaDestroySurfaceObject(texture), cudaErrorInvalidValue) << "it is a texture";
  EXPECT_EQ(cudaDestroyTextureObject(texture), cudaSuccess);
  EXPECT_EQ(cudaDestroyTextureObject(texture), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
}

// --- memory

TEST_F(Api, HostWritesReachTheCheckers) {
  int host[4] = {};
  int* d = device_array<int>(8);
  fake().writes.clear();
  EXPECT_EQ(cudaMemcpy(d + 2, host, 16, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemset(d, 0, 8), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(host, d, 16, cudaMemcpyDeviceToHost), cudaSuccess);
  const auto address = reinterpret_cast<std::uint64_t>(d);
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> expected = {{address + 8, 16}, {address, 8}};
  EXPECT_EQ(fake().writes, expected);
}

TEST_F(Api, ManagedMemoryCountsAsInitialised) {
  void* managed = nullptr;
  EXPECT_EQ(cudaMallocManaged(&managed, 100, cudaMemAttachGlobal), cudaSuccess);
  ASSERT_EQ(fake().writes.size(), 1u);
  EXPECT_EQ(fake().writes[0].second, 100u);
}

TEST_F(Api, RefusesCopiesThatLeaveAnAllocation) {
  char host[64] = {};
  char* d = device_array<char>(32);
  testing::internal::CaptureStderr();
  EXPECT_EQ(cudaMemcpy(d + 8, host, 25, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("cudaMemcpy"), std::string::npos);
  EXPECT_NE(text.find("32 bytes"), std::string::npos);
  EXPECT_NE(text.find("1 bytes too many"), std::string::npos) << text;
  EXPECT_EQ(cudaMemset(d + 1, 0, 32), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(d, host, 32, cudaMemcpyHostToDevice), cudaSuccess);
}

TEST_F(Api, RefusedCopiesNameTheWrongArgument) {
  char host[64] = {};
  char* d = device_array<char>(32);
  const auto expect = [&](void* to, const void* from, std::size_t n_bytes, int kind, const char* words) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(cudaMemcpy(to, from, n_bytes, static_cast<cudaMemcpyKind>(kind)),
              kind == 8 ? cudaErrorInvalidMemcpyDirection : cudaErrorInvalidValue);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_NE(said.find(words), std::string::npos) << said;
  };
  expect(d, host, 8, 8, "the direction (the argument after the size) is 8");
  expect(nullptr, host, 8, cudaMemcpyHostToDevice,
         "the destination is a null pointer; it must point to 8 bytes of device memory");
  expect(host, nullptr, 8, cudaMemcpyHostToHost,
         "the source is a null pointer; it must point to 8 bytes of memory");
  expect(host, d, 8, cudaMemcpyHostToDevice, "exchange the two pointers, or pass cudaMemcpyDeviceToHost");
  expect(d, host, 8, cudaMemcpyDeviceToHost, "exchange the two pointers, or pass cudaMemcpyHostToDevice");
  expect(d, host, 8, cudaMemcpyDeviceToDevice, "not been freed, or cudaMemcpyHostToDevice");
  expect(host, host + 8, 8, cudaMemcpyHostToDevice, "neither is one");
  expect(host, d + 8, 25, cudaMemcpyDeviceToHost, "the source has room for 24 bytes, not for 25");
}

TEST_F(Api, HostEndsOfCopiesMayBeAnyMemory) {
  char host[16] = {};
  char* d = device_array<char>(16);
  EXPECT_EQ(cudaMemset(host, 0, 16), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(d, host, 0, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(d, d + 8, 8, cudaMemcpyHostToDevice), cudaSuccess)
      << "a host end may be any memory, as on a GPU";
  EXPECT_EQ(cudaMemcpy(d, d + 8, 8, cudaMemcpyDeviceToHost), cudaSuccess);
}

TEST_F(Api, PinnedAndManagedMemoryWorkOnBothSides) {
  void *pinned = nullptr, *managed = nullptr;
  EXPECT_EQ(cudaMallocHost(&pinned, 16), cudaSuccess);
  EXPECT_EQ(cudaMallocManaged(&managed, 16, cudaMemAttachGlobal), cudaSuccess);
  std::memset(pinned, 3, 16);
  EXPECT_EQ(cudaMemcpy(managed, pinned, 16, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(static_cast<char*>(managed)[15], 3);
#if CUDART_VERSION >= 13000
  EXPECT_EQ(cudaMemPrefetchAsync(managed, 16, {cudaMemLocationTypeDevice, 0}, 0, nullptr), cudaSuccess);
#else
  EXPECT_EQ(cudaMemPrefetchAsync(managed, 16, 0, nullptr), cudaSuccess);
#endif
  EXPECT_EQ(cudaMemcpy(pinned, managed, 16, cudaMemcpyDeviceToHost), cudaSuccess);
  void* same = nullptr;
  EXPECT_EQ(cudaHostGetDevicePointer(&same, pinned, 0), cudaSuccess);
  EXPECT_EQ(same, pinned);
}

TEST_F(Api, RegistersHostMemoryOnce) {
  std::vector<int> host(1000);
  int* const middle = host.data() + 500;
  EXPECT_EQ(cudaHostRegister(nullptr, 16, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaHostRegister(middle, 0, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaHostRegister(middle, 16, 64), cudaErrorInvalidValue);
  EXPECT_EQ(cudaHostRegister(reinterpret_cast<void*>(4096), 16, 0), cudaErrorInvalidValue) << "nobody's";
  EXPECT_EQ(cudaHostRegister(middle, std::size_t{1} << 60, 0), cudaErrorInvalidValue) << "nobody has as much";
  EXPECT_EQ(cudaHostRegister(device_array<int>(4), 16, 0), cudaErrorInvalidValue);
  void* pinned = nullptr;
  EXPECT_EQ(cudaMallocHost(&pinned, 64), cudaSuccess);
  EXPECT_EQ(cudaHostRegister(pinned, 64, 0), cudaErrorHostMemoryAlreadyRegistered);

  EXPECT_EQ(cudaHostRegister(middle, 400, cudaHostRegisterPortable), cudaSuccess);
  EXPECT_EQ(cudaHostRegister(middle, 400, 0), cudaErrorHostMemoryAlreadyRegistered);
  EXPECT_EQ(cudaHostRegister(host.data(), 2004, 0), cudaErrorHostMemoryAlreadyRegistered) << "its first word";
  EXPECT_EQ(cudaHostRegister(middle + 99, 8, 0), cudaErrorHostMemoryAlreadyRegistered) << "its last";
  EXPECT_EQ(cudaHostRegister(middle + 100, 8, 0), cudaSuccess);
  EXPECT_EQ(cudaFreeHost(middle), cudaErrorInvalidValue);
  EXPECT_EQ(cudaHostUnregister(nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaHostUnregister(middle + 1), cudaErrorHostMemoryNotRegistered) << "not its start";
  EXPECT_EQ(cudaHostUnregister(middle), cudaSuccess);
  EXPECT_EQ(cudaHostUnregister(middle), cudaErrorHostMemoryNotRegistered);
  EXPECT_EQ(cudaHostRegister(middle, 400, cudaHostRegisterMapped), cudaSuccess);
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  EXPECT_EQ(cudaHostUnregister(middle), cudaErrorHostMemoryNotRegistered) << "a reset ends it";
}

TEST_F(Api, RegisteredHostMemoryHasOneAddress) {
  std::vector<int> host(1000, 5);
  void* place = nullptr;
  EXPECT_EQ(cudaHostRegister(host.data(), 4000, 0), cudaSuccess);
  EXPECT_EQ(cudaHostGetDevicePointer(&place, host.data() + 10, 0), cudaSuccess);
  EXPECT_EQ(place, host.data() + 10) << "unified addresses";
  int* const seen = static_cast<int*>(place);
  EXPECT_EQ(cudaMemset(seen + 2, 0, 4), cudaSuccess);
  EXPECT_EQ(host[12], 0);
  EXPECT_EQ(cudaMemset(seen + 989, 0, 8), cudaErrorInvalidValue) << "past its end";

  cudaPointerAttributes about{};
  EXPECT_EQ(cudaPointerGetAttributes(&about, host.data() + 20), cudaSuccess);
  EXPECT_EQ(about.devicePointer, seen + 10);
  EXPECT_EQ(about.hostPointer, seen + 10);
  unsigned flags = 0;
  EXPECT_EQ(cudaHostGetFlags(&flags, seen), cudaErrorInvalidValue) << "for memory of cudaHostAlloc alone";
  EXPECT_EQ(cudaFreeHost(seen), cudaErrorInvalidValue);
  EXPECT_EQ(cudaHostUnregister(host.data()), cudaSuccess);
  EXPECT_EQ(cudaPointerGetAttributes(&about, host.data()), cudaSuccess);
  EXPECT_EQ(about.type, cudaMemoryTypeUnregistered);
}

TEST_F(Api, EachMemoryKindHasItsOwnFree) {
  int on_stack = 0;
  void *device = nullptr, *pinned = nullptr;
  EXPECT_EQ(cudaMalloc(&device, 16), cudaSuccess);
  EXPECT_EQ(cudaMallocHost(&pinned, 16), cudaSuccess);
  EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
  EXPECT_EQ(cudaFree(&on_stack), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(static_cast<char*>(device) + 4), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(pinned), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeHost(device), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(device), cudaSuccess);
  EXPECT_EQ(cudaFree(device), cudaErrorInvalidValue) << "freed twice";
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
}

TEST_F(Api, HandlesEmptyAndExcessiveAllocations) {
  void* pointer = &pointer;
  EXPECT_EQ(cudaMalloc(&pointer, 0), cudaSuccess);
  EXPECT_EQ(pointer, nullptr);
  EXPECT_EQ(cudaMallocManaged(&pointer, 0, cudaMemAttachGlobal), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&pointer, std::size_t{1} << 50), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess) << "running out of memory is not sticky";
}

TEST_F(Api, PitchedCopiesMoveRows) {
  void* d = nullptr;
  std::size_t pitch = 0;
  EXPECT_EQ(cudaMallocPitch(&d, &pitch, 10, 4), cudaSuccess);
  EXPECT_EQ(pitch % 256, 0u);
  char in[4][12], out[4][16];
  for (int y = 0; y < 4; ++y) std::memset(in[y], y + 1, sizeof in[y]);
  std::memset(out, 99, sizeof out);
  EXPECT_EQ(cudaMemset2D(d, pitch, 0, 10, 4), cudaSuccess);
  EXPECT_EQ(cudaMemcpy2D(d, pitch, in, 12, 10, 4, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpy2D(out, 16, d, pitch, 10, 4, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(out[3][9], 4);
  EXPECT_EQ(out[3][10], 99);
  EXPECT_EQ(cudaMemcpy2D(out, 8, d, pitch, 10, 4, cudaMemcpyDeviceToHost), cudaErrorInvalidPitchValue);
  EXPECT_EQ(cudaMemcpy2D(out, 8, d, pitch, 10, 1, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset2D(d, 8, 0, 10, 4), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset2D(d, 8, 0, 10, 1), cudaSuccess);
  EXPECT_EQ(cudaMemcpy2D(out, 16, d, pitch, 10, 5, cudaMemcpyDeviceToHost), cudaErrorInvalidValue)
      << "a row too many";
}

TEST_F(Api, CopiesBoxes) {
  cudaPitchedPtr d{};
  EXPECT_EQ(cudaMalloc3D(&d, cudaExtent{8, 3, 2}), cudaSuccess);
  EXPECT_EQ(cudaMemset3D(d, 5, cudaExtent{8, 3, 2}), cudaSuccess);
  char out[2][3][8] = {};
  cudaMemcpy3DParms p{};
  p.srcPtr = d;
  p.dstPtr = cudaPitchedPtr{out, 8, 8, 3};
  p.dstPos = cudaPos{0, 1, 1};
  p.extent = cudaExtent{8, 2, 1};
  p.kind = cudaMemcpyDeviceToHost;
  EXPECT_EQ(cudaMemcpy3D(&p), cudaSuccess);
  EXPECT_EQ(out[0][2][7], 0);
  EXPECT_EQ(out[1][0][0], 0);
  EXPECT_EQ(out[1][1][0], 5);
  EXPECT_EQ(out[1][2][7], 5);
}

TEST_F(Api, PointerAttributesNameTheKind) {
  int host = 0;
  void *device = nullptr, *pinned = nullptr, *managed = nullptr;
  EXPECT_EQ(cudaMalloc(&device, 16), cudaSuccess);
  EXPECT_EQ(cudaMallocHost(&pinned, 16), cudaSuccess);
  EXPECT_EQ(cudaMallocManaged(&managed, 16, cudaMemAttachGlobal), cudaSuccess);
  cudaPointerAttributes attributes{};
  EXPECT_EQ(cudaPointerGetAttributes(&attributes, static_cast<char*>(device) + 3), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
  EXPECT_EQ(attributes.device, 0);
  EXPECT_EQ(attributes.hostPointer, nullptr);
  EXPECT_EQ(cudaPointerGetAttributes(&attributes, pinned), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
  EXPECT_EQ(cudaPointerGetAttributes(&attributes, managed), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeManaged);
  EXPECT_EQ(cudaPointerGetAttributes(&attributes, &host), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
  EXPECT_EQ(attributes.device, -2);
  EXPECT_EQ(cudaPointerGetAttributes(&attributes, nullptr), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
}

TEST_F(Api, SymbolsAreBounded) {
  void* address = nullptr;
  EXPECT_EQ(cudaGetSymbolAddress(&address, table_shadow_), cudaSuccess);
  const int value = 42;
  EXPECT_EQ(cudaMemcpyToSymbol(table_shadow_, &value, 4, 60, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpyToSymbol(table_shadow_, &value, 4, 61, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyToSymbol(&value, &value, 4, 0, cudaMemcpyHostToDevice), cudaErrorInvalidSymbol);
  EXPECT_EQ(cudaFree(address), cudaErrorInvalidValue) << "a variable is not for cudaFree";
}

TEST_F(Api, ManagedVariablesArePublishedBeforeTheirFirstUse) {
  fake().symbols["counter"] = 8;
  void* host_pointer = nullptr;
  void** const handle = __cudaRegisterFatBinary(&wrapper_);
  __cudaRegisterManagedVar(handle, &host_pointer, nullptr, "counter", 0, 8, 0, 0);
  EXPECT_EQ(host_pointer, nullptr);
  EXPECT_EQ(__cudaInitModule(handle), 1);
  ASSERT_NE(host_pointer, nullptr);
  *static_cast<long*>(host_pointer) = 5;
  __cudaUnregisterFatBinary(handle);
}

TEST_F(Api, PoolsCountTheirMemory) {
  cudaMemPool_t pool = nullptr;
  EXPECT_EQ(cudaDeviceGetDefaultMemPool(&pool, 0), cudaSuccess);
  std::uint64_t before = 0, used = 0, high = 0;
  EXPECT_EQ(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &before), cudaSuccess);
  void* pointer = nullptr;
  EXPECT_EQ(cudaMallocAsync(&pointer, 1000, nullptr), cudaSuccess);
  EXPECT_EQ(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used), cudaSuccess);
  EXPECT_EQ(used - before, 1000u);
  EXPECT_EQ(cudaFreeAsync(pointer, nullptr), cudaSuccess);
  EXPECT_EQ(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used), cudaSuccess);
  EXPECT_EQ(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &high), cudaSuccess);
  EXPECT_EQ(used, before);
  EXPECT_GE(high, 1000u);
  EXPECT_EQ(cudaFreeAsync(pointer, nullptr), cudaErrorInvalidValue);
}

TEST_F(Api, ResetReleasesLeakedObjects) {
  std::size_t before = 0, after = 0, total = 0;
  EXPECT_EQ(cudaMemGetInfo(&before, &total), cudaSuccess);
  int* forgotten = device_array<int>(1000);
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  EXPECT_EQ(cudaMemGetInfo(&after, &total), cudaSuccess);
  EXPECT_EQ(before, after);
  EXPECT_EQ(cudaFree(forgotten), cudaErrorInvalidValue);
}

}  // namespace
}  // namespace course::cudart
