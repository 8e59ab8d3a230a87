// SPDX-License-Identifier: MIT
// The runtime's own logic: registration, memory, errors, streams, events, launches. Graphs are in graph_test.cpp.
#include <numeric>
#include <thread>

#include "cudart/api_fixture.hpp"
#include "cudart/sim_control.h"

namespace course::cudart {
namespace {

using sim::fake;

// --- errors

TEST_F(Api, ErrorsHaveCudasNamesAndTexts) {
  EXPECT_STREQ(cudaGetErrorName(cudaErrorIllegalAddress), "cudaErrorIllegalAddress");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorIllegalAddress), "an illegal memory access was encountered");
  EXPECT_STREQ(cudaGetErrorName(cudaSuccess), "cudaSuccess");
  EXPECT_STREQ(cudaGetErrorString(static_cast<cudaError_t>(12345)), "unrecognized error code");
}

TEST_F(Api, LastErrorIsReturnedOnceAndPerThread) {
  EXPECT_EQ(cudaSetDevice(99), cudaErrorInvalidDevice);
  std::thread([] { EXPECT_EQ(cudaGetLastError(), cudaSuccess); }).join();
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(Api, SuccessDoesNotClearTheLastError) {
  EXPECT_EQ(cudaSetDevice(99), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
}

TEST_F(Api, KernelFaultSurfacesAtTheNextCallAndStays) {
  fault(sim::Fault::illegal_address, "sample read 4 bytes past d_in");
  testing::internal::CaptureStderr();
  EXPECT_EQ(launch(1, 32), cudaSuccess) << "launches are asynchronous";
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "simulator: sample read 4 bytes past d_in\n");
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "asking clears it, until the next call";
  void* pointer = nullptr;
  EXPECT_EQ(cudaMalloc(&pointer, 16), cudaErrorIllegalAddress);
  EXPECT_EQ(launch(1, 32), cudaErrorIllegalAddress);
  EXPECT_EQ(fake().launches.size(), 1u);
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress) << "the last launch's";
  EXPECT_EQ(cudaMalloc(&pointer, 16), cudaSuccess);
}

TEST_F(Api, FaultsMapToCudasErrors) {
  const std::pair<sim::Fault, cudaError_t> sticky[] = {
      {sim::Fault::illegal_address, cudaErrorIllegalAddress},
      {sim::Fault::misaligned_address, cudaErrorMisalignedAddress},
      {sim::Fault::illegal_instruction, cudaErrorIllegalInstruction},
      {sim::Fault::launch_timeout, cudaErrorLaunchTimeout},
      {sim::Fault::device_assert, cudaErrorAssert},
      {sim::Fault::trap, cudaErrorLaunchFailure},
  };
  for (const auto& [kind, error] : sticky) {
    fault(kind, "");
    EXPECT_EQ(launch(1, 1), cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), error);
    EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  }
  const std::pair<sim::Fault, cudaError_t> refused[] = {
      {sim::Fault::invalid_configuration, cudaErrorInvalidConfiguration},
      {sim::Fault::out_of_resources, cudaErrorLaunchOutOfResources},
      {sim::Fault::invalid_parameter, cudaErrorInvalidValue},
  };
  for (const auto& [kind, error] : refused) {
    fault(kind, "");
    EXPECT_EQ(launch(1, 1), error);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess) << "a refused launch leaves the device usable";
  }
}

TEST_F(Api, UnimplementedCallsFailByNameAndSaySoOnce) {
  cudaMipmappedArray_t levels = nullptr;
  testing::internal::CaptureStderr();
  EXPECT_EQ(cudaGetMipmappedArrayLevel(nullptr, levels, 0), cudaErrorNotSupported);
  EXPECT_EQ(cudaGetMipmappedArrayLevel(nullptr, levels, 0), cudaErrorNotSupported);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "simulator: cudaGetMipmappedArrayLevel is not implemented\n");
  EXPECT_EQ(cudaGetLastError(), cudaErrorNotSupported);
}

// --- arrays and textures

TEST_F(Api, AnArrayKeepsWhatWasCopiedIntoAPartOfIt) {
  cudaArray_t array = nullptr;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc(16, 16, 0, 0, cudaChannelFormatKindUnsigned);
  ASSERT_EQ(cudaMallocArray(&array, &format, 4, 3, 0), cudaSuccess);
  const std::uint32_t in[2] = {1, 2};
  std::uint32_t out[12] = {};
  EXPECT_EQ(cudaMemcpy2DToArray(array, 8, 1, in, 8, 8, 1, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpy2DFromArray(out, 16, array, 0, 0, 16, 3, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(out[6], 1u);
  EXPECT_EQ(out[7], 2u);
  cudaExtent extent{};
  EXPECT_EQ(cudaArrayGetInfo(nullptr, &extent, nullptr, array), cudaSuccess);
  EXPECT_EQ(extent.width, 4u);
  EXPECT_EQ(cudaFreeArray(array), cudaSuccess);
}

TEST_F(Api, CopiesThatLeaveAnArrayAreRefused) {
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

TEST_F(Api, TexturesWantWhatTheyCanRead) {
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

TEST_F(Api, CopiesThroughDeviceMemory) {
  std::vector<int> in(1000), out(1000);
  std::iota(in.begin(), in.end(), 7);
  int* d_a = device_array<int>(1000);
  int* d_b = device_array<int>(1000);
  EXPECT_EQ(cudaMemcpy(d_a, in.data(), 4000, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(d_b, d_a, 4000, cudaMemcpyDeviceToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(out.data(), d_b, 4000, cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(in, out);
  EXPECT_EQ(cudaFree(d_a), cudaSuccess);
  EXPECT_EQ(cudaFree(d_b), cudaSuccess);
}

TEST_F(Api, HostWritesAreToldToTheCheckers) {
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

TEST_F(Api, MemoryThatTheHostWritesDirectlyIsNeverUninitialised) {
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

TEST_F(Api, RefusesPointersOnTheWrongSide) {
  char host[16] = {};
  char* d = device_array<char>(16);
  EXPECT_EQ(cudaMemcpy(host, host, 16, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(d, host, 16, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(d, host, 16, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(host, 0, 16), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(d, nullptr, 16, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(d, host, 16, static_cast<cudaMemcpyKind>(7)), cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(cudaMemcpy(d, host, 0, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(d, d + 8, 8, cudaMemcpyHostToDevice), cudaSuccess)
      << "a host end may be any memory, as on a GPU";
  EXPECT_EQ(cudaMemcpy(d, d + 8, 8, cudaMemcpyDeviceToHost), cudaSuccess);
}

TEST_F(Api, PinnedAndManagedMemoryServeBothSides) {
  void *pinned = nullptr, *managed = nullptr;
  EXPECT_EQ(cudaMallocHost(&pinned, 16), cudaSuccess);
  EXPECT_EQ(cudaMallocManaged(&managed, 16, cudaMemAttachGlobal), cudaSuccess);
  std::memset(pinned, 3, 16);
  EXPECT_EQ(cudaMemcpy(managed, pinned, 16, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(static_cast<char*>(managed)[15], 3);
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

TEST_F(Api, RegisteredHostMemoryIsWhatKernelsSeeAndChange) {
  std::vector<int> host(1000, 5);
  void* place = nullptr;
  EXPECT_EQ(cudaHostGetDevicePointer(&place, host.data(), 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaHostRegister(host.data(), 4000, 0), cudaSuccess);
  EXPECT_EQ(cudaHostGetDevicePointer(&place, host.data() + 10, 0), cudaSuccess);
  int* const seen = static_cast<int*>(place);
  fake().run = [&](const sim::FakeLaunch&) {
    EXPECT_EQ(seen[0], 7);
    EXPECT_EQ(seen[989], 5);
    seen[1] = 8;
    host[500] = 9;  // another host thread, at the same time
    return sim::LaunchResult{};
  };
  host[10] = 7;
  EXPECT_EQ(launch(1, 32), cudaSuccess);
  EXPECT_EQ(host[10], 7);
  EXPECT_EQ(host[11], 8);
  EXPECT_EQ(host[500], 9);
  EXPECT_EQ(cudaMemset(seen + 2, 0, 4), cudaSuccess);
  EXPECT_EQ(host[12], 0);
  EXPECT_EQ(cudaMemset(seen + 989, 0, 8), cudaErrorInvalidValue) << "past its end";

  cudaPointerAttributes about{};
  EXPECT_EQ(cudaPointerGetAttributes(&about, host.data() + 20), cudaSuccess);
  EXPECT_EQ(about.type, cudaMemoryTypeHost);
  EXPECT_EQ(about.devicePointer, seen + 10);
  EXPECT_EQ(cudaPointerGetAttributes(&about, seen), cudaSuccess);
  EXPECT_EQ(about.type, cudaMemoryTypeHost);
  EXPECT_EQ(about.hostPointer, host.data() + 10);
  EXPECT_EQ(cudaHostUnregister(host.data()), cudaSuccess);
  EXPECT_EQ(cudaPointerGetAttributes(&about, host.data()), cudaSuccess);
  EXPECT_EQ(about.type, cudaMemoryTypeUnregistered);
}

TEST_F(Api, FreesEachKindWithItsOwnCallOnly) {
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

TEST_F(Api, MallocOfNothingAndOfTooMuch) {
  void* pointer = &pointer;
  EXPECT_EQ(cudaMalloc(&pointer, 0), cudaSuccess);
  EXPECT_EQ(pointer, nullptr);
  EXPECT_EQ(cudaMallocManaged(&pointer, 0, cudaMemAttachGlobal), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&pointer, std::size_t{1} << 50), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess) << "running out of memory is not sticky";
}

TEST_F(Api, MemGetInfoFollowsAllocations) {
  std::size_t before = 0, after = 0, total = 0;
  EXPECT_EQ(cudaMemGetInfo(&before, &total), cudaSuccess);
  (void)device_array<char>(1 << 20);
  EXPECT_EQ(cudaMemGetInfo(&after, &total), cudaSuccess);
  EXPECT_EQ(before - after, std::size_t{1} << 20);
  EXPECT_LE(before, total);
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

TEST_F(Api, SymbolsAreFoundAndBounded) {
  void* address = nullptr;
  std::size_t size = 0;
  EXPECT_EQ(cudaGetSymbolAddress(&address, table_shadow_), cudaSuccess);
  EXPECT_EQ(cudaGetSymbolSize(&size, table_shadow_), cudaSuccess);
  EXPECT_EQ(size, 64u);
  const int value = 42;
  int back = 0;
  EXPECT_EQ(cudaMemcpyToSymbol(table_shadow_, &value, 4, 60, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpyFromSymbol(&back, table_shadow_, 4, 60, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(back, 42);
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

TEST_F(Api, PoolsCountWhatTheyHold) {
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

TEST_F(Api, ResetReleasesWhatTheProgramForgot) {
  std::size_t before = 0, after = 0, total = 0;
  EXPECT_EQ(cudaMemGetInfo(&before, &total), cudaSuccess);
  int* forgotten = device_array<int>(1000);
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  EXPECT_EQ(cudaMemGetInfo(&after, &total), cudaSuccess);
  EXPECT_EQ(before, after);
  EXPECT_EQ(cudaFree(forgotten), cudaErrorInvalidValue);
}

// --- launches

TEST_F(Api, LaunchPacksArgumentsAtTheirOffsets) {
  pointer_argument = device_array<int>(4);
  EXPECT_EQ(launch(dim3(3, 2, 1), dim3(32, 4, 1), 512), cudaSuccess);
  ASSERT_EQ(fake().launches.size(), 1u);
  const sim::FakeLaunch& seen = fake().launches[0];
  EXPECT_EQ(seen.kernel, "sample");
  EXPECT_EQ(seen.grid.x, 3u);
  EXPECT_EQ(seen.grid.y, 2u);
  EXPECT_EQ(seen.block.y, 4u);
  EXPECT_EQ(seen.cluster.count(), 1u);
  EXPECT_EQ(seen.dynamic_shared, 512u);
  ASSERT_EQ(seen.parameters.size(), 24u);
  int* out = nullptr;
  double factor = 0;
  std::memcpy(&out, seen.parameters.data(), 8);
  std::memcpy(&factor, seen.parameters.data() + 16, 8);
  EXPECT_EQ(out, pointer_argument);
  EXPECT_EQ(static_cast<char>(seen.parameters[8]), 'f');
  EXPECT_EQ(factor, 2.5);
}

TEST_F(Api, TripleChevronsGoThroughPushPopAndKernelHandles) {
  cudaStream_t stream = nullptr;
  EXPECT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  cudaKernel_t kernel = nullptr;
  EXPECT_EQ(__cudaGetKernel(&kernel, &other_stub_), cudaSuccess);
  EXPECT_EQ(__cudaPushCallConfiguration(dim3(5), dim3(64), 128, stream), 0u);
  dim3 grid, block;
  std::size_t shared = 0;
  cudaStream_t popped = nullptr;
  EXPECT_EQ(__cudaPopCallConfiguration(&grid, &block, &shared, &popped), cudaSuccess);
  EXPECT_EQ(popped, stream);
  int* out = nullptr;
  char flag = 0;
  double factor = 0;
  void* arguments[] = {&out, &flag, &factor};
  EXPECT_EQ(__cudaLaunchKernel(kernel, grid, block, arguments, shared, popped), cudaSuccess);
  ASSERT_EQ(fake().launches.size(), 1u);
  EXPECT_EQ(fake().launches[0].kernel, "other");
  EXPECT_EQ(fake().launches[0].grid.x, 5u);
  EXPECT_EQ(__cudaPopCallConfiguration(&grid, &block, &shared, &popped), cudaErrorMissingConfiguration);
}

TEST_F(Api, ModulesLoadAtTheFirstUseAndOnce) {
  EXPECT_TRUE(fake().modules.empty());
  EXPECT_EQ(launch(1, 1), cudaSuccess);
  EXPECT_EQ(launch(1, 1), cudaSuccess);
  ASSERT_EQ(fake().modules.size(), 1u);
  EXPECT_NE(fake().modules[0].find(".target sm_80"), std::string::npos);
}

TEST_F(Api, ModuleThatDoesNotLoadIsExplainedOnce) {
  fake().load_failure = "line 7: unknown directive";
  testing::internal::CaptureStderr();
  EXPECT_EQ(launch(1, 1), cudaErrorInvalidPtx);
  EXPECT_EQ(launch(1, 1), cudaErrorInvalidPtx);
  const std::string text = testing::internal::GetCapturedStderr();
  const std::size_t first = text.find("line 7: unknown directive");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(text.find("line 7", first + 1), std::string::npos);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

TEST_F(Api, UnknownKernelsAreInvalidDeviceFunctions) {
  const int nothing = 0;
  EXPECT_EQ(cudaLaunchKernel(&nothing, dim3(1), dim3(1), nullptr, 0, nullptr),
            cudaErrorInvalidResourceHandle);
  fake().kernels.erase("sample");
  EXPECT_EQ(launch(1, 1), cudaErrorInvalidDeviceFunction);
}

TEST_F(Api, LaunchLimitsAreCudas) {
  EXPECT_EQ(launch(0, 32), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch(1, 0), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch(1, 1025), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch(1, dim3(1, 1, 65)), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch(1, dim3(32, 33, 1)), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch(dim3(1, 65536), 1), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch(dim3(2147483647), 1), cudaSuccess);
  cudaKernel_t kernel = nullptr;
  EXPECT_EQ(__cudaGetKernel(&kernel, &sample_stub_), cudaSuccess);
  int* out = nullptr;
  char flag = 0;
  double factor = 0;
  void* arguments[] = {&out, &flag, &factor};
  EXPECT_EQ(__cudaLaunchKernel(kernel, dim3(1), dim3(2048), arguments, 0, nullptr), cudaErrorInvalidValue)
      << "as on an H200";
  EXPECT_EQ(launch(1, dim3(16, 1, 64)), cudaSuccess);
}

TEST_F(Api, RegistersLimitTheBlock) {
  fake().kernels["sample"].registers = 128;
  EXPECT_EQ(launch(1, 1024), cudaErrorLaunchOutOfResources);
  EXPECT_EQ(launch(1, 512), cudaSuccess);
}

TEST_F(Api, LargeSharedMemoryNeedsOptingIn) {
  EXPECT_EQ(launch(1, 32, 48 * 1024 - 1024), cudaSuccess);
  EXPECT_EQ(launch(1, 32, 48 * 1024), cudaErrorInvalidValue) << "static and dynamic together";
  EXPECT_EQ(cudaFuncSetAttribute(&sample_stub_, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 * 1024),
            cudaSuccess);
  EXPECT_EQ(launch(1, 32, 100 * 1024), cudaSuccess);
  EXPECT_EQ(launch(1, 32, 100 * 1024 + 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFuncSetAttribute(&sample_stub_, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448),
            cudaErrorInvalidValue)
      << "1024 bytes are static";
}

TEST_F(Api, CooperativeGridsMustFit) {
  int* out = nullptr;
  char flag = 0;
  double factor = 0;
  void* arguments[] = {&out, &flag, &factor};
  fake().occupancy = 2;
  EXPECT_EQ(cudaLaunchCooperativeKernel(&sample_stub_, dim3(264), dim3(32), arguments, 0, nullptr),
            cudaSuccess);
  EXPECT_TRUE(fake().launches[0].cooperative);
  EXPECT_EQ(cudaLaunchCooperativeKernel(&sample_stub_, dim3(265), dim3(32), arguments, 0, nullptr),
            cudaErrorCooperativeLaunchTooLarge);
}

TEST_F(Api, LaunchAttributesReachTheLaunch) {
  int* out = nullptr;
  char flag = 0;
  double factor = 0;
  void* arguments[] = {&out, &flag, &factor};
  cudaLaunchAttribute attributes[2] = {};
  attributes[0].id = cudaLaunchAttributeClusterDimension;
  attributes[0].val.clusterDim.x = 2;
  attributes[0].val.clusterDim.y = 1;
  attributes[0].val.clusterDim.z = 1;
  attributes[1].id = cudaLaunchAttributeCooperative;
  attributes[1].val.cooperative = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(4);
  config.blockDim = dim3(64);
  config.attrs = attributes;
  config.numAttrs = 2;
  EXPECT_EQ(cudaLaunchKernelExC(&config, &sample_stub_, arguments), cudaSuccess);
  ASSERT_EQ(fake().launches.size(), 1u);
  EXPECT_EQ(fake().launches[0].cluster.x, 2u);
  EXPECT_TRUE(fake().launches[0].cooperative);
  config.gridDim = dim3(5);
  EXPECT_EQ(cudaLaunchKernelExC(&config, &sample_stub_, arguments), cudaErrorInvalidClusterSize)
      << "5 is no multiple of 2";
  attributes[0].val.clusterDim.x = 16;
  config.gridDim = dim3(16);
  EXPECT_EQ(cudaLaunchKernelExC(&config, &sample_stub_, arguments), cudaErrorInvalidClusterSize);
  EXPECT_EQ(cudaFuncSetAttribute(&sample_stub_, cudaFuncAttributeNonPortableClusterSizeAllowed, 1),
            cudaSuccess);
  EXPECT_EQ(cudaLaunchKernelExC(&config, &sample_stub_, arguments), cudaSuccess);
}

TEST_F(Api, FunctionAttributes) {
  cudaFuncAttributes attributes{};
  EXPECT_EQ(cudaFuncGetAttributes(&attributes, nullptr), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(cudaFuncGetAttributes(&attributes, &attributes), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaFuncGetAttributes(&attributes, &sample_stub_), cudaSuccess);
  EXPECT_EQ(attributes.ptxVersion, 80) << "the module's target: CUB compares it with what it was built for";
  EXPECT_EQ(attributes.binaryVersion, 90);
  EXPECT_EQ(attributes.sharedSizeBytes, 1024u);
  EXPECT_EQ(attributes.numRegs, 32);
  EXPECT_EQ(attributes.maxThreadsPerBlock, 1024);
  EXPECT_EQ(attributes.maxDynamicSharedSizeBytes, 48 * 1024 - 1024);
}

TEST_F(Api, OccupancyAsksTheDevice) {
  int blocks = 0;
  fake().occupancy = 6;
  EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &sample_stub_, 256, 0), cudaSuccess);
  EXPECT_EQ(blocks, 6);
  EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &sample_stub_, 0, 0),
            cudaErrorInvalidValue);
}

// --- streams and events

TEST_F(Api, EventsCarryModelledTime) {
  fake().run = [](const sim::FakeLaunch&) {
    sim::LaunchResult result;
    result.modelled_us = 250;
    return result;
  };
  cudaEvent_t start = nullptr, stop = nullptr;
  EXPECT_EQ(cudaEventCreate(&start), cudaSuccess);
  EXPECT_EQ(cudaEventCreate(&stop), cudaSuccess);
  float ms = -1;
  EXPECT_EQ(cudaEventElapsedTime(&ms, start, stop), cudaErrorInvalidResourceHandle) << "never recorded";
  EXPECT_EQ(cudaEventRecord(start, nullptr), cudaSuccess);
  EXPECT_EQ(launch(1, 1), cudaSuccess);
  EXPECT_EQ(launch(1, 1), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(stop, nullptr), cudaSuccess);
  EXPECT_EQ(cudaEventSynchronize(stop), cudaSuccess);
  EXPECT_EQ(cudaEventElapsedTime(&ms, start, stop), cudaSuccess);
  EXPECT_NEAR(ms, 0.5, 0.02) << "the kernels, and little for launching them";
}

TEST_F(Api, CopiesTakeModelledTime) {
  cudaEvent_t start = nullptr, stop = nullptr;
  EXPECT_EQ(cudaEventCreate(&start), cudaSuccess);
  EXPECT_EQ(cudaEventCreate(&stop), cudaSuccess);
  constexpr std::size_t kBytes = 256 << 20;  // so long that the launch hardly counts
  char* a = device_array<char>(kBytes);
  char* b = device_array<char>(kBytes);
  EXPECT_EQ(cudaEventRecord(start, nullptr), cudaSuccess);
  EXPECT_EQ(cudaMemcpyAsync(a, b, kBytes, cudaMemcpyDeviceToDevice, nullptr), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(stop, nullptr), cudaSuccess);
  float ms = 0;
  EXPECT_EQ(cudaEventElapsedTime(&ms, start, stop), cudaSuccess);
  const double gb_per_s = 2.0 * kBytes / (ms * 1e6);
  EXPECT_NEAR(gb_per_s, 4250, 400) << "read and written at the chip's bandwidth";
}

TEST_F(Api, DestroyedHandlesAreRefused) {
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  EXPECT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  EXPECT_EQ(cudaEventCreate(&event), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
  EXPECT_EQ(launch(1, 1, 0, stream), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventRecord(event, nullptr), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaErrorInvalidResourceHandle);
}

TEST_F(Api, HostFunctionsRunInOrder) {
  cudaStream_t stream = nullptr;
  EXPECT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  std::string order;
  fake().run = [&](const sim::FakeLaunch&) {
    order += 'k';
    return sim::LaunchResult{};
  };
  EXPECT_EQ(launch(1, 1, 0, stream), cudaSuccess);
  EXPECT_EQ(cudaLaunchHostFunc(
                stream, [](void* data) { *static_cast<std::string*>(data) += 'h'; }, &order),
            cudaSuccess);
  EXPECT_EQ(launch(1, 1, 0, stream), cudaSuccess);
  EXPECT_EQ(order, "khk");
  EXPECT_EQ(cudaLaunchHostFunc(stream, nullptr, nullptr), cudaErrorInvalidValue);
}

TEST_F(Api, HostFunctionsMayWaitForAnotherThreadThatUsesTheDevice) {
  EXPECT_EQ(
      cudaLaunchHostFunc(
          nullptr, [](void*) { std::thread([] { EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess); }).join(); },
          nullptr),
      cudaSuccess);
}

// --- devices

TEST_F(Api, DevicesAreCountedAndChosenPerThread) {
  int n = 0, device = -1;
  EXPECT_EQ(cudaGetDeviceCount(&n), cudaSuccess);
  ASSERT_EQ(n, 2) << "run with SIM_DEVICES=2";
  EXPECT_EQ(cudaSetDevice(1), cudaSuccess);
  std::thread([] {
    int other = -1;
    EXPECT_EQ(cudaGetDevice(&other), cudaSuccess);
    EXPECT_EQ(other, 0);
  }).join();
  EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
  EXPECT_EQ(device, 1);
  EXPECT_EQ(cudaSetDevice(2), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaSetDevice(-1), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
}

TEST_F(Api, EachDeviceHasItsOwnMemoryAndModules) {
  int* d0 = device_array<int>(4);
  EXPECT_EQ(cudaSetDevice(1), cudaSuccess);
  int* d1 = device_array<int>(4);
  EXPECT_EQ(launch(1, 1), cudaSuccess);
  cudaPointerAttributes attributes{};
  EXPECT_EQ(cudaPointerGetAttributes(&attributes, d1), cudaSuccess);
  EXPECT_EQ(attributes.device, 1);
  EXPECT_EQ(cudaMemcpyPeer(d1, 1, d0, 0, 16), cudaSuccess);
  EXPECT_EQ(cudaMemcpyPeer(d1, 0, d0, 0, 16), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyPeer(d1, 5, d0, 0, 16), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
  EXPECT_EQ(launch(1, 1), cudaSuccess);
  EXPECT_EQ(fake().modules.size(), 2u);
}

TEST_F(Api, AFaultBreaksItsOwnDeviceOnly) {
  fault(sim::Fault::trap, "");
  EXPECT_EQ(launch(1, 1), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaSetDevice(1), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
}

TEST_F(Api, StreamsBelongToTheirDevice) {
  cudaStream_t stream = nullptr;
  EXPECT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  EXPECT_EQ(cudaSetDevice(1), cudaSuccess);
  EXPECT_EQ(launch(1, 1, 0, stream), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
}

TEST_F(Api, PropertiesAndAttributesAgree) {
  cudaDeviceProp p{};
  EXPECT_EQ(cudaGetDeviceProperties(&p, 0), cudaSuccess);
  EXPECT_STREQ(p.name, "Simulated H200");
  const auto attribute = [](cudaDeviceAttr which) {
    int value = -1;
    EXPECT_EQ(cudaDeviceGetAttribute(&value, which, 0), cudaSuccess);
    return value;
  };
  EXPECT_EQ(attribute(cudaDevAttrComputeCapabilityMajor), p.major);
  EXPECT_EQ(attribute(cudaDevAttrMultiProcessorCount), p.multiProcessorCount);
  EXPECT_EQ(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin), static_cast<int>(p.sharedMemPerBlockOptin));
  EXPECT_EQ(attribute(cudaDevAttrReservedSharedMemoryPerBlock),
            static_cast<int>(p.reservedSharedMemPerBlock));
  EXPECT_EQ(attribute(cudaDevAttrMaxThreadsPerMultiProcessor), p.maxThreadsPerMultiProcessor);
  EXPECT_EQ(attribute(cudaDevAttrWarpSize), 32);
  EXPECT_EQ(p.warpSize, 32);
  EXPECT_EQ(attribute(cudaDevAttrCooperativeLaunch), 1);
  int value = 0;
  EXPECT_EQ(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(250), 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 7), cudaErrorInvalidDevice);
}

TEST_F(Api, LimitsAreKept) {
  std::size_t value = 0;
  EXPECT_EQ(cudaDeviceSetLimit(cudaLimitStackSize, 4096), cudaSuccess);
  EXPECT_EQ(cudaDeviceGetLimit(&value, cudaLimitStackSize), cudaSuccess);
  EXPECT_EQ(value, 4096u);
  EXPECT_EQ(cudaDeviceGetLimit(&value, static_cast<cudaLimit>(7)), cudaErrorUnsupportedLimit);
}

#if CUDART_VERSION >= 12050  // where it came in
TEST_F(Api, DriverEntryPointsDoNotExist) {
  void* function = &function;
  cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSuccess;
  testing::internal::CaptureStderr();
  EXPECT_EQ(cudaGetDriverEntryPointByVersion("cuMemMap", &function, 12000, 0, &result), cudaSuccess);
  EXPECT_EQ(function, nullptr);
  EXPECT_EQ(result, cudaDriverEntryPointSymbolNotFound);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("cuMemMap"), std::string::npos);
}
#endif

// --- the simulator's own controls

TEST_F(Api, ControlsReachTheDevice) {
  EXPECT_EQ(simSetMode(SIM_COUNTERS | SIM_RACECHECK), 0);
  EXPECT_EQ(fake().mode, sim::kCounters | sim::kRacecheck);
  const std::size_t needed = simReport(nullptr, 0);
  std::string report(needed, '\0');
  EXPECT_EQ(simReport(report.data(), needed), needed);
  EXPECT_STREQ(report.c_str(), R"({"device": "fake"})");
  char small[4] = "abc";
  EXPECT_EQ(simReport(small, sizeof small), needed);
  EXPECT_STREQ(small, "abc") << "too small: nothing is written";
}

TEST_F(Api, ForgettingWritesReachesTheDeviceForItsOwnMemoryOnly) {
  char host[64] = {};
  char* d = device_array<char>(32);
  fake().forgotten.clear();
  EXPECT_EQ(simForgetWrites(d + 8, 16), 0);
  EXPECT_EQ(simForgetWrites(d + 8, 64), 1);
  EXPECT_EQ(simForgetWrites(host, 16), 1);
  ASSERT_EQ(fake().forgotten.size(), 1u);
  EXPECT_EQ(fake().forgotten[0], std::make_pair(reinterpret_cast<std::uint64_t>(d + 8), std::uint64_t{16}));
}

TEST_F(Api, NamedBuffersAppearInMessages) {
  char host[64] = {};
  char* d = device_array<char>(32);
  EXPECT_EQ(simNameBuffer(d, 32, 1, "d_in", 1), 0);
  EXPECT_EQ(simNameBuffer(host, 32, 1, "host", 1), 1);
  testing::internal::CaptureStderr();
  EXPECT_EQ(cudaMemcpy(d, host, 64, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("\"d_in\""), std::string::npos);
}

}  // namespace
}  // namespace course::cudart
