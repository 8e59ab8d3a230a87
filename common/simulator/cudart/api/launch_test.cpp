// SPDX-License-Identifier: MIT
// Launches of kernels, streams and events. Graphs: ../graph/graph_test.cpp.
#include <chrono>
#include <cstring>
#include <thread>

#include "cudart/sim_control.h"
#include "cudart/testing/fixture.hpp"

namespace course::cudart {
namespace {

using sim::fake;

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

TEST_F(Api, TripleChevronsUsePushPopAndKernelHandles) {
  cudaStream_t stream = make_stream();
  cudaKernel_t kernel = nullptr;
  EXPECT_EQ(__cudaGetKernel(&kernel, &other_stub_), cudaSuccess);
  EXPECT_EQ(__cudaPushCallConfiguration(dim3(5), dim3(64), 128, stream), 0u);
  dim3 grid, block;
  std::size_t shared = 0;
  cudaStream_t popped = nullptr;
  EXPECT_EQ(__cudaPopCallConfiguration(&grid, &block, &shared, &popped), cudaSuccess);
  EXPECT_EQ(popped, stream);
  EXPECT_EQ(__cudaLaunchKernel(kernel, grid, block, arguments, shared, popped), cudaSuccess);
  ASSERT_EQ(fake().launches.size(), 1u);
  EXPECT_EQ(fake().launches[0].kernel, "other");
  EXPECT_EQ(fake().launches[0].grid.x, 5u);
  EXPECT_EQ(__cudaPopCallConfiguration(&grid, &block, &shared, &popped), cudaErrorMissingConfiguration);
}

TEST_F(Api, WorkThatNoStreamWaitsForIsUnordered) {
  cudaStream_t mine = make_stream(cudaStreamNonBlocking), blocking = make_stream();
  int* d = device_array<int>(4);
  const auto fill = [&](cudaStream_t stream) { EXPECT_EQ(cudaMemsetAsync(d, 0, 16, stream), cudaSuccess); };
  (void)simUnorderedWork(mine);  // clears the state that other tests of this program left
  EXPECT_EQ(simUnorderedWork(mine), 0) << "nothing was done";
  fill(mine);
  fill(mine);
  EXPECT_EQ(simUnorderedWork(mine), 0) << "one stream keeps its order";
  fill(nullptr);
  EXPECT_EQ(simUnorderedWork(mine), 1) << "still under way in the default stream";
  EXPECT_EQ(simUnorderedWork(mine), 0) << "reported once";
  fill(nullptr);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  fill(mine);
  EXPECT_EQ(simUnorderedWork(mine), 0) << "the host has waited";
  fill(nullptr);
  fill(mine);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(simUnorderedWork(mine), 1) << "the host waited too late";
  fill(nullptr);
  EXPECT_EQ(cudaStreamSynchronize(mine), cudaSuccess);
  EXPECT_EQ(simUnorderedWork(mine), 1) << "it waited for another stream";
  fill(nullptr);
  fill(blocking);
  EXPECT_EQ(simUnorderedWork(blocking), 0) << "the default stream and blocking ones wait for each other";
  fill(mine);
  fill(blocking);
  EXPECT_EQ(simUnorderedWork(blocking), 1);
  int nothing = 0;
  EXPECT_EQ(cudaMemsetAsync(d, 0, 0), cudaSuccess);
  EXPECT_EQ(cudaMemcpyAsync(&nothing, d, 0, cudaMemcpyDefault), cudaSuccess);
  EXPECT_NE(cudaMemsetAsync(d, 0, 17), cudaSuccess);
  fill(mine);
  EXPECT_EQ(simUnorderedWork(mine), 0) << "no bytes, or refused";
  cudaStream_t other = nullptr;
  EXPECT_EQ(cudaSetDevice(1), cudaSuccess);
  EXPECT_EQ(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking), cudaSuccess);
  int* d_other = device_array<int>(4);
  const auto fill_other = [&](cudaStream_t stream) {
    EXPECT_EQ(cudaMemsetAsync(d_other, 0, 16, stream), cudaSuccess);
  };
  fill(mine);
  fill_other(other);
  EXPECT_EQ(cudaStreamSynchronize(other), cudaSuccess);
  EXPECT_EQ(simUnorderedWork(mine), 0) << "streams of two devices need not wait for each other";
  fill(mine);
  fill_other(other);
  EXPECT_EQ(simUnorderedWork(mine), 1) << "but somebody has to wait for both";
  fill_other(nullptr);
  fill_other(other);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(simUnorderedWork(mine), 1) << "unordered on the second device";
  EXPECT_EQ(cudaFree(d_other), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(other), cudaSuccess);
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
}

TEST_F(Api, ModulesLoadAtTheFirstUseAndOnce) {
  EXPECT_TRUE(fake().modules.empty());
  EXPECT_EQ(launch(1, 1), cudaSuccess);
  EXPECT_EQ(launch(1, 1), cudaSuccess);
  ASSERT_EQ(fake().modules.size(), 1u);
  EXPECT_NE(fake().modules[0].find(".target sm_80"), std::string::npos);
}

TEST_F(Api, LoadFailuresAreExplainedOnce) {
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

TEST_F(Api, LaunchLimitsAreThoseOfCuda) {
  EXPECT_EQ(launch(0, 32), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch(1, 0), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch(1, 1025), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch(1, dim3(1, 1, 65)), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch(1, dim3(32, 33, 1)), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch(dim3(1, 65536), 1), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch(dim3(2147483647), 1), cudaSuccess);
  cudaKernel_t kernel = nullptr;
  EXPECT_EQ(__cudaGetKernel(&kernel, &sample_stub_), cudaSuccess);
  EXPECT_EQ(__cudaLaunchKernel(kernel, dim3(1), dim3(2048), arguments, 0, nullptr), cudaErrorInvalidValue)
      << "as on an H200";
  EXPECT_EQ(launch(1, dim3(16, 1, 64)), cudaSuccess);
}

TEST_F(Api, LargeSharedMemoryRequiresOptIn) {
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
  constexpr unsigned kBlocks = 32 * 132;  // on each multiprocessor · multiprocessors
  EXPECT_EQ(cudaLaunchCooperativeKernel(&sample_stub_, dim3(kBlocks), dim3(32), arguments, 0, nullptr),
            cudaSuccess);
  EXPECT_TRUE(fake().launches[0].cooperative);
  EXPECT_EQ(cudaLaunchCooperativeKernel(&sample_stub_, dim3(kBlocks + 1), dim3(32), arguments, 0, nullptr),
            cudaErrorCooperativeLaunchTooLarge);
}

TEST_F(Api, LaunchAttributesReachTheLaunch) {
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

TEST_F(Api, OccupancyComesFromTheDevice) {
  int blocks = 0;
  fake().occupancy = 6;
  EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &sample_stub_, 256, 0), cudaSuccess);
  EXPECT_EQ(blocks, 6);
  EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &sample_stub_, 0, 0),
            cudaErrorInvalidValue);
}

// --- streams and events

TEST_F(Api, EventsHaveModelledTime) {
  fake().run = [](const sim::FakeLaunch&) {
    sim::LaunchResult result;
    result.modelled_us = 250;
    return result;
  };
  cudaEvent_t start = make_event(), stop = make_event();
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

TEST_F(Api, EventsAroundHostCodeTakeItsTime) {
  cudaEvent_t start = make_event(), stop = make_event();
  EXPECT_EQ(cudaEventRecord(start, nullptr), cudaSuccess);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(cudaEventRecord(stop, nullptr), cudaSuccess);
  EXPECT_EQ(cudaEventSynchronize(stop), cudaSuccess);
  float ms = 0;
  EXPECT_EQ(cudaEventElapsedTime(&ms, start, stop), cudaSuccess);
  EXPECT_GE(ms, 5);
  EXPECT_EQ(cudaEventElapsedTime(&ms, stop, start), cudaSuccess);
  EXPECT_LE(ms, -5);
  EXPECT_EQ(cudaEventRecord(stop, nullptr), cudaSuccess);
  EXPECT_EQ(cudaEventElapsedTime(&ms, start, stop), cudaSuccess);
  EXPECT_GT(ms, 0);
}

TEST_F(Api, EventsAroundKernelsIgnoreHostTime) {
  cudaEvent_t start = make_event(), stop = make_event();
  EXPECT_EQ(cudaEventRecord(start, nullptr), cudaSuccess);
  EXPECT_EQ(launch(1, 1), cudaSuccess);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(cudaEventRecord(stop, nullptr), cudaSuccess);
  EXPECT_EQ(cudaEventSynchronize(stop), cudaSuccess);
  float ms = 0;
  EXPECT_EQ(cudaEventElapsedTime(&ms, start, stop), cudaSuccess);
  EXPECT_LT(ms, 1) << "modelled: the kernel's 10 us";
}

TEST_F(Api, CopiesTakeModelledTime) {
  cudaEvent_t start = make_event(), stop = make_event();
  constexpr std::size_t kBytes = 256 << 20;  // so many that the launch time is negligible
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
  cudaStream_t stream = make_stream();
  cudaEvent_t event = make_event();
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
  EXPECT_EQ(launch(1, 1, 0, stream), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventRecord(event, nullptr), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaErrorInvalidResourceHandle);
}

TEST_F(Api, HostFunctionsRunInOrder) {
  cudaStream_t stream = make_stream();
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

TEST_F(Api, HostFunctionsMayWaitForOtherThreads) {
  EXPECT_EQ(
      cudaLaunchHostFunc(
          nullptr, [](void*) { std::thread([] { EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess); }).join(); },
          nullptr),
      cudaSuccess);
}

}  // namespace
}  // namespace course::cudart
