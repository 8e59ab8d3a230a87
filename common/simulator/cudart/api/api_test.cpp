// SPDX-License-Identifier: MIT
// The runtime's own logic: errors, devices, the simulator's controls. Memory, launches and graphs:
// memory_test.cpp, launch_test.cpp, ../graph/graph_test.cpp.
#include <array>
#include <thread>
#include <utility>

#include "cudart/runtime/status.hpp"
#include "cudart/sim_control.h"
#include "cudart/sim_parts.h"
#include "cudart/testing/fixture.hpp"

namespace course::cudart {
namespace {

using sim::fake;

// --- errors

TEST_F(Api, ErrorsHaveNamesAndTextsOfCuda) {
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

TEST_F(Api, MessagesFitTheColumnsThatAreAskedFor) {
  setenv("COLUMNS", "50", 1);
  testing::internal::CaptureStderr();
  say("  a thread reads “s” at line 5, and another one writes it");
  const std::string shown = testing::internal::GetCapturedStderr();
  unsetenv("COLUMNS");
  EXPECT_EQ(shown,
            "simulator:   a thread reads “s” at line 5, and\n"
            "simulator:     another one writes it\n");
}

TEST_F(Api, MessagesNameCallsAsCudaDoes) {
  EXPECT_EQ(name_of_call("cudaMemcpy_ptds"), "cudaMemcpy");
  EXPECT_EQ(name_of_call("cudaStreamGetCaptureInfo_v3_ptsz"), "cudaStreamGetCaptureInfo");
  testing::internal::CaptureStderr();
  EXPECT_EQ(cudaSetDevice(99), cudaErrorInvalidDevice);
  EXPECT_TRUE(testing::internal::GetCapturedStderr().starts_with("simulator: cudaSetDevice: cudaError"));
}

TEST_F(Api, SuccessDoesNotClearTheLastError) {
  EXPECT_EQ(cudaSetDevice(99), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
}

TEST_F(Api, LaterCallsReportKernelFault) {
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

TEST_F(Api, UnimplementedCallsAreReportedOnce) {
  cudaMipmappedArray_t levels = nullptr;
  testing::internal::CaptureStderr();
  EXPECT_EQ(cudaGetMipmappedArrayLevel(nullptr, levels, 0), cudaErrorNotSupported);
  EXPECT_EQ(cudaGetMipmappedArrayLevel(nullptr, levels, 0), cudaErrorNotSupported);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "simulator: cudaGetMipmappedArrayLevel is not implemented\n");
  EXPECT_EQ(cudaGetLastError(), cudaErrorNotSupported);
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

TEST_F(Api, FaultsAffectOnlyTheirDevice) {
  fault(sim::Fault::trap, "");
  EXPECT_EQ(launch(1, 1), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaSetDevice(1), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
}

TEST_F(Api, StreamsBelongToTheirDevice) {
  cudaStream_t stream = make_stream();
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

TEST_F(Api, LaunchesIncreaseTheStackAsNeeded) {
  const auto stack_after = [&](std::uint64_t local_bytes) {
    std::size_t value = 0;
    sim::fake().kernels["sample"].local_bytes = local_bytes;
    EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
    EXPECT_EQ(launch(1, 1), cudaSuccess);
    EXPECT_EQ(cudaDeviceGetLimit(&value, cudaLimitStackSize), cudaSuccess);
    return value;
  };
  EXPECT_EQ(stack_after(0), 1024u);
  EXPECT_EQ(stack_after(4096), 4096u);
}

#if CUDART_VERSION >= 12050  // the first version with this function
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

TEST_F(Api, ForgettingWritesIsLimitedToDeviceMemory) {
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

TEST_F(Api, PointerPastAnArrayIsNotCalledHostMemory) {
  char* d = device_array<char>(64);
  ASSERT_EQ(simNameBuffer(d, 16, 1, "d_first", 1), 0);
  ASSERT_EQ(simNameBuffer(d + 32, 16, 1, "d_second", 1), 0);
  ASSERT_EQ(simConfine(d, 1), 0);
  testing::internal::CaptureStderr();
  EXPECT_EQ(cudaMemcpy(d + 20, d, 4, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(d + 48, 0, 4), cudaErrorInvalidValue);
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("lies 4 bytes past the end of d_first, which has 16 bytes"), std::string::npos) << text;
  EXPECT_NE(text.find("lies at the end of d_second, which has 16 bytes"), std::string::npos) << text;
  std::array<char, 256> why{};
  EXPECT_NE(simCheckMemory(d + 16, 4, 0, why.data(), why.size()), 0);
  EXPECT_NE(std::string(why.data()).find("lies at the end of d_first"), std::string::npos) << why.data();
  ASSERT_EQ(simConfine(d, 0), 0);
}

}  // namespace
}  // namespace course::cudart
