// SPDX-License-Identifier: MIT
// Kernels that access the memory of another device, right and wrong; one case an argument. peers_test.py says
// what is reported. On GPUs it needs two with peer access.
#include <functional>
#include <map>
#include <string>

#include "check.hpp"

namespace {

constexpr int kN = 4096;

__global__ void add(int* to, const int* from, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) to[i] += from[i];
}
__global__ void count(int* counter) {
  atomicAdd(counter, 1);
}
__global__ void count_for_all(int* counter) {
  atomicAdd_system(counter, 1);
}
__global__ void set(int* to, int value, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) to[i] = value;
}

constexpr int kBlock = 256, kBlocks = kN / kBlock;

int* memory_on(int device) {
  int* memory = nullptr;
  CHECK(cudaSetDevice(device));
  CHECK(cudaMalloc(&memory, kN * sizeof(int)));
  set<<<kBlocks, kBlock>>>(memory, device + 1, kN);
  CHECK(cudaDeviceSynchronize());
  return memory;
}

void enable(int device, int peer) {
  CHECK(cudaSetDevice(device));
  CHECK(cudaDeviceEnablePeerAccess(peer, 0));
}

void finish(int* a, int* b) {
  for (const int device : {0, 1}) {
    CHECK(cudaSetDevice(device));
    CHECK(cudaDeviceSynchronize());
  }
  CHECK(cudaFree(a));
  CHECK(cudaFree(b));
}

// Runs `add` on device 0, to memory of device 1.
void write_from_0(int* to, int n = kN) {
  CHECK(cudaSetDevice(0));
  add<<<kBlocks + 1, kBlock>>>(to, to, n);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}

template <typename Kernel>
void count_on_both(Kernel kernel) {
  int *a = memory_on(0), *b = memory_on(1);
  enable(0, 1);
  for (const int device : {0, 1}) {
    CHECK(cudaSetDevice(device));
    kernel<<<4, 32>>>(b);
  }
  finish(a, b);
}

const std::map<std::string, std::function<void()>> kCases{
    {"reads_writes_and_counts",
     [] {
       int *a = memory_on(0), *b = memory_on(1);
       enable(0, 1);
       add<<<kBlocks, kBlock>>>(a, b, kN);
       add<<<kBlocks, kBlock>>>(b, a, kN);
       count_for_all<<<2, 32>>>(b);
       CHECK(cudaDeviceSynchronize());
       int ours[2], theirs[2];
       CHECK(cudaMemcpy(ours, a, sizeof ours, cudaMemcpyDefault));
       CHECK(cudaMemcpy(theirs, b, sizeof theirs, cudaMemcpyDefault));
       std::printf("%d %d, %d %d\n", ours[0], ours[1], theirs[0], theirs[1]);
       finish(a, b);
     }},
    {"calls",
     [] {
       int can[3];
       CHECK(cudaDeviceCanAccessPeer(&can[0], 0, 1));
       CHECK(cudaDeviceCanAccessPeer(&can[1], 1, 0));
       CHECK(cudaDeviceCanAccessPeer(&can[2], 1, 1));
       std::printf("%d %d %d\n", can[0], can[1], can[2]);
       CHECK(cudaSetDevice(0));
       for (const cudaError_t error : {cudaDeviceDisablePeerAccess(1), cudaDeviceEnablePeerAccess(1, 1),
                                       cudaDeviceEnablePeerAccess(0, 0), cudaDeviceEnablePeerAccess(2, 0),
                                       cudaDeviceEnablePeerAccess(1, 0), cudaDeviceEnablePeerAccess(1, 0),
                                       cudaDeviceDisablePeerAccess(1), cudaDeviceDisablePeerAccess(1)})
         std::printf("%s\n", cudaGetErrorName(error));
     }},
    {"page_locked_memory_of_another_device",
     [] {
       int* memory = nullptr;
       CHECK(cudaSetDevice(1));
       CHECK(cudaMallocHost(&memory, kN * sizeof(int)));
       for (int i = 0; i < kN; ++i) memory[i] = i;
       write_from_0(memory);
       std::printf("%d\n", memory[100]);
       CHECK(cudaFreeHost(memory));
     }},
    {"ordered_by_an_event",
     [] {
       int *a = memory_on(0), *b = memory_on(1);
       enable(0, 1);
       cudaEvent_t event;
       CHECK(cudaEventCreate(&event));
       set<<<kBlocks, kBlock>>>(b, 5, kN);
       CHECK(cudaEventRecord(event));
       CHECK(cudaSetDevice(1));
       CHECK(cudaStreamWaitEvent(nullptr, event));
       add<<<kBlocks, kBlock>>>(b, b, kN);
       CHECK(cudaDeviceSynchronize());
       CHECK(cudaEventDestroy(event));
       finish(a, b);
     }},
    {"written_by_a_peer_alone",
     [] {
       int *b = nullptr, results[kN];
       CHECK(cudaSetDevice(1));
       CHECK(cudaMalloc(&b, kN * sizeof(int)));
       enable(0, 1);
       set<<<kBlocks, kBlock>>>(b, 5, kN - 1);
       set<<<1, 1>>>(b + kN - 1, 6, 1);
       CHECK(cudaDeviceSynchronize());
       CHECK(cudaMemcpy(results, b, sizeof results, cudaMemcpyDefault));
       std::printf("%d %d\n", results[0], results[kN - 1]);
       CHECK(cudaFree(b));
     }},
    {"atomics_of_system_scope", [] { count_on_both(count_for_all); }},
    // --- wrong
    {"not_enabled", [] { write_from_0(memory_on(1)); }},
    {"enabled_the_other_way",
     [] {
       int* b = memory_on(1);
       enable(1, 0);
       write_from_0(b);
     }},
    {"disabled",
     [] {
       int* b = memory_on(1);
       enable(0, 1);
       CHECK(cudaDeviceDisablePeerAccess(1));
       write_from_0(b);
     }},
    {"past_the_end",
     [] {
       int* b = memory_on(1);
       enable(0, 1);
       write_from_0(b, kN + 1);
     }},
    {"freed",
     [] {
       int* b = memory_on(1);
       CHECK(cudaFree(b));
       enable(0, 1);
       write_from_0(b);
     }},
    {"from_a_pool",
     [] {
       int* b = nullptr;
       CHECK(cudaSetDevice(1));
       CHECK(cudaMallocAsync(&b, kN * sizeof(int), nullptr));
       CHECK(cudaDeviceSynchronize());
       enable(0, 1);
       write_from_0(b);
     }},
    {"left_out_by_a_peer",
     [] {
       int *b = nullptr, results[kN];
       CHECK(cudaSetDevice(1));
       CHECK(cudaMalloc(&b, kN * sizeof(int)));
       enable(0, 1);
       set<<<kBlocks, kBlock>>>(b, 5, kN - 1);
       CHECK(cudaDeviceSynchronize());
       CHECK(cudaMemcpy(results, b, sizeof results, cudaMemcpyDefault));
       CHECK(cudaFree(b));
     }},
    {"race",
     [] {
       int *a = memory_on(0), *b = memory_on(1);
       enable(0, 1);
       set<<<kBlocks, kBlock>>>(b, 5, kN);
       CHECK(cudaSetDevice(1));
       add<<<kBlocks, kBlock>>>(b, b, kN);
       finish(a, b);
     }},
    {"atomics_of_device_scope", [] { count_on_both(count); }},
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    for (const auto& [name, run] : kCases) std::printf("%s\n", name.c_str());
    return 0;
  }
  kCases.at(argv[1])();
  return 0;
}
