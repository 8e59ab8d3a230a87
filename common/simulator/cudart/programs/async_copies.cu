// SPDX-License-Identifier: MIT
// Asynchronous copies as CUDA C++'s libraries do them: cooperative groups, cuda::barrier, cuda::pipeline with
// one and several stages and with roles.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>

#include <vector>

#include <cuda/barrier>
#include <cuda/pipeline>

#include "check.hpp"

namespace cg = cooperative_groups;

constexpr int kThreads = 256, kRounds = 5;
// a macro, because device code would take the address of a constant
#define TILE_BYTES (kThreads * sizeof(int))
using Barrier = cuda::barrier<cuda::thread_scope_block>;

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

int main() {
  std::vector<int> in(kThreads * kRounds), out(kThreads);
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
  run(with_groups, "with_groups", mirrored);
  run(with_barrier, "with_barrier", mirrored);
  run(with_pipeline<1>, "with_pipeline<1>", mirrored);
  run(with_pipeline<3>, "with_pipeline<3>", mirrored);
  run(with_roles, "with_roles", [&](int i) {
    int sum = 0;
    for (int round = 0; round < kRounds && i >= 32; ++round)
      sum += in[round * kThreads + i] + (i >= 224 ? in[round * kThreads + i - 224] : 0);
    return sum;
  });
  std::puts("async_copies: ok");
}
