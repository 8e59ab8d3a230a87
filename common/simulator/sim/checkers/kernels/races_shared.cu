// SPDX-License-Identifier: MIT
// Races in shared memory. kernels.cuh explains the comments.
#include "sim/checkers/kernels/kernels.cuh"

// EXPECT shared-race
// LAUNCH 1 64
KERNEL(read_before_barrier) {
  __shared__ int s_data[64];
  s_data[threadIdx.x] = in[threadIdx.x];        // OTHER
  out[threadIdx.x] = s_data[63 - threadIdx.x];  // FAULT
}

// Lanes of one instruction write different values to one word.
// EXPECT shared-race
// LAUNCH 1 32
KERNEL(lanes_write_one_word) {
  __shared__ int s_last;
  s_last = static_cast<int>(threadIdx.x);  // FAULT OTHER
  __syncthreads();
  out[threadIdx.x] = s_last;
}

// Old warp-synchronous style: correct on GPUs whose warps ran in lock-step.
// EXPECT shared-race
// LAUNCH 1 64
KERNEL(warp_reduction_without_syncwarp) {
  __shared__ int s_data[64];
  const unsigned tid = threadIdx.x;
  s_data[tid] = in[tid];
  __syncthreads();
  if (tid < 32) {
    s_data[tid] += s_data[tid + 32];  // FAULT OTHER
    s_data[tid] += s_data[tid + 16];  // FAULT OTHER
    s_data[tid] += s_data[tid + 8];   // FAULT OTHER
  }
  if (tid == 0) out[0] = s_data[0];
}

// A shuffle or a vote moves values but orders no memory accesses.
// EXPECT shared-race
// LAUNCH 1 32
KERNEL(ballot_is_no_barrier) {
  __shared__ int s_data[32];
  s_data[threadIdx.x] = in[threadIdx.x];  // OTHER
  const unsigned votes = __ballot_sync(kFull, in[threadIdx.x] > 3);
  out[threadIdx.x] = s_data[threadIdx.x ^ 1] + static_cast<int>(votes);  // FAULT
}

// Each half of the warp synchronises, but reads what the other half wrote.
// EXPECT shared-race
// LAUNCH 1 32
KERNEL(syncwarp_of_half_a_warp) {
  __shared__ int s_data[32];
  const unsigned lane = threadIdx.x;
  s_data[lane] = in[lane];  // OTHER
  __syncwarp(lane < 16 ? 0x0000ffffu : 0xffff0000u);
  out[lane] = s_data[31 - lane];  // FAULT
}

// __syncwarp() where a block-wide barrier is needed.
// EXPECT shared-race
// LAUNCH 1 64
KERNEL(syncwarp_across_warps) {
  __shared__ int s_data[64];
  s_data[threadIdx.x] = in[threadIdx.x];  // OTHER
  __syncwarp();
  out[threadIdx.x] = s_data[(threadIdx.x + 32) % 64];  // FAULT
}

// Plain reads together with atomic updates.
// EXPECT shared-race
// LAUNCH 1 64
KERNEL(plain_read_of_atomic) {
  __shared__ int s_count;
  if (threadIdx.x == 0) s_count = 0;
  __syncthreads();
  atomicAdd(&s_count, 1);      // OTHER
  out[threadIdx.x] = s_count;  // FAULT
}

// A plain write resets what others update atomically.
// EXPECT shared-race
// LAUNCH 1 64
KERNEL(reset_beside_atomics) {
  __shared__ int s_count;
  if (threadIdx.x == 0) s_count = 0;  // FAULT OTHER
  atomicAdd(&s_count, 1);             // FAULT OTHER
  __syncthreads();
  out[threadIdx.x] = s_count;
}

// The reader waits for the wrong named barrier.
// EXPECT shared-race
// LAUNCH 1 128
KERNEL(wrong_named_barrier) {
  __shared__ int s_data[64];
  if (threadIdx.x < 64) {
    s_data[threadIdx.x] = in[threadIdx.x];  // OTHER
    asm volatile("bar.arrive 1, 128;" ::: "memory");
    asm volatile("bar.sync 2, 128;" ::: "memory");
  } else {
    asm volatile("bar.arrive 2, 128;" ::: "memory");
    out[threadIdx.x] = s_data[threadIdx.x - 64];  // FAULT
    asm volatile("bar.sync 1, 128;" ::: "memory");
  }
}

// The producer only arrives, and then overwrites what the consumer reads.
// EXPECT shared-race
// LAUNCH 1 64
KERNEL(producer_runs_ahead) {
  __shared__ int s_data[32];
  if (threadIdx.x < 32) {
    s_data[threadIdx.x] = in[threadIdx.x];
    asm volatile("bar.arrive 1, 64;" ::: "memory");
    s_data[threadIdx.x] = in[threadIdx.x + 32];  // OTHER
  } else {
    asm volatile("bar.sync 1, 64;" ::: "memory");
    out[threadIdx.x - 32] = s_data[threadIdx.x - 32];  // FAULT
  }
}

// A word is written while its bytes are still being read.
// EXPECT shared-race
// LAUNCH 1 64
KERNEL(word_over_bytes) {
  __shared__ int s_words[16];
  auto* bytes = reinterpret_cast<unsigned char*>(s_words);
  bytes[threadIdx.x] = static_cast<unsigned char>(threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = bytes[threadIdx.x];                         // FAULT
  if (threadIdx.x < 16) s_words[threadIdx.x] = in[threadIdx.x];  // OTHER
}

// Dynamic shared memory: two arrays of one buffer overlap.
// EXPECT shared-race
// LAUNCH 1 64 shared 384
KERNEL(overlapping_dynamic_arrays) {
  extern __shared__ int s_buffer[];
  int* s_left = s_buffer;
  int* s_right = s_buffer + 32;                 // should be + 64
  s_left[threadIdx.x] = in[threadIdx.x];        // FAULT OTHER
  s_right[threadIdx.x] = in[threadIdx.x] + 64;  // FAULT OTHER
  __syncthreads();
  out[threadIdx.x] = s_left[threadIdx.x] + s_right[threadIdx.x];
}

// 16-byte stores and single words.
// EXPECT shared-race
// LAUNCH 1 128
KERNEL(vector_store_then_words) {
  __shared__ int4 s_data[32];
  if (threadIdx.x < 32) s_data[threadIdx.x] = reinterpret_cast<const int4*>(in)[threadIdx.x];  // OTHER
  out[threadIdx.x] = reinterpret_cast<int*>(s_data)[threadIdx.x];                              // FAULT
}

// Several threads write the same value, which is not a fault but a hint.
// EXPECT shared-write-write-same-value
// LAUNCH 1 64
KERNEL(same_value_by_all) {
  __shared__ int s_found;
  if (threadIdx.x == 0) s_found = 0;
  __syncthreads();
  if (in[threadIdx.x] > 50) s_found = 1;  // FAULT OTHER
  __syncthreads();
  if (threadIdx.x == 0) out[0] = s_found;
}

// In a function that the kernel calls; the finding must point into that function.
// EXPECT shared-race
// LAUNCH 1 64
__device__ void add_one(int* counts, unsigned k) {
  counts[k] = counts[k] + 1;  // FAULT OTHER
}
KERNEL(race_in_a_function) {
  __shared__ int s_counts[4];
  if (threadIdx.x < 4) s_counts[threadIdx.x] = 0;
  __syncthreads();
  add_one(s_counts, threadIdx.x & 3);
  __syncthreads();
  if (threadIdx.x < 4) out[threadIdx.x] = s_counts[threadIdx.x];
}

// The last warp waits for the first eight readers of the word, but not for the other eight.
// EXPECT shared-race
// LAUNCH 1 544
KERNEL(waits_for_half_of_the_readers) {
  __shared__ int s_word;
  if (threadIdx.x == 0) s_word = in[0];
  __syncthreads();
  const unsigned warp = threadIdx.x / 32;
  if (warp < 16) out[threadIdx.x] = s_word;  // FAULT OTHER
  if (warp < 8 || warp == 16) asm volatile("bar.sync 1, 288;" ::: "memory");
  if (threadIdx.x == 512) s_word = 2;  // FAULT OTHER
}

// In the shared memory that the system reserves, and cooperative groups use.
// EXPECT shared-race
// LAUNCH 1 64
KERNEL(race_in_reserved_memory) {
  unsigned reserved;
  asm("mov.u32 %0, %%reserved_smem_offset_begin;" : "=r"(reserved));
  int* const words = static_cast<int*>(__cvta_shared_to_generic(reserved));
  words[threadIdx.x] = in[threadIdx.x];              // FAULT OTHER
  out[threadIdx.x] = words[(threadIdx.x + 1) % 64];  // FAULT OTHER
}

// The compare-and-swap fails where the load has read an outdated value, but its result is not used.
// EXPECT shared-race
// LAUNCH 1 32
KERNEL(swap_does_not_check_the_load) {
  __shared__ int s_sum;
  if (threadIdx.x == 0) s_sum = 0;
  __syncwarp();
  if (threadIdx.x == 31) {
    const int sum = s_sum;  // FAULT
    atomicCAS(&s_sum, sum, sum);
    out[0] = sum;
  } else {
    atomicAdd(&s_sum, in[threadIdx.x]);  // OTHER
  }
}

// The array of the warps' values is used again without a barrier. Of the pairs that race, one of two warps is
// shown: __syncwarp() would not help it.
// EXPECT shared-race
// REASON no barrier between them
// LAUNCH 1 256
KERNEL(array_of_warps_used_again) {
  __shared__ int s_part[8];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (lane == 0) s_part[warp] = in[threadIdx.x];
  __syncthreads();
  const int x = lane < 8 ? s_part[lane] : 0;  // FAULT
  const int sum = __reduce_add_sync(kFull, x);
  if (lane == 0) s_part[warp] = sum + static_cast<int>(warp);  // OTHER
  __syncthreads();
  if (threadIdx.x < 8) out[threadIdx.x] = s_part[threadIdx.x];
}
