// SPDX-License-Identifier: MIT
// Wrong uses of NCCL, most of which wait forever on GPUs, and right ones that look alike; one case an
// argument. faults_test.py says what the simulator must report. Prints the results of the calls.
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <thread>

#include "check.hpp"

namespace {

constexpr int kDevices = 2;
constexpr std::size_t kN = 1024;

__global__ void fill(float* out, float value, std::size_t n) {
  const std::size_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = value;
}

struct Device {
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr, other = nullptr;
  float *a = nullptr, *b = nullptr;
};
Device g_device[kDevices];

void print(const char* what, ncclResult_t result) {
  std::printf("%s: %s\n", what, ncclGetErrorString(result));
}

void set_up() {
  for (int d = 0; d < kDevices; ++d) {
    Device& device = g_device[d];
    CUDA(cudaSetDevice(d));
    CUDA(cudaStreamCreateWithFlags(&device.stream, cudaStreamNonBlocking));
    CUDA(cudaStreamCreateWithFlags(&device.other, cudaStreamNonBlocking));
    CUDA(cudaMalloc(&device.a, kN * sizeof(float)));
    CUDA(cudaMalloc(&device.b, kN * sizeof(float)));
    CUDA(cudaMemset(device.a, 0, kN * sizeof(float)));
    CUDA(cudaMemset(device.b, 0, kN * sizeof(float)));
    CUDA(cudaDeviceSynchronize());
  }
  ncclComm_t comms[kDevices];
  NCCL(ncclCommInitAll(comms, kDevices, nullptr));
  for (int d = 0; d < kDevices; ++d) g_device[d].comm = comms[d];
}

void tear_down() {
  for (int d = 0; d < kDevices; ++d) {
    Device& device = g_device[d];
    CUDA(cudaSetDevice(d));
    NCCL(ncclCommDestroy(device.comm));
    CUDA(cudaFree(device.a));
    CUDA(cudaFree(device.b));
    CUDA(cudaStreamDestroy(device.stream));
    CUDA(cudaStreamDestroy(device.other));
  }
}

ncclResult_t all_reduce(int d, std::size_t count = kN, ncclDataType_t type = ncclFloat,
                        ncclRedOp_t op = ncclSum) {
  const Device& device = g_device[d];
  return ncclAllReduce(device.a, device.b, count, type, op, device.comm, device.stream);
}
ncclResult_t broadcast(int d, int root = 0) {
  const Device& device = g_device[d];
  return ncclBroadcast(device.a, device.b, kN, ncclFloat, root, device.comm, device.stream);
}
ncclResult_t send(int d, int to, std::size_t count = kN) {
  return ncclSend(g_device[d].a, count, ncclFloat, to, g_device[d].comm, g_device[d].stream);
}
ncclResult_t receive(int d, int from, std::size_t count = kN) {
  return ncclRecv(g_device[d].b, count, ncclFloat, from, g_device[d].comm, g_device[d].stream);
}

// One thread calls for all ranks, in a group.
void grouped(const std::function<void(int)>& call) {
  NCCL(ncclGroupStart());
  for (int d = 0; d < kDevices; ++d) call(d);
  print("ncclGroupEnd", ncclGroupEnd());
}

void synchronise() {
  for (int d = 0; d < kDevices; ++d) {
    CUDA(cudaSetDevice(d));
    const cudaError_t error = cudaStreamSynchronize(g_device[d].stream);
    std::printf("device %d: %s\n", d, cudaGetErrorName(error));
    ncclResult_t later = ncclSuccess;
    NCCL(ncclCommGetAsyncError(g_device[d].comm, &later));
    print("later", later);
  }
}

void in_threads(const std::function<void(int)>& call) {
  std::thread threads[kDevices];
  for (int d = 0; d < kDevices; ++d)
    threads[d] = std::thread([&, d] {
      CUDA(cudaSetDevice(d));
      call(d);
    });
  for (std::thread& thread : threads) thread.join();
}

// Cases in which all ranks call, then wait for their streams: one thread in a group, or a thread each.
std::function<void()> in_group(const std::function<void(int)>& call) {
  return [=] {
    grouped(call);
    synchronise();
  };
}
std::function<void()> of_threads(const std::function<void(int)>& call) {
  return [=] {
    in_threads(call);
    synchronise();
  };
}

std::chrono::steady_clock::time_point now() {
  return std::chrono::steady_clock::now();
}

const std::map<std::string, std::function<void()>> kCases{
    // --- right
    {"right",
     [] {
       for (int d = 0; d < kDevices; ++d) {
         CUDA(cudaSetDevice(d));
         fill<<<kN / 256, 256, 0, g_device[d].stream>>>(g_device[d].a, static_cast<float>(d + 1), kN);
       }
       grouped([](int d) { NCCL(all_reduce(d)); });
       float sum = 0;
       for (int d = 0; d < kDevices; ++d) {
         CUDA(cudaSetDevice(d));
         fill<<<kN / 256, 256, 0, g_device[d].stream>>>(g_device[d].a, 0, kN);
         CUDA(cudaMemcpyAsync(&sum, g_device[d].b, sizeof sum, cudaMemcpyDeviceToHost, g_device[d].stream));
         CUDA(cudaStreamSynchronize(g_device[d].stream));
         std::printf("sum %g\n", sum);
       }
       tear_down();
     }},
    {"slow_rank",
     [] {
       in_threads([](int d) {
         const auto start = now();
         while (d == 1 && now() - start < std::chrono::seconds(3)) continue;
         NCCL(all_reduce(d));
         CUDA(cudaStreamSynchronize(g_device[d].stream));
       });
       tear_down();
     }},
    {"call_returns_before_the_others_come",
     [] {
       std::atomic<bool> returned{false};
       in_threads([&](int d) {
         while (d == 1 && !returned) std::this_thread::yield();
         NCCL(all_reduce(d));
         if (d == 0) {
           std::printf("%s\n", cudaGetErrorName(cudaStreamQuery(g_device[0].stream)));
           returned = true;
         }
         CUDA(cudaStreamSynchronize(g_device[d].stream));
       });
       tear_down();
     }},
    {"communicators",
     [] {
       int version = 0, count = 0, rank = 0, device = 0;
       NCCL(ncclGetVersion(&version));
       std::printf("version %d\n", version / 10000);
       ncclUniqueId id;
       ncclComm_t comms[kDevices];
       ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
       config.blocking = 0;
       NCCL(ncclGetUniqueId(&id));
       for (int d = kDevices - 1; d >= 0; --d) {
         ncclResult_t state = ncclSuccess;
         CUDA(cudaSetDevice(d));
         print("rank joins", ncclCommInitRankConfig(&comms[d], kDevices, id, d, &config));
         NCCL(ncclCommGetAsyncError(comms[d], &state));
         print("state", state);
       }
       for (const ncclComm_t comm : comms) {
         NCCL(ncclCommCount(comm, &count));
         NCCL(ncclCommUserRank(comm, &rank));
         NCCL(ncclCommCuDevice(comm, &device));
         std::printf("rank %d of %d on device %d, last error: '%s'\n", rank, count, device,
                     ncclGetLastError(comm));
         NCCL(ncclCommFinalize(comm));
         NCCL(ncclCommDestroy(comm));
       }
       NCCL(ncclGroupStart());
       NCCL(ncclGetUniqueId(&id));
       for (int d = 0; d < kDevices; ++d) {
         CUDA(cudaSetDevice(d));
         NCCL(ncclCommInitRank(&comms[d], kDevices, id, d));
       }
       NCCL(ncclGroupEnd());
       void* memory = nullptr;
       NCCL(ncclMemAlloc(&memory, kN));
       NCCL(ncclMemFree(memory));
       tear_down();
     }},
    {"abort",
     [] {
       print("call", all_reduce(0));
       NCCL(ncclCommAbort(g_device[0].comm));
       CUDA(cudaSetDevice(0));
       CUDA(cudaStreamSynchronize(g_device[0].stream));
     }},
    {"times",
     [] {
       for (const std::size_t n : {std::size_t{4}, std::size_t{64} << 20}) {
         float* big[kDevices];
         cudaEvent_t start[kDevices], stop[kDevices];
         for (int d = 0; d < kDevices; ++d) {
           CUDA(cudaSetDevice(d));
           CUDA(cudaMalloc(&big[d], n));
           CUDA(cudaEventCreate(&start[d]));
           CUDA(cudaEventCreate(&stop[d]));
           CUDA(cudaEventRecord(start[d], g_device[d].stream));
         }
         grouped([&](int d) {
           NCCL(ncclAllReduce(big[d], big[d], n / 4, ncclFloat, ncclSum, g_device[d].comm,
                              g_device[d].stream));
         });
         for (int d = 0; d < kDevices; ++d) {
           float ms = 0;
           CUDA(cudaSetDevice(d));
           CUDA(cudaEventRecord(stop[d], g_device[d].stream));
           CUDA(cudaEventSynchronize(stop[d]));
           CUDA(cudaEventElapsedTime(&ms, start[d], stop[d]));
           std::printf("%zu bytes: %.0f us\n", n, static_cast<double>(ms) * 1000);
           CUDA(cudaFree(big[d]));
         }
       }
     }},
    // --- ranks that do not agree
    {"other_count", in_group([](int d) { print("call", all_reduce(d, d == 0 ? 10 : 20)); })},
    {"other_type", in_group([](int d) { print("call", all_reduce(d, kN, d == 0 ? ncclFloat : ncclInt)); })},
    {"other_reduction",
     in_group([](int d) { print("call", all_reduce(d, kN, ncclFloat, d == 0 ? ncclSum : ncclMax)); })},
    {"other_root", in_group([](int d) { print("call", broadcast(d, d)); })},
    {"other_order", in_group([](int d) {
       if (d == 0) print("call", all_reduce(d));
       print("call", broadcast(d));
       if (d == 1) print("call", all_reduce(d));
     })},
    {"other_count_in_threads",
     [] {
       in_threads([](int d) { (void)all_reduce(d, d == 0 ? 10 : 20); });
       synchronise();
     }},
    {"send_other_count", in_group([](int d) { print("call", d == 0 ? send(0, 1, 10) : receive(1, 0, 11)); })},
    // --- calls that do not come
    {"missing_rank",
     [] {
       print("call", all_reduce(0));
       synchronise();
     }},
    {"missing_rank_polled",
     [] {
       print("call", all_reduce(0));
       ncclResult_t error = ncclSuccess;
       while (error == ncclSuccess) NCCL(ncclCommGetAsyncError(g_device[0].comm, &error));
       print("later", error);
     }},
    {"missing_rank_queried",
     [] {
       print("call", all_reduce(0));
       CUDA(cudaSetDevice(0));
       cudaError_t error = cudaErrorNotReady;
       while (error == cudaErrorNotReady) error = cudaStreamQuery(g_device[0].stream);
       std::printf("%s\n", cudaGetErrorName(error));
     }},
    {"missing_group",
     [] {
       print("call", all_reduce(0));
       print("call", all_reduce(1));
       synchronise();
     }},
    {"missing_group_of_send",
     [] {
       print("call", send(0, 1));
       print("call", receive(1, 0));
       synchronise();
     }},
    {"missing_group_of_init",
     [] {
       ncclUniqueId id;
       ncclComm_t comm;
       NCCL(ncclGetUniqueId(&id));
       print("call", ncclCommInitRank(&comm, 2, id, 0));
     }},
    {"send_without_receive", in_group([](int d) {
       if (d == 0) print("call", send(0, 1));
     })},
    {"both_send_first", of_threads([](int d) {
       (void)send(d, 1 - d);
       (void)receive(d, 1 - d);
     })},
    {"never_finished", [] { print("call", all_reduce(0)); }},
    // --- arguments
    {"host_pointer",
     [] {
       float value = 0;
       print("call",
             ncclBroadcast(&value, g_device[0].b, 1, ncclFloat, 0, g_device[0].comm, g_device[0].stream));
     }},
    {"freed_memory",
     [] {
       CUDA(cudaFree(g_device[0].a));
       print("call", all_reduce(0));
     }},
    {"gather_too_short",
     [] {
       const Device& d = g_device[1];
       print("call", ncclAllGather(d.a, d.b, kN, ncclFloat, d.comm, d.stream));
     }},
    {"memory_of_another_device",
     [] {
       print("call", ncclAllReduce(g_device[1].a, g_device[0].b, kN, ncclFloat, ncclSum, g_device[0].comm,
                                   g_device[0].stream));
     }},
    // The others wait for the rank whose call was refused.
    {"refused_in_a_thread", of_threads([](int d) {
       if (d == 0)
         print("call", all_reduce(0, kN + 1));
       else
         (void)all_reduce(1);
     })},
    {"refused_in_a_group",
     [] {
       NCCL(ncclGroupStart());
       NCCL(all_reduce(0));
       print("call", all_reduce(1, kN + 1));
       print("ncclGroupEnd", ncclGroupEnd());
       NCCL(ncclCommDestroy(g_device[0].comm));
     }},
    {"null_pointer",
     [] {
       print("call", ncclAllReduce(nullptr, g_device[0].b, kN, ncclFloat, ncclSum, g_device[0].comm,
                                   g_device[0].stream));
     }},
    {"stream_of_another_device",
     [] {
       print("call", ncclAllReduce(g_device[0].a, g_device[0].b, kN, ncclFloat, ncclSum, g_device[0].comm,
                                   g_device[1].stream));
     }},
    {"last_error",
     [] {
       (void)all_reduce(0, kN + 1);
       std::printf("%s\n", ncclGetLastError(g_device[0].comm));
     }},
    {"finalized_communicator",
     [] {
       NCCL(ncclCommFinalize(g_device[0].comm));
       print("call", all_reduce(0));
     }},
    {"no_reduction", [] { print("call", all_reduce(1, kN, ncclFloat, static_cast<ncclRedOp_t>(5))); }},
    {"wrong_in_place",
     [] {
       const Device& d = g_device[1];
       print("call", ncclAllGather(d.b, d.b, kN / 2, ncclFloat, d.comm, d.stream));
     }},
    {"all_to_all_in_place",
     [] {
       NCCL(ncclGroupStart());
       for (const Device& d : g_device)
         print("call", ncclAlltoAll(d.b, d.b, kN / 2, ncclFloat, d.comm, d.stream));
       NCCL(ncclGroupEnd());
     }},
    {"no_such_root", [] { print("call", broadcast(0, 2)); }},
    {"destroyed_communicator",
     [] {
       NCCL(ncclCommDestroy(g_device[0].comm));
       print("call", all_reduce(0));
     }},
    {"one_device_twice",
     [] {
       const int devices[2] = {0, 0};
       ncclComm_t comms[2];
       print("call", ncclCommInitAll(comms, 2, devices));
     }},
    {"captured_stream",
     [] {
       CUDA(cudaSetDevice(0));
       cudaGraph_t graph;
       CUDA(cudaStreamBeginCapture(g_device[0].stream, cudaStreamCaptureModeRelaxed));
       print("call", all_reduce(0));
       std::printf("%s\n", cudaGetErrorName(cudaStreamEndCapture(g_device[0].stream, &graph)));
     }},
    // --- races, for SIM_CHECK=1
    {"race_with_writer",
     [] {
       CUDA(cudaSetDevice(0));
       fill<<<kN / 256, 256, 0, g_device[0].other>>>(g_device[0].a, 1, kN);
       grouped([](int d) { NCCL(all_reduce(d)); });
       CUDA(cudaDeviceSynchronize());
       CUDA(cudaSetDevice(1));
       CUDA(cudaDeviceSynchronize());
       tear_down();
     }},
    {"race_with_memset",
     [] {
       grouped([](int d) { NCCL(all_reduce(d)); });
       CUDA(cudaSetDevice(1));
       CUDA(cudaMemsetAsync(g_device[1].b, 0, kN * sizeof(float), g_device[1].other));
       for (int d = 0; d < kDevices; ++d) {
         CUDA(cudaSetDevice(d));
         CUDA(cudaDeviceSynchronize());
       }
       tear_down();
     }},
    {"ordered_by_event",
     [] {
       cudaEvent_t event;
       CUDA(cudaSetDevice(0));
       CUDA(cudaEventCreate(&event));
       fill<<<kN / 256, 256, 0, g_device[0].other>>>(g_device[0].a, 1, kN);
       CUDA(cudaEventRecord(event, g_device[0].other));
       CUDA(cudaStreamWaitEvent(g_device[0].stream, event));
       grouped([](int d) { NCCL(all_reduce(d)); });
       CUDA(cudaDeviceSynchronize());
       CUDA(cudaEventDestroy(event));
       CUDA(cudaSetDevice(1));
       CUDA(cudaDeviceSynchronize());
       tear_down();
     }},
    // What device 1 does after the collective is ordered after what device 0 did before it.
    {"ordered_by_collective",
     [] {
       CUDA(cudaSetDevice(0));
       fill<<<kN / 256, 256, 0, g_device[0].stream>>>(g_device[0].a, 1, kN);
       grouped([](int d) { NCCL(all_reduce(d)); });
       CUDA(cudaMemcpyPeerAsync(g_device[1].a, 1, g_device[0].a, 0, kN * sizeof(float), g_device[1].stream));
       for (int d = 0; d < kDevices; ++d) {
         CUDA(cudaSetDevice(d));
         CUDA(cudaDeviceSynchronize());
       }
       tear_down();
     }},
    {"waits_for_the_wrong_device",
     [] {
       float* result = nullptr;
       CUDA(cudaMallocHost(&result, kN * sizeof(float)));
       grouped([](int d) { NCCL(all_reduce(d)); });
       CUDA(cudaSetDevice(1));
       CUDA(cudaMemcpyAsync(result, g_device[1].b, kN * sizeof(float), cudaMemcpyDeviceToHost,
                            g_device[1].stream));
       CUDA(cudaSetDevice(0));
       CUDA(cudaDeviceSynchronize());
       std::printf("%g\n", *static_cast<volatile float*>(result));
       CUDA(cudaSetDevice(1));
       CUDA(cudaDeviceSynchronize());
       CUDA(cudaFreeHost(result));
       tear_down();
     }},
    {"never_written",
     [] {
       float* fresh = nullptr;
       CUDA(cudaSetDevice(0));
       CUDA(cudaMalloc(&fresh, kN * sizeof(float)));
       std::swap(fresh, g_device[0].a);
       grouped([](int d) { NCCL(all_reduce(d)); });
       CUDA(cudaDeviceSynchronize());
       CUDA(cudaFree(fresh));
       tear_down();
     }},
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    for (const auto& [name, run] : kCases) std::printf("%s\n", name.c_str());
    return 0;
  }
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  set_up();
  kCases.at(argv[1])();
  return 0;
}
