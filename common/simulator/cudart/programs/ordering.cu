// SPDX-License-Identifier: MIT
// Work of several streams, ordered or not: one case an argument. ordering_test.py says which the checks
// must report.
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <string>

#include "check.hpp"

constexpr int kN = 4096;
constexpr size_t kBytes = kN * sizeof(int);

__global__ void fill(int* out, int first, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i] = first + i;
}
__global__ void copy(const int* in, int* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i] = in[i];
}
__global__ void count(int* counter) {
  atomicAdd(counter, 1);
}

// Hands a value to the host through page-locked memory.
__global__ void publish(int* value, int* flag) {
  *value = 42;
  __threadfence_system();
  *static_cast<volatile int*>(flag) = 1;
}

volatile int g_used = 0;
void use(int value) {
  g_used = value;
}

struct Case {
  int *a = nullptr, *b = nullptr, *c = nullptr, *pinned = nullptr, *managed = nullptr;
  cudaStream_t s = nullptr, t = nullptr, blocking = nullptr;
  cudaEvent_t event = nullptr;

  Case() {
    CHECK(cudaMalloc(&a, kBytes));
    CHECK(cudaMalloc(&b, kBytes));
    CHECK(cudaMalloc(&c, kBytes));
    CHECK(cudaMallocHost(&pinned, kBytes));
    CHECK(cudaMallocManaged(&managed, kBytes));
    std::memset(pinned, 0, kBytes);
    std::memset(managed, 0, kBytes);
    CHECK(cudaMemset(a, 0, kBytes));
    CHECK(cudaMemset(b, 0, kBytes));
    CHECK(cudaMemset(c, 0, kBytes));
    CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
    CHECK(cudaStreamCreate(&blocking));
    CHECK(cudaEventCreate(&event));
    CHECK(cudaDeviceSynchronize());
  }
  ~Case() {
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaFree(c));
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaFree(managed));
    for (cudaStream_t stream : {s, t, blocking}) CHECK(cudaStreamDestroy(stream));
    CHECK(cudaEventDestroy(event));
  }
  void write(int* p, cudaStream_t stream, int n = kN) { fill<<<(n + 255) / 256, 256, 0, stream>>>(p, 1, n); }
  void read(const int* p, int* to, cudaStream_t stream) { copy<<<kN / 256, 256, 0, stream>>>(p, to, kN); }
  int* allocate(cudaStream_t stream) {
    int* p = nullptr;
    CHECK(cudaMallocAsync(&p, kBytes, stream));
    return p;
  }
  // A graph of s and t: `joined` orders the second kernel after the first.
  void graph(bool ordered) {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    cudaEvent_t fork = nullptr, join = nullptr;
    CHECK(cudaEventCreate(&fork));
    CHECK(cudaEventCreate(&join));
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    if (!ordered) CHECK(cudaEventRecord(fork, s));
    write(a, s);
    if (ordered) CHECK(cudaEventRecord(fork, s));
    CHECK(cudaStreamWaitEvent(t, fork));
    read(a, b, t);
    CHECK(cudaEventRecord(join, t));
    CHECK(cudaStreamWaitEvent(s, join));
    CHECK(cudaStreamEndCapture(s, &graph));
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    CHECK(cudaGraphLaunch(executable, s));
    CHECK(cudaGraphLaunch(executable, s));
    CHECK(cudaStreamSynchronize(s));
    CHECK(cudaGraphExecDestroy(executable));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaEventDestroy(fork));
    CHECK(cudaEventDestroy(join));
  }
};

const std::map<std::string, std::function<void(Case&)>> kCases{
    // Faults.
    {"two_streams", [](Case& k) { k.write(k.a, k.s), k.read(k.a, k.b, k.t); }},
    {"two_writers", [](Case& k) { k.write(k.a, k.s), k.write(k.a, k.t); }},
    {"two_updates", [](Case& k) { k.read(k.a, k.a, k.s), k.read(k.a, k.a, k.t); }},
    {"event_too_early",
     [](Case& k) {
       CHECK(cudaEventRecord(k.event, k.s));
       k.write(k.a, k.s);
       CHECK(cudaStreamWaitEvent(k.t, k.event));
       k.read(k.a, k.b, k.t);
     }},
    {"event_never_recorded",
     [](Case& k) {
       k.write(k.a, k.s);
       CHECK(cudaStreamWaitEvent(k.t, k.event));
       k.read(k.a, k.b, k.t);
     }},
    {"event_recorded_too_late",
     [](Case& k) {
       CHECK(cudaStreamWaitEvent(k.t, k.event));
       k.write(k.a, k.s);
       CHECK(cudaEventRecord(k.event, k.s));
       k.read(k.a, k.b, k.t);
     }},
    {"event_recorded_again",
     [](Case& k) {
       k.write(k.a, k.s);
       CHECK(cudaEventRecord(k.event, k.s));  // first
       k.write(k.b, k.t);
       CHECK(cudaEventRecord(k.event, k.t));  // again
       CHECK(cudaStreamWaitEvent(k.blocking, k.event));
       k.read(k.a, k.c, k.blocking);
     }},
    {"event_recorded_again_in_a_graph",
     [](Case& k) {
       cudaGraph_t graph = nullptr;
       cudaGraphExec_t executable = nullptr;
       CHECK(cudaStreamBeginCapture(k.blocking, cudaStreamCaptureModeGlobal));
       k.read(k.a, k.c, k.blocking);
       CHECK(cudaStreamEndCapture(k.blocking, &graph));
       CHECK(cudaGraphInstantiate(&executable, graph, 0));
       k.write(k.a, k.s);
       CHECK(cudaEventRecord(k.event, k.s));  // first
       k.write(k.b, k.t);
       CHECK(cudaEventRecord(k.event, k.t));  // again
       CHECK(cudaStreamWaitEvent(k.blocking, k.event));
       CHECK(cudaGraphLaunch(executable, k.blocking));
       CHECK(cudaStreamSynchronize(k.blocking));
       CHECK(cudaGraphExecDestroy(executable));
       CHECK(cudaGraphDestroy(graph));
     }},
    {"waits_for_the_other_stream",
     [](Case& k) {
       k.write(k.a, k.s);
       CHECK(cudaStreamSynchronize(k.t));
       k.read(k.a, k.b, k.t);
     }},
    {"default_and_nonblocking", [](Case& k) { k.write(k.a, k.s), k.read(k.a, k.b, nullptr); }},
    {"memcpy_and_nonblocking",
     [](Case& k) {
       int host[16];
       k.write(k.a, k.s);
       CHECK(cudaMemcpy(host, k.a, sizeof host, cudaMemcpyDeviceToHost));
     }},
    {"memset_and_nonblocking",
     [](Case& k) {
       CHECK(cudaMemset(k.a, 0, kBytes));
       k.read(k.a, k.b, k.s);
     }},
    {"copies_overtake",
     [](Case& k) {
       k.write(k.a, k.s);
       CHECK(cudaMemcpyAsync(k.pinned, k.a, kBytes, cudaMemcpyDeviceToHost, k.t));
     }},
    {"one_element",
     [](Case& k) { k.write(k.a, k.s, kN / 2 + 1), fill<<<8, 256, 0, k.t>>>(k.a + kN / 2, 1, kN / 2); }},
    {"atomics_and_a_reader", [](Case& k) { count<<<1, 32, 0, k.s>>>(k.a), k.read(k.a, k.b, k.t); }},
    {"graph_without_an_edge", [](Case& k) { k.graph(false); }},
    {"graph_and_stream",
     [](Case& k) {
       k.write(k.b, k.t);
       k.graph(true);
     }},
    {"pool_memory_freed_too_early",
     [](Case& k) {
       int* const p = k.allocate(k.s);
       k.write(p, k.s);
       CHECK(cudaFreeAsync(p, k.t));
     }},
    {"pool_memory_used_too_early",
     [](Case& k) {
       int* const p = k.allocate(k.s);
       k.write(p, k.t);
       CHECK(cudaStreamSynchronize(k.t));
       CHECK(cudaFreeAsync(p, k.s));
     }},
    {"pool_memory_copied_too_early",
     [](Case& k) {
       int host[kN];
       int* const p = k.allocate(nullptr);
       k.write(p, nullptr);
       CHECK(cudaMemcpyAsync(host, p, kBytes, cudaMemcpyDeviceToHost, k.t));
       CHECK(cudaFreeAsync(p, nullptr));
     }},
    {"host_reads_managed_memory", [](Case& k) { k.write(k.managed, k.s), use(k.managed[100]); }},
    {"host_reads_a_counter", [](Case& k) { count<<<1, 32, 0, k.s>>>(k.managed), use(k.managed[0]); }},
    {"host_reads_after_another_stream",
     [](Case& k) {
       k.write(k.managed, k.s);
       CHECK(cudaStreamSynchronize(k.t));
       use(k.managed[100]);
     }},
    {"host_reads_a_copy",
     [](Case& k) {
       k.write(k.a, k.s);
       CHECK(cudaMemcpyAsync(k.pinned, k.a, kBytes, cudaMemcpyDeviceToHost, k.s));
       use(k.pinned[kN - 1]);
     }},
    {"host_writes_what_a_kernel_reads", [](Case& k) { k.read(k.managed, k.a, k.s), k.managed[3] = 1; }},
    {"host_writes_what_a_copy_reads",
     [](Case& k) {
       CHECK(cudaMemcpyAsync(k.a, k.pinned, kBytes, cudaMemcpyHostToDevice, k.s));
       k.pinned[5] = 1;
     }},
    // Right programs.
    {"host_reads_after_waiting",
     [](Case& k) {
       k.write(k.managed, k.s);
       CHECK(cudaDeviceSynchronize());
       use(k.managed[100]);
       k.write(k.a, k.s);
       CHECK(cudaMemcpyAsync(k.pinned, k.a, kBytes, cudaMemcpyDeviceToHost, k.s));
       CHECK(cudaEventRecord(k.event, k.s));
       CHECK(cudaEventSynchronize(k.event));
       use(k.pinned[kN - 1]);
     }},
    {"host_reads_what_a_kernel_reads",
     [](Case& k) { k.read(k.managed, k.a, k.s), use(k.managed[3]), use(k.managed[2000]); }},
    {"host_uses_the_other_half",
     [](Case& k) {
       k.write(k.managed, k.s, kN / 2);
       for (int i = kN / 2; i < kN; ++i) k.managed[i] = i;
     }},
    {"host_polls_a_flag",
     [](Case& k) {
       publish<<<1, 1, 0, k.s>>>(k.pinned, k.pinned + 1);
       while (static_cast<volatile int*>(k.pinned)[1] == 0) continue;
       EXPECT(k.pinned[0] == 42);
     }},
    {"host_learns_by_a_callback",
     [](Case& k) {
       static volatile bool done = false;
       k.write(k.managed, k.s);
       CHECK(cudaLaunchHostFunc(
           k.s, [](void*) { done = true; }, nullptr));
       while (!done) continue;
       use(k.managed[100]);
     }},
    {"host_fills_the_next_buffer",
     [](Case& k) {
       for (int round = 0; round < 4; ++round) {
         int* const half = k.pinned + round % 2 * (kN / 2);
         if (round >= 2) CHECK(cudaEventSynchronize(k.event));
         for (int i = 0; i < kN / 2; ++i) half[i] = round;
         CHECK(cudaMemcpyAsync(k.a, half, kBytes / 2, cudaMemcpyHostToDevice, k.s));
         CHECK(cudaEventRecord(k.event, k.s));
       }
     }},
    {"one_stream", [](Case& k) { k.write(k.a, k.s), k.read(k.a, k.b, k.s); }},
    {"two_buffers", [](Case& k) { k.write(k.a, k.s), k.write(k.b, k.t); }},
    {"two_readers", [](Case& k) { k.read(k.a, k.b, k.s), k.read(k.a, k.c, k.t); }},
    {"two_halves",
     [](Case& k) {
       k.write(k.a, k.s, kN / 2 + 1), fill<<<8, 256, 0, k.t>>>(k.a + kN / 2 + 1, 1, kN / 2 - 1);
     }},
    {"atomics", [](Case& k) { count<<<1, 32, 0, k.s>>>(k.a), count<<<1, 32, 0, k.t>>>(k.a); }},
    {"event_of_a_third_stream",
     [](Case& k) {
       k.write(k.a, k.s);
       CHECK(cudaEventRecord(k.event, k.s));
       CHECK(cudaStreamWaitEvent(k.blocking, k.event));
       CHECK(cudaEventRecord(k.event, k.blocking));
       CHECK(cudaStreamWaitEvent(k.t, k.event));
       k.read(k.a, k.b, k.t);
     }},
    {"host_waits",
     [](Case& k) {
       k.write(k.a, k.s);
       CHECK(cudaStreamSynchronize(k.s));
       k.read(k.a, k.b, k.t);
     }},
    {"host_asks_for_the_event",
     [](Case& k) {
       k.write(k.a, k.s);
       CHECK(cudaEventRecord(k.event, k.s));
       while (cudaEventQuery(k.event) == cudaErrorNotReady) continue;
       k.read(k.a, k.b, k.t);
     }},
    {"default_and_blocking", [](Case& k) { k.write(k.a, k.blocking), k.read(k.a, k.b, nullptr); }},
    {"blocking_and_default", [](Case& k) { k.write(k.a, nullptr), k.read(k.a, k.b, k.blocking); }},
    {"synchronous_copy",
     [](Case& k) {
       int host[kN];
       k.write(k.a, nullptr);
       CHECK(cudaMemcpy(host, k.a, kBytes, cudaMemcpyDeviceToHost));
       k.write(k.a, k.s);
     }},
    {"copy_to_pageable_memory",
     [](Case& k) {
       int host[kN];
       k.write(k.a, k.s);
       CHECK(cudaMemcpyAsync(host, k.a, kBytes, cudaMemcpyDeviceToHost, k.s));
       k.write(k.a, k.t);
     }},
    {"graph", [](Case& k) { k.graph(true); }},
    {"graph_then_stream", [](Case& k) { k.graph(true), k.write(k.a, k.t); }},
    {"pool",
     [](Case& k) {
       int* p = nullptr;
       CHECK(cudaMallocAsync(&p, kBytes, k.s));
       k.write(p, k.s);
       CHECK(cudaFreeAsync(p, k.s));
       CHECK(cudaMallocAsync(&p, kBytes, k.t));
       k.write(p, k.t);
       CHECK(cudaFreeAsync(p, k.t));
     }},
    {"pool_memory_passed_by_events",
     [](Case& k) {
       int* const p = k.allocate(k.s);
       CHECK(cudaEventRecord(k.event, k.s));
       CHECK(cudaStreamWaitEvent(k.t, k.event));
       k.write(p, k.t);
       CHECK(cudaEventRecord(k.event, k.t));
       CHECK(cudaStreamWaitEvent(k.s, k.event));
       CHECK(cudaFreeAsync(p, k.s));
     }},
    {"pool_memory_after_a_wait",
     [](Case& k) {
       int* const p = k.allocate(k.s);
       CHECK(cudaStreamSynchronize(k.s));
       k.write(p, nullptr);
       CHECK(cudaDeviceSynchronize());
       CHECK(cudaFreeAsync(p, k.t));
     }},
    {"event_recorded_in_turns",
     [](Case& k) {
       for (int i = 0; i < 3; ++i) {
         k.write(k.a, k.s);
         CHECK(cudaEventRecord(k.event, k.s));
         CHECK(cudaStreamWaitEvent(k.t, k.event));
         k.read(k.a, k.b, k.t);
         CHECK(cudaEventRecord(k.event, k.t));
         CHECK(cudaStreamWaitEvent(k.s, k.event));
       }
     }},
    {"pipeline",
     [](Case& k) {
       cudaEvent_t read[2];
       for (cudaEvent_t& e : read) CHECK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
       int* const buffers[2] = {k.a, k.b};
       for (int i = 0; i < 8; ++i) {
         if (i >= 2) CHECK(cudaStreamWaitEvent(k.s, read[i % 2]));
         k.write(buffers[i % 2], k.s);
         CHECK(cudaEventRecord(k.event, k.s));
         CHECK(cudaStreamWaitEvent(k.t, k.event));
         k.read(buffers[i % 2], k.c, k.t);
         CHECK(cudaEventRecord(read[i % 2], k.t));
       }
       for (cudaEvent_t& e : read) CHECK(cudaEventDestroy(e));
     }},
};

int main(int argc, char** argv) {
  const auto found = argc > 1 ? kCases.find(argv[1]) : kCases.end();
  if (found == kCases.end()) {
    for (const auto& [name, run] : kCases) std::printf("%s\n", name.c_str());
    return argc > 1 ? 2 : 0;
  }
  Case state;
  found->second(state);
  return 0;
}
