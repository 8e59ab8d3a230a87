// SPDX-License-Identifier: MIT
// Asynchronous copies in every style that CUDA C++ has: pipeline intrinsics, cooperative groups,
// cuda::barrier, cuda::pipeline with one and several stages, split arrival; on sm_90 bulk copies there and
// back, and a cluster of one block.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>

#include <vector>

#include <cuda/barrier>
#include <cuda/pipeline>

#include "check.hpp"

namespace cg = cooperative_groups;

constexpr int kThreads = 256, kRounds = 5;
// a macro, because device code would take the address of a constant
#define TILE_BYTES (kThreads * sizeof(int))
using Barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void with_intrinsics(const int* in, int* out) {
  __shared__ int s_tile[2][kThreads];
  const unsigned tid = threadIdx.x;
  __pipeline_memcpy_async(&s_tile[0][tid], &in[tid], sizeof(int));
  __pipeline_commit();
  int sum = 0;
  for (int round = 1; round <= kRounds; ++round) {
    if (round < kRounds)
      __pipeline_memcpy_async(&s_tile[round & 1][tid], &in[round * kThreads + tid], sizeof(int));
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    sum += s_tile[(round - 1) & 1][kThreads - 1 - tid];
    __syncthreads();
  }
  out[tid] = sum;
}

// The last four of sixteen bytes are filled with zeros.
__global__ void with_zero_fill(const int* in, int* out) {
  __shared__ alignas(16) int s_tile[4 * kThreads];
  const unsigned tid = threadIdx.x;
  __pipeline_memcpy_async(&s_tile[4 * tid], &in[4 * tid], 16, 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  out[tid] = s_tile[4 * tid] + s_tile[4 * tid + 2] + 1000 * s_tile[4 * tid + 3];
}

__global__ void with_groups(const int* in, int* out) {
  __shared__ int s_tile[kThreads];
  const cg::thread_block block = cg::this_thread_block();
  int sum = 0;
  for (int round = 0; round < kRounds; ++round) {
    cg::memcpy_async(block, s_tile, in + round * kThreads, TILE_BYTES);
    cg::wait(block);
    sum += s_tile[kThreads - 1 - threadIdx.x];
    block.sync();
  }
  out[threadIdx.x] = sum;
}

__global__ void with_barrier(const int* in, int* out) {
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ Barrier s_barrier;
  __shared__ alignas(16) int s_tile[kThreads];
  const cg::thread_block block = cg::this_thread_block();
  if (threadIdx.x == 0) init(&s_barrier, kThreads);
  __syncthreads();
  int sum = 0;
  for (int round = 0; round < kRounds; ++round) {
    cuda::memcpy_async(block, s_tile, in + round * kThreads, cuda::aligned_size_t<16>(TILE_BYTES), s_barrier);
    s_barrier.arrive_and_wait();
    sum += s_tile[kThreads - 1 - threadIdx.x];
    Barrier::arrival_token token = s_barrier.arrive();
    s_barrier.wait(std::move(token));
  }
  out[threadIdx.x] = sum;
}

// The upper half of the threads permanently leaves the barrier after the first round.
__global__ void with_dropped_threads(const int* in, int* out) {
  __shared__ Barrier s_barrier;
  __shared__ int s_tile[kThreads];
  const unsigned tid = threadIdx.x;
  if (tid == 0) init(&s_barrier, kThreads);
  __syncthreads();
  s_tile[tid] = in[tid];
  if (tid >= kThreads / 2) {
    s_barrier.arrive_and_drop();
    return;
  }
  s_barrier.arrive_and_wait();
  const int sum = s_tile[kThreads - 1 - tid];
  s_barrier.arrive_and_wait();
  s_tile[tid] = sum;
  s_barrier.arrive_and_wait();
  out[tid] = s_tile[kThreads / 2 - 1 - tid];
}

template <int kStages>
__global__ void with_pipeline(const int* in, int* out) {
  __shared__ alignas(16) int s_tile[kStages][kThreads];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> s_state;
  const cg::thread_block block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &s_state);
  int sum = 0;
  for (int fetched = 0, round = 0; round < kRounds; ++round) {
    for (; fetched < kRounds && fetched < round + kStages; ++fetched) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, s_tile[fetched % kStages], in + fetched * kThreads, TILE_BYTES, pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    sum += s_tile[round % kStages][kThreads - 1 - threadIdx.x];
    pipe.consumer_release();
  }
  out[threadIdx.x] = sum;
}

// One warp loads the tiles, the others add them.
__global__ void with_roles(const int* in, int* out) {
  __shared__ alignas(16) int s_tile[2][kThreads];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> s_state;
  const cg::thread_block block = cg::this_thread_block();
  const bool fetches = threadIdx.x < 32;
  auto pipe = cuda::make_pipeline(block, &s_state,
                                  fetches ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
  int sum = 0;
  for (int round = 0; round < kRounds; ++round) {
    if (fetches) {
      pipe.producer_acquire();
      for (unsigned k = threadIdx.x; k < kThreads; k += 32)
        cuda::memcpy_async(&s_tile[round & 1][k], &in[round * kThreads + k], sizeof(int), pipe);
      pipe.producer_commit();
    } else {
      pipe.consumer_wait();
      sum += s_tile[round & 1][threadIdx.x] + (threadIdx.x >= 224 ? s_tile[round & 1][threadIdx.x - 224] : 0);
      pipe.consumer_release();
    }
  }
  out[threadIdx.x] = sum;
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
// Bulk copies in PTX: <cuda/ptx> of older toolkits lacks them.
__device__ inline void fence_proxy_async() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
__device__ inline void store_bulk(int* to, const int* from, unsigned n_bytes) {
  asm volatile(
      "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(__cvta_generic_to_global(to)),
      "r"(static_cast<unsigned>(__cvta_generic_to_shared(from))), "r"(n_bytes)
      : "memory");
}
__device__ inline void commit_bulk() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
__device__ inline void wait_for_bulk_reads() {
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}
#endif

__global__ void with_bulk_copies(const int* in, int* out) {
#if __CUDA_ARCH__ >= 900
  __shared__ alignas(128) int s_tile[kThreads];
  __shared__ Barrier s_barrier;
  if (threadIdx.x == 0) {
    init(&s_barrier, kThreads);
    fence_proxy_async();
  }
  __syncthreads();
  Barrier::arrival_token token;
  if (threadIdx.x == 0) {
    cuda::device::memcpy_async_tx(s_tile, in, cuda::aligned_size_t<16>(TILE_BYTES), s_barrier);
    token = cuda::device::barrier_arrive_tx(s_barrier, 1, TILE_BYTES);
  } else {
    token = s_barrier.arrive();
  }
  s_barrier.wait(std::move(token));
  s_tile[threadIdx.x] += 1;
  fence_proxy_async();
  __syncthreads();
  if (threadIdx.x == 0) {
    store_bulk(out, s_tile, TILE_BYTES);
    commit_bulk();
    wait_for_bulk_reads();
  }
#endif
}

__global__ void in_a_cluster_of_one(const int* in, int* out) {
#if __CUDA_ARCH__ >= 900
  __shared__ int s_tile[kThreads];
  const cg::cluster_group cluster = cg::this_cluster();
  s_tile[threadIdx.x] = in[threadIdx.x];
  cluster.sync();
  const int* mapped = cluster.map_shared_rank(s_tile, 0);
  out[threadIdx.x] = mapped[kThreads - 1 - threadIdx.x] + static_cast<int>(cluster.block_rank()) +
                     1000 * static_cast<int>(cluster.num_blocks() - 1);
  cluster.sync();
#endif
}

int main() {
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, 0));
  std::vector<int> in(4 * kThreads * kRounds), out(kThreads);
  for (std::size_t k = 0; k < in.size(); ++k) in[k] = static_cast<int>(k * 37 % 1009);
  int *d_in, *d_out;
  CHECK(cudaMalloc(&d_in, in.size() * sizeof(int)));
  CHECK(cudaMalloc(&d_out, TILE_BYTES));
  CHECK(cudaMemcpy(d_in, in.data(), in.size() * sizeof(int), cudaMemcpyHostToDevice));

  const auto run = [&](auto kernel, const char* name, const auto& expected) {
    CHECK(cudaMemset(d_out, 0xff, TILE_BYTES));
    kernel<<<1, kThreads>>>(d_in, d_out);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(out.data(), d_out, TILE_BYTES, cudaMemcpyDeviceToHost));
    for (int i = 0; i < kThreads; ++i)
      if (out[i] != expected(i)) {
        std::printf("%s: element %d: %d instead of %d\n", name, i, out[i], expected(i));
        std::exit(1);
      }
  };
  const auto mirrored = [&](int i) {
    int sum = 0;
    for (int round = 0; round < kRounds; ++round) sum += in[round * kThreads + kThreads - 1 - i];
    return sum;
  };
  run(with_intrinsics, "with_intrinsics", mirrored);
  run(with_zero_fill, "with_zero_fill", [&](int i) { return in[4 * i] + in[4 * i + 2]; });
  run(with_groups, "with_groups", mirrored);
  run(with_barrier, "with_barrier", mirrored);
  run(with_dropped_threads, "with_dropped_threads",
      [&](int i) { return i < kThreads / 2 ? in[kThreads / 2 + i] : -1; });
  run(with_pipeline<1>, "with_pipeline<1>", mirrored);
  run(with_pipeline<3>, "with_pipeline<3>", mirrored);
  run(with_roles, "with_roles", [&](int i) {
    int sum = 0;
    for (int round = 0; round < kRounds && i >= 32; ++round)
      sum += in[round * kThreads + i] + (i >= 224 ? in[round * kThreads + i - 224] : 0);
    return sum;
  });
  cudaFuncAttributes attributes;
  CHECK(cudaFuncGetAttributes(&attributes, with_bulk_copies));
  if (properties.major >= 9 && attributes.ptxVersion >= 90) {
    run(with_bulk_copies, "with_bulk_copies", [&](int i) { return in[i] + 1; });
    run(in_a_cluster_of_one, "in_a_cluster_of_one", [&](int i) { return in[kThreads - 1 - i]; });
  }
  std::puts("async_copies: ok");
}
