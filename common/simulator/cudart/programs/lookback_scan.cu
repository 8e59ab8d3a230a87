// SPDX-License-Identifier: MIT
// A single-pass scan with decoupled look-back: blocks wait for the status words of their predecessors
// (Merrill and Garland, 2016). Requires forward progress of earlier blocks and ordered publication of value
// and status.
#include <cuda/atomic>
#include <vector>

#include "check.hpp"

enum : unsigned { kInvalid = 0, kAggregate = 1, kPrefix = 2 };
constexpr int kBlock = 128;

__global__ void scan(const int* in, int* out, int n, unsigned long long* status, unsigned* next_tile) {
  __shared__ unsigned tile_shared;
  __shared__ int items[kBlock];
  __shared__ int before_shared;
  if (threadIdx.x == 0) tile_shared = atomicAdd(next_tile, 1u);
  __syncthreads();
  const unsigned tile = tile_shared;
  const int i = int(tile) * kBlock + int(threadIdx.x);
  items[threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  for (int d = 1; d < kBlock; d *= 2) {
    const int below = int(threadIdx.x) >= d ? items[threadIdx.x - d] : 0;
    __syncthreads();
    items[threadIdx.x] += below;
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    const int total = items[kBlock - 1];
    const auto publish = [&](unsigned state, int value) {
      cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> word(status[tile]);
      word.store((unsigned long long)state << 32 | unsigned(value), cuda::memory_order_release);
    };
    int before = 0;
    if (tile == 0) {
      publish(kPrefix, total);
    } else {
      publish(kAggregate, total);
      for (int look = int(tile) - 1;; --look) {
        cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> word(status[look]);
        unsigned long long seen;
        do seen = word.load(cuda::memory_order_acquire);
        while (seen >> 32 == kInvalid);
        before += int(unsigned(seen));
        if (seen >> 32 == kPrefix) break;
      }
      publish(kPrefix, before + total);
    }
    before_shared = before;
  }
  __syncthreads();
  if (i < n) out[i] = items[threadIdx.x] + before_shared;
}

int main() {
  const int n = 40000, tiles = (n + kBlock - 1) / kBlock;
  std::vector<int> in(n), out(n);
  for (int i = 0; i < n; ++i) in[i] = (i * 31) % 17 - 5;
  int *d_in, *d_out;
  unsigned long long* status;
  unsigned* next_tile;
  CHECK(cudaMalloc(&d_in, n * sizeof(int)));
  CHECK(cudaMalloc(&d_out, n * sizeof(int)));
  CHECK(cudaMalloc(&status, tiles * sizeof *status));
  CHECK(cudaMalloc(&next_tile, sizeof *next_tile));
  CHECK(cudaMemcpy(d_in, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaMemset(status, 0, tiles * sizeof *status));
  CHECK(cudaMemset(next_tile, 0, sizeof *next_tile));
  scan<<<tiles, kBlock>>>(d_in, d_out, n, status, next_tile);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(out.data(), d_out, n * sizeof(int), cudaMemcpyDeviceToHost));
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    sum += in[i];
    EXPECT(out[i] == sum);
  }
  std::puts("ok");
}
