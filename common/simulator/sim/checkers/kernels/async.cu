// SPDX-License-Identifier: MIT
// Asynchronous copies and mbarriers, correct and faulty. kernels.cuh explains the comments.
#include <cuda_pipeline.h>

#include <cuda/barrier>

#include "sim/checkers/kernels/kernels.cuh"

#pragma nv_diag_suppress static_var_with_dynamic_init

using Barrier = cuda::barrier<cuda::thread_scope_block>;

__device__ inline void fetch(int* to, const int* from) {
  asm volatile(
      "cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(to))),
      "l"(__cvta_generic_to_global(from)));  // HELPER
}

// Bulk copies in PTX, because <cuda/ptx> of older toolkits does not have them.
__device__ inline void fence_proxy_async() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
__device__ inline void store_bulk(int* to, const int* from, unsigned n_bytes) {
  const std::size_t global = __cvta_generic_to_global(to);
  const auto shared = static_cast<unsigned>(__cvta_generic_to_shared(from));
  // clang-format off
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(global), "r"(shared), "r"(n_bytes) : "memory");  // HELPER
  // clang-format on
}
__device__ inline void commit_bulk() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
__device__ inline void wait_for_bulk_reads() {
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

// --- faulty ------------------------------------------------------------------------------------------------

// Even a thread's own copy is not complete before the thread has waited.
// EXPECT shared-race
// LAUNCH 1 64
KERNEL(own_copy_without_wait) {
  __shared__ int s_tile[64];
  fetch(&s_tile[threadIdx.x], &in[threadIdx.x]);  // OTHER
  __pipeline_commit();
  out[threadIdx.x] = s_tile[threadIdx.x];  // FAULT
}

// Each thread waits for its own copies only.
// EXPECT shared-race
// LAUNCH 1 64
KERNEL(copy_without_barrier) {
  __shared__ int s_tile[64];
  fetch(&s_tile[threadIdx.x], &in[threadIdx.x]);  // OTHER
  __pipeline_commit();
  __pipeline_wait_prior(0);
  out[threadIdx.x] = s_tile[63 - threadIdx.x];  // FAULT
}

// EXPECT shared-race
// LAUNCH 1 64
KERNEL(waits_for_one_group_too_few) {
  __shared__ int s_tile[2][64];
  fetch(&s_tile[0][threadIdx.x], &in[threadIdx.x]);
  __pipeline_commit();
  fetch(&s_tile[1][threadIdx.x], &in[64 + threadIdx.x]);  // OTHER
  __pipeline_commit();
  __pipeline_wait_prior(1);
  __syncthreads();
  out[threadIdx.x] = s_tile[0][63 - threadIdx.x];
  out[64 + threadIdx.x] = s_tile[1][63 - threadIdx.x];  // FAULT
}

// Copies that are not committed belong to no group.
// EXPECT shared-race
// LAUNCH 1 64
KERNEL(waits_without_commit) {
  __shared__ int s_tile[64];
  fetch(&s_tile[threadIdx.x], &in[threadIdx.x]);  // OTHER
  __pipeline_wait_prior(0);
  __syncthreads();
  out[threadIdx.x] = s_tile[63 - threadIdx.x];  // FAULT
}

// The next copy overwrites data that slower threads still read.
// EXPECT shared-race
// LAUNCH 1 64
KERNEL(copy_reuses_buffer) {
  __shared__ int s_tile[64];
  int sum = 0;
  for (int round = 0; round < 3; ++round) {
    fetch(&s_tile[threadIdx.x], &in[round * 64 + threadIdx.x]);  // OTHER
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    sum += s_tile[63 - threadIdx.x];  // FAULT
  }
  out[threadIdx.x] = sum;
}

// EXPECT shared-race
// LAUNCH 1 64
KERNEL(store_under_a_copy) {
  __shared__ int s_tile[64];
  fetch(&s_tile[threadIdx.x], &in[threadIdx.x]);  // OTHER
  if (threadIdx.x == 5) s_tile[5] = 0;            // FAULT
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[threadIdx.x] = s_tile[threadIdx.x];
}

// EXPECT uninitialised-global
// LAUNCH 1 64
KERNEL(copy_of_nothing) {
  __shared__ int s_tile[64];
  fetch(&s_tile[threadIdx.x], &scratch[threadIdx.x]);  // FAULT
  __pipeline_commit();
  __pipeline_wait_prior(0);
  out[threadIdx.x] = s_tile[threadIdx.x];
}

// EXPECT out-of-bounds
// LAUNCH 1 64 n 63
KERNEL(copy_past_the_end) {
  __shared__ int s_tile[64];
  fetch(&s_tile[threadIdx.x], &in[threadIdx.x]);  // FAULT
  __pipeline_commit();
  __pipeline_wait_prior(0);
  if (threadIdx.x < n) out[threadIdx.x] = s_tile[threadIdx.x];
}

// A thread arrives before the object is initialised.
// EXPECT shared-race
// LAUNCH 1 64
KERNEL(mbarrier_before_it_is_there) {
  __shared__ Barrier s_barrier;
  if (threadIdx.x == 63) init(&s_barrier, 1);                   // FAULT OTHER
  if (threadIdx.x == 0) static_cast<void>(s_barrier.arrive());  // FAULT OTHER
  __syncthreads();
  out[threadIdx.x] = in[threadIdx.x];
}

// Writes after arriving are not published.
// EXPECT shared-race
// LAUNCH 1 64
KERNEL(arrives_too_early) {
  __shared__ Barrier s_barrier;
  __shared__ int s_tile[64];
  if (threadIdx.x == 0) init(&s_barrier, 64);
  __syncthreads();
  auto token = s_barrier.arrive();
  s_tile[threadIdx.x] = in[threadIdx.x];  // OTHER
  s_barrier.wait(std::move(token));
  out[threadIdx.x] = s_tile[63 - threadIdx.x];  // FAULT
}

// Arriving does not wait.
// EXPECT shared-race
// LAUNCH 1 64
KERNEL(arrives_and_does_not_wait) {
  __shared__ Barrier s_barrier;
  __shared__ int s_tile[64];
  if (threadIdx.x == 0) init(&s_barrier, 64);
  __syncthreads();
  s_tile[threadIdx.x] = in[threadIdx.x];  // OTHER
  static_cast<void>(s_barrier.arrive());
  out[threadIdx.x] = s_tile[63 - threadIdx.x];  // FAULT
}

// More arrivals than the object expects.
// EXPECT fault
// LAUNCH 1 64
KERNEL(mbarrier_for_too_few) {
  __shared__ Barrier s_barrier;
  if (threadIdx.x == 0) init(&s_barrier, 48);
  __syncthreads();
  // The phase stays open because the expected bytes never come.
  if (threadIdx.x == 0)
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared.b64 [%0], 16;" ::"r"(
        static_cast<unsigned>(__cvta_generic_to_shared(cuda::device::barrier_native_handle(s_barrier)))));
  __syncthreads();
  static_cast<void>(s_barrier.arrive());  // FAULT
}

// EXPECT shared-race
// LAUNCH 1 64
KERNEL(bulk_copy_without_wait) {
  __shared__ alignas(16) int s_tile[64];
  __shared__ Barrier s_barrier;
  if (threadIdx.x == 0) {
    init(&s_barrier, 1);
    fence_proxy_async();
    cuda::device::memcpy_async_tx(s_tile, in, cuda::aligned_size_t<16>(sizeof s_tile), s_barrier);  // OTHER
    static_cast<void>(cuda::device::barrier_arrive_tx(s_barrier, 1, sizeof s_tile));
  }
  __syncthreads();
  out[threadIdx.x] = s_tile[threadIdx.x];  // FAULT
}

// The source of a copy to global memory is overwritten before it has been read.
// EXPECT shared-race
// LAUNCH 1 64
KERNEL(bulk_store_reuses_buffer) {
  __shared__ alignas(16) int s_tile[64];
  s_tile[threadIdx.x] = in[threadIdx.x];
  fence_proxy_async();
  __syncthreads();
  if (threadIdx.x == 0) {
    store_bulk(out, s_tile, sizeof s_tile);  // OTHER
    commit_bulk();
  }
  __syncthreads();
  s_tile[threadIdx.x] = 0;  // FAULT
  if (threadIdx.x == 0) wait_for_bulk_reads();
}

// EXPECT misaligned
// LAUNCH 1 32
KERNEL(bulk_copy_misaligned) {
  __shared__ alignas(16) int s_tile[64];
  if (threadIdx.x == 0) {
    store_bulk(out + 1, s_tile, 64);  // FAULT
    commit_bulk();
  }
}

// --- correct -----------------------------------------------------------------------------------------------

// Each thread reads only what it has fetched itself, so no barrier is needed.
// EXPECT nothing
// LAUNCH 1 64
KERNEL(own_copies) {
  __shared__ int s_tile[64];
  for (int round = 0; round < 3; ++round) {
    fetch(&s_tile[threadIdx.x], &in[round * 64 + threadIdx.x]);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[round * 64 + threadIdx.x] = s_tile[threadIdx.x];
  }
}

// The next tile is fetched while this one is used; two barriers pass meanwhile.
// EXPECT nothing
// LAUNCH 2 64
KERNEL(double_buffered_copies) {
  __shared__ int s_tile[2][64];
  fetch(&s_tile[0][threadIdx.x], &in[threadIdx.x]);
  __pipeline_commit();
  int sum = 0;
  for (int round = 1; round <= 6; ++round) {
    if (round < 6) fetch(&s_tile[round & 1][threadIdx.x], &in[round * 64 + threadIdx.x]);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    sum += s_tile[(round - 1) & 1][63 - threadIdx.x];
    __syncthreads();
  }
  out[blockIdx.x * 64 + threadIdx.x] = sum;
}

// Between arriving and waiting, the threads do not access shared memory.
// EXPECT nothing
// LAUNCH 1 64
KERNEL(split_arrival) {
  __shared__ Barrier s_barrier;
  __shared__ int s_tile[64];
  if (threadIdx.x == 0) init(&s_barrier, 64);
  __syncthreads();
  s_tile[threadIdx.x] = in[threadIdx.x];
  auto token = s_barrier.arrive();
  const int own = in[64 + threadIdx.x];
  s_barrier.wait(std::move(token));
  out[threadIdx.x] = own + s_tile[63 - threadIdx.x];
}

// A full and an empty object: one warp writes tiles, the other reads them.
// EXPECT nothing
// LAUNCH 1 64
KERNEL(producer_and_consumer) {
  __shared__ Barrier s_full, s_empty;
  __shared__ int s_tile[32];
  if (threadIdx.x == 0) {
    init(&s_full, 64);
    init(&s_empty, 64);
  }
  __syncthreads();
  const unsigned lane = threadIdx.x % 32;
  int sum = 0;
  for (int round = 0; round < 4; ++round) {
    if (threadIdx.x < 32) {
      s_empty.arrive_and_wait();
      s_tile[lane] = in[round * 32 + lane];
      static_cast<void>(s_full.arrive());
    } else {
      static_cast<void>(s_empty.arrive());
      s_full.arrive_and_wait();
      sum += s_tile[31 - lane];
    }
  }
  if (threadIdx.x >= 32) out[lane] = sum;
}

// EXPECT nothing
// LAUNCH 3 64
KERNEL(bulk_copy_there_and_back) {
  __shared__ alignas(16) int s_tile[64];
  __shared__ Barrier s_barrier;
  if (threadIdx.x == 0) {
    init(&s_barrier, 64);
    fence_proxy_async();
  }
  __syncthreads();
  Barrier::arrival_token token;
  if (threadIdx.x == 0) {
    cuda::device::memcpy_async_tx(s_tile, in + 64 * blockIdx.x, cuda::aligned_size_t<16>(sizeof s_tile),
                                  s_barrier);
    token = cuda::device::barrier_arrive_tx(s_barrier, 1, sizeof s_tile);
  } else {
    token = s_barrier.arrive();
  }
  s_barrier.wait(std::move(token));
  s_tile[threadIdx.x] += 1;
  fence_proxy_async();
  __syncthreads();
  if (threadIdx.x == 0) {
    store_bulk(out + 64 * blockIdx.x, s_tile, sizeof s_tile);
    commit_bulk();
    wait_for_bulk_reads();
  }
  __syncthreads();
  s_tile[threadIdx.x] = 0;
}
