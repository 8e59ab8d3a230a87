// SPDX-License-Identifier: MIT
// Misused barriers and warp-wide operations. kernels.cuh explains the comments.
#include "sim/checkers/kernels/kernels.cuh"

// EXPECT exit-before-barrier
// LAUNCH 1 128 n 100
KERNEL(returns_before_barrier) {
  __shared__ int s_data[128];
  const int gid = static_cast<int>(threadIdx.x);
  if (gid >= n) return;  // OTHER
  s_data[gid] = in[gid];
  __syncthreads();  // FAULT
  out[gid] = s_data[n - 1 - gid];
}

// EXPECT exit-before-barrier
// LAUNCH 1 96 n 64
KERNEL(whole_warp_returns_before_barrier) {
  const int gid = static_cast<int>(threadIdx.x);
  if (gid >= n) return;  // OTHER
  out[gid] = in[gid];
  __syncthreads();  // FAULT
  out[gid] += out[(gid + 1) % n] & 0;
}

// EXPECT barrier-divergence
// LAUNCH 1 64
KERNEL(barrier_in_both_branches) {
  if (threadIdx.x < 32) {
    out[threadIdx.x] = 1;
    __syncthreads();  // FAULT OTHER
    out[threadIdx.x] += 1;
  } else {
    out[threadIdx.x] = 2;
    __syncthreads();  // FAULT OTHER
    out[threadIdx.x] += 2;
  }
}

// EXPECT barrier-divergence
// LAUNCH 1 64
KERNEL(barrier_in_branches_of_a_warp) {
  if (threadIdx.x % 2 == 0) {
    out[threadIdx.x] = 1;
    __syncthreads();  // FAULT OTHER
    out[threadIdx.x] += 1;
  } else {
    out[threadIdx.x] = 2;
    __syncthreads();  // FAULT OTHER
    out[threadIdx.x] += 2;
  }
}

// The condition differs from thread to thread.
// EXPECT barrier-divergence
// LAUNCH 1 64
KERNEL(barrier_in_condition) {
  if (in[threadIdx.x] > 50) {
    __syncthreads();  // FAULT OTHER
    out[threadIdx.x] = in[threadIdx.x];
  }
  __syncthreads();  // FAULT OTHER
}

// What follows ends with the kernel.
// EXPECT exit-before-barrier
// LAUNCH 1 64
KERNEL(barrier_in_half_the_block) {
  __shared__ int s_data[64];
  s_data[threadIdx.x] = in[threadIdx.x];
  if (threadIdx.x < 48) {  // OTHER
    s_data[threadIdx.x] += 1;
    __syncthreads();  // FAULT
  }
  out[threadIdx.x] = s_data[threadIdx.x];
}

// The warps execute different numbers of iterations of a loop with a barrier.
// EXPECT exit-before-barrier
// LAUNCH 1 96
KERNEL(barrier_in_uneven_loop) {
  const unsigned turns = 1 + threadIdx.x / 32;
  for (unsigned k = 0; k < turns; ++k) {  // OTHER
    out[threadIdx.x] += in[k];
    __syncthreads();  // FAULT
  }
}

// EXPECT shuffle-from-inactive-lane
// LAUNCH 1 32
KERNEL(shuffle_in_half_a_warp) {
  const unsigned lane = threadIdx.x;
  int value = in[lane];
  if (lane < 16) {
    value += __shfl_down_sync(0x0000ffffu, value, 8);
    value += __shfl_xor_sync(0x0000ffffu, value, 16);  // FAULT
    out[lane] = value;                                 // OTHER
  }
}

// The mask was copied from the version for full warps.
// EXPECT shuffle-from-inactive-lane mask-names-absent-lane
// LAUNCH 1 32 n 20
KERNEL(shuffle_with_full_mask_at_the_end) {
  const int lane = static_cast<int>(threadIdx.x);
  if (lane < n) {  // OTHER
    int value = in[lane];
    for (int d = 16; d > 0; d /= 2) value += __shfl_down_sync(kFull, value, d);  // FAULT
    if (lane == 0) out[0] = value;                                               // OTHER
  }
}

// EXPECT shuffle-offset
// LAUNCH 1 64
KERNEL(shuffles_through_the_block) {
  int value = in[threadIdx.x];
  for (int d = 32; d > 0; d /= 2) value += __shfl_down_sync(kFull, value, d);  // FAULT
  out[threadIdx.x] = value;
}

// An index is taken modulo the width, which rotations use.
// EXPECT nothing
// LAUNCH 1 32
KERNEL(index_of_a_shuffle_wraps) {
  out[threadIdx.x] = __shfl_sync(kFull, in[threadIdx.x], static_cast<int>(threadIdx.x) + 33);
}

// EXPECT lane-not-in-mask
// LAUNCH 1 32
KERNEL(caller_not_in_mask) {
  int value = in[threadIdx.x];
  value += __shfl_xor_sync(0x0000ffffu, value, 1);  // FAULT
  if (threadIdx.x < 16) out[threadIdx.x] = value;
}

// EXPECT lane-not-in-mask
// LAUNCH 1 32
KERNEL(ballot_of_others) {
  const unsigned votes = __ballot_sync(0xfffffffeu, in[threadIdx.x] > 3);  // FAULT
  if (threadIdx.x > 0) out[threadIdx.x] = static_cast<int>(votes);
}

// EXPECT mask-mismatch
// LAUNCH 1 32
KERNEL(masks_differ) {
  const unsigned lane = threadIdx.x;
  const unsigned mask = lane == 5 ? kFull : 0xfffffff0u | (1u << lane);
  out[lane] = __any_sync(mask | 0xfffffff0u, in[lane] > 3);  // FAULT
}

// Both branches call with the full mask, so neither call ever completes.
// EXPECT mask-names-absent-lane
// LAUNCH 1 32
KERNEL(full_mask_in_both_branches) {
  const unsigned lane = threadIdx.x;
  if (lane < 16) {
    out[lane] = __shfl_sync(kFull, in[lane], 0);  // FAULT OTHER
  } else {
    out[lane] = static_cast<int>(__ballot_sync(kFull, in[lane] > 3)) + 1;  // FAULT OTHER
  }
}

// Lanes that skip the shuffle wait at the barrier, and the other lanes wait for them.
// EXPECT mask-names-absent-lane
// REASON which wait at a barrier
// LAUNCH 1 32
KERNEL(shuffle_skipped_by_half) {
  int value = in[threadIdx.x];
  if (threadIdx.x < 16) value += __shfl_down_sync(kFull, value, 8);  // FAULT
  __syncthreads();                                                   // FAULT OTHER
  out[threadIdx.x] = value;
}

// EXPECT invalid-barrier-count
// LAUNCH 1 64
KERNEL(count_is_no_multiple_of_32) {
  if (threadIdx.x < 32) asm volatile("bar.sync 1, %0;" ::"r"(n / 200) : "memory");  // FAULT
  out[threadIdx.x] = 1;
}

// EXPECT barrier-count-mismatch
// LAUNCH 1 128
KERNEL(counts_differ) {
  if (threadIdx.x < 64)
    asm volatile("bar.sync 1, 128;" ::: "memory");  // FAULT OTHER
  else
    asm volatile("bar.sync 1, 96;" ::: "memory");  // FAULT OTHER
  out[threadIdx.x] = 1;
}

// Two of three warps arrive at a barrier for three.
// EXPECT barrier-never-complete
// LAUNCH 1 96
KERNEL(too_few_for_named_barrier) {
  if (threadIdx.x < 64) asm volatile("bar.sync 1, 96;" ::: "memory");  // FAULT
  out[threadIdx.x] = 1;
}

// No block releases the lock.
// EXPECT no-progress
// LAUNCH 2 1
KERNEL(lock_never_released) {
  while (atomicCAS(&counter[0], 0u, 1u) != 0u) continue;  // FAULT
  __threadfence();
  out[0] += in[0];
}

// Thread 0 waits for a flag that thread 1 sets after a barrier at which thread 0 does not arrive.
// EXPECT no-progress
// LAUNCH 1 64
KERNEL(flag_set_behind_a_barrier) {
  volatile unsigned* flag = counter;
  if (threadIdx.x == 0)
    while (flag[0] == 0) continue;  // FAULT
  __syncthreads();
  if (threadIdx.x == 1) flag[0] = 1;
}
