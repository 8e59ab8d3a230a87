// SPDX-License-Identifier: MIT
// Faults that look alike, but of which the message must name the right reason. kernels.cuh explains the
// comments.
#include "sim/checkers/kernels/kernels.cuh"

// A look-back with all fences, in which a tile's prefix overwrites its total: a later tile may still read the
// total, and takes the prefix for it.
// EXPECT global-race
// REASON this write overwrites the value from
// LAUNCH 16 1
KERNEL(prefix_overwrites_total) {
  volatile unsigned* flag = counter;
  const auto tile = static_cast<int>(atomicAdd(&counter[63], 1u));
  int carry = 0;
  scratch[tile] = in[tile];
  __threadfence();
  flag[tile] = tile == 0 ? 2 : 1;
  for (int k = tile - 1; k >= 0; --k) {
    unsigned state;
    while ((state = flag[k]) == 0) continue;
    __threadfence();
    carry += scratch[k];  // FAULT
    if (state == 2) break;
  }
  if (tile > 0) {
    scratch[tile] = carry + in[tile];  // OTHER
    __threadfence();
    flag[tile] = 2;
  }
  out[tile] = carry;
}

// Two buffers of 32 items. The reader says that it is done with one before it has read it.
// EXPECT global-race
// REASON this write overwrites the value from
// LAUNCH 2 32
KERNEL(double_buffer_is_reused) {
  volatile unsigned *filled = counter, *done = counter + 1;
  int sum = 0;
  for (unsigned i = 0; i < 6; ++i) {
    if (blockIdx.x == 0) {
      while (done[0] + 2 <= i) continue;
      __threadfence();
      scratch[i % 2 * 32 + threadIdx.x] = in[i];  // OTHER
      __threadfence();
      __syncwarp();
      if (threadIdx.x == 0) filled[0] = i + 1;
    } else {
      while (filled[0] <= i) continue;
      __threadfence();
      if (threadIdx.x == 0) done[0] = i + 1;
      sum += scratch[i % 2 * 32 + threadIdx.x];  // FAULT
    }
  }
  out[blockIdx.x * 32 + threadIdx.x] = sum;
}

// The flag is set before the data is written, with fences on both sides.
// EXPECT global-race
// REASON was set before this write
// LAUNCH 2 1
KERNEL(flag_before_data) {
  volatile unsigned* flag = counter;
  if (blockIdx.x == 0) {
    scratch[1] = in[1];
    __threadfence();
    flag[0] = 1;
    scratch[0] = in[0];  // OTHER
  } else {
    while (flag[0] == 0) continue;
    __threadfence();
    for (int wait = 0; wait < 20000; ++wait) out[1] += flag[0] != 0;
    out[0] = scratch[0] + scratch[1];  // FAULT
  }
}

// All threads write, but the one that sets the flag does not wait for the others.
// EXPECT global-race
// REASON by another thread of block 0, which must wait for it at a barrier first
// LAUNCH 2 64
KERNEL(flag_without_barrier_before_it) {
  volatile unsigned* flag = counter;
  if (blockIdx.x == 0) {
    scratch[threadIdx.x] = in[threadIdx.x];  // OTHER
    __threadfence();
    if (threadIdx.x == 0) flag[0] = 1;
  } else {
    if (threadIdx.x == 0)
      while (flag[0] == 0) continue;
    __syncthreads();
    __threadfence();
    out[threadIdx.x] = scratch[threadIdx.x];  // FAULT
  }
}

// All threads of a block publish one value: who has seen the flag has not waited for the last write.
// EXPECT global-race
// REASON several threads write the same value there
// LAUNCH 2 64
KERNEL(all_threads_publish) {
  volatile unsigned* flag = counter;
  if (blockIdx.x == 0) {
    scratch[0] = in[0];  // OTHER
    __threadfence();
    flag[0] = 1;
  } else {
    while (flag[0] == 0) continue;
    __threadfence();
    out[threadIdx.x] = scratch[0];  // FAULT
  }
}

// Threads of one block change a word under a lock of the grid, without fences.
// EXPECT missing-fence
// REASON a lock passes between them
// LAUNCH 1 64
KERNEL(lock_within_a_block) {
  if (threadIdx.x % 32 != 0) return;
  while (atomicExch(&counter[0], 1u) != 0) continue;
  out[0] = out[0] + 1;  // FAULT OTHER
  atomicExch(&counter[0], 0u);
}

// Every lane takes the lock in turn.
// EXPECT missing-fence
// REASON These lanes of one warp wait for each other's lock
// LAUNCH 1 32
KERNEL(lock_within_a_warp) {
  while (atomicCAS(&counter[0], 0u, 1u) != 0) continue;
  out[0] = out[0] + 1;  // FAULT OTHER
  atomicExch(&counter[0], 0u);
}

// A lock in shared memory.
// EXPECT missing-fence
// REASON a lock passes between them
// LAUNCH 1 64
KERNEL(lock_in_shared_memory) {
  __shared__ unsigned s_lock;
  __shared__ int s_sum;
  if (threadIdx.x == 0) s_lock = 0, s_sum = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    while (atomicCAS(&s_lock, 0u, 1u) != 0) continue;
    s_sum = s_sum + 1;  // FAULT OTHER
    atomicExch(&s_lock, 0u);
  }
  __syncthreads();
  out[threadIdx.x] = s_sum;
}

// A counter beside the data is no lock.
// EXPECT global-race
// REASON both read it, change it and write it back
// LAUNCH 1 64
KERNEL(counter_is_no_lock) {
  for (int i = 0; i < 3; ++i) {
    out[0] = out[0] + 1;  // FAULT OTHER
    atomicAdd(&counter[0], 1u);
  }
}

// A round of a scan that gets one array for both of its sides.
// EXPECT global-race
// REASON both arrays are the same
// LAUNCH 1 64 scratch_at 0
KERNEL(one_array_for_both_sides) {
  const unsigned t = threadIdx.x;
  scratch[t] = t < 2 ? 1 : out[t - 2];  // FAULT OTHER
}

// The totals begin where the sums still go on.
// EXPECT global-race
// REASON two arrays of the launch overlap: one begins at out, element 0 of 4096, the other at out, element 40
// LAUNCH 2 32 scratch_at 40
KERNEL(totals_within_the_sums) {
  out[blockIdx.x * 32 + threadIdx.x] = in[threadIdx.x];  // FAULT OTHER
  if (threadIdx.x == 0) scratch[blockIdx.x] = 3;         // FAULT OTHER
}
