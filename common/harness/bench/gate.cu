// SPDX-License-Identifier: MIT
#include "bench/gate.hpp"

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cuda/atomic>
#include <new>

namespace course::lab {

// A moment on the device.
struct Instant {
  unsigned multiprocessor = 0;
  std::uint64_t cycles = 0, ns = 0;
};

struct GateMemory {
  unsigned open = 0;  // 1: the waiting kernel may end
  unsigned held = 0;  // 1: it ended for that reason
  Instant from, to;
};

namespace {

__device__ std::uint64_t nanoseconds() {
  std::uint64_t ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  return ns;
}
__device__ Instant now() {
  Instant instant;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(instant.multiprocessor));
  instant.cycles = static_cast<std::uint64_t>(clock64());
  instant.ns = nanoseconds();
  return instant;
}

// Both kernels run with one thread.
__global__ void wait_for_host(GateMemory* shared) {
  constexpr std::uint64_t kMaxNs = 200'000'000;
  const cuda::atomic_ref<unsigned, cuda::thread_scope_system> open(shared->open);
  const std::uint64_t from = nanoseconds();
  unsigned is_open = 0;
  while (is_open == 0 && nanoseconds() - from < kMaxNs) is_open = open.load(cuda::memory_order_acquire);
  shared->held = is_open;
  shared->from = now();
}
__global__ void note_end(GateMemory* shared) {
  shared->to = now();
}

}  // namespace

Gate::Gate() {
  void* memory = nullptr;
  if (const cudaError_t code = cudaMallocHost(&memory, sizeof(GateMemory)); code != cudaSuccess) {
    std::fprintf(stderr, "bench: cudaMallocHost: %s\n", cudaGetErrorString(code));
    std::exit(1);
  }
  shared_ = new (memory) GateMemory;
}
Gate::~Gate() {
  static_cast<void>(cudaFreeHost(shared_));
}

void Gate::close(CUstream_st* stream) {
  *shared_ = {};
  wait_for_host<<<1, 1, 0, stream>>>(shared_);
}
void Gate::stamp(CUstream_st* stream) {
  note_end<<<1, 1, 0, stream>>>(shared_);
}
void Gate::open() {
  cuda::atomic_ref<unsigned, cuda::thread_scope_system>(shared_->open).store(1, cuda::memory_order_release);
}

bool Gate::held() const {
  return shared_->held == 1;
}
double Gate::clock_mhz() const {
  constexpr std::uint64_t kShort = 50'000;  // ns
  const Instant &from = shared_->from, &to = shared_->to;
  if (from.multiprocessor != to.multiprocessor || to.ns - from.ns < kShort) return 0;
  return 1e3 * static_cast<double>(to.cycles - from.cycles) / static_cast<double>(to.ns - from.ns);
}

}  // namespace course::lab
