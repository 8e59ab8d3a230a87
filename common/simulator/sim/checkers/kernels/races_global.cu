// SPDX-License-Identifier: MIT
// Races in global memory, between blocks and within one. kernels.cuh explains the comments.
#include "sim/checkers/kernels/kernels.cuh"

// The fence is before the write that it should publish.
// EXPECT missing-fence
// LAUNCH 8 64
KERNEL(fence_too_early) {
  __shared__ bool s_last;
  if (threadIdx.x == 0) {
    __threadfence();
    scratch[blockIdx.x] = in[blockIdx.x];  // OTHER
    s_last = atomicAdd(&counter[0], 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (s_last && threadIdx.x < 8) out[threadIdx.x] = scratch[threadIdx.x];  // FAULT
}

// All threads write, but thread 0 executes its fence before the barrier, so it publishes only its own writes.
// EXPECT missing-fence
// LAUNCH 4 64
KERNEL(fence_before_barrier) {
  __shared__ bool s_last;
  if (threadIdx.x == 0) __threadfence();
  scratch[blockIdx.x * 64 + threadIdx.x] = in[threadIdx.x];  // OTHER
  __syncthreads();
  if (threadIdx.x == 0) s_last = atomicAdd(&counter[0], 1u) == gridDim.x - 1;
  __syncthreads();
  if (s_last)
    for (unsigned b = 0; b < gridDim.x; ++b)
      out[b * 64 + threadIdx.x] = scratch[b * 64 + threadIdx.x];  // FAULT
}

// A chain of blocks: each waits for its predecessor's flag and reads its sum. No fence before the flag is
// set.
// EXPECT missing-fence
// LAUNCH 6 1
KERNEL(look_back_without_fence) {
  volatile unsigned* flag = counter;
  int sum = in[blockIdx.x];
  if (blockIdx.x > 0) {
    while (flag[blockIdx.x - 1] == 0) continue;
    __threadfence();
    sum += scratch[blockIdx.x - 1];  // FAULT
  }
  scratch[blockIdx.x] = sum;  // OTHER
  flag[blockIdx.x] = 1;
  out[blockIdx.x] = sum;
}

// The same without a fence after the flag is read.
// EXPECT missing-fence
// LAUNCH 6 1
KERNEL(look_back_without_acquire) {
  volatile unsigned* flag = counter;
  int sum = in[blockIdx.x];
  if (blockIdx.x > 0) {
    while (flag[blockIdx.x - 1] == 0) continue;
    sum += scratch[blockIdx.x - 1];  // FAULT
  }
  scratch[blockIdx.x] = sum;  // OTHER
  __threadfence();
  flag[blockIdx.x] = 1;
  out[blockIdx.x] = sum;
}

// One thread waits and executes a fence; the others of its block read without a barrier in between.
// EXPECT global-race
// REASON has read it, and no barrier comes between
// LAUNCH 4 64
KERNEL(look_back_without_barrier) {
  volatile unsigned* flag = counter;
  if (blockIdx.x > 0 && threadIdx.x == 0) {
    while (flag[blockIdx.x - 1] == 0) continue;
    __threadfence();
  }
  int sum = in[threadIdx.x];
  if (blockIdx.x > 0) sum += scratch[(blockIdx.x - 1) * 64 + threadIdx.x];  // FAULT
  scratch[blockIdx.x * 64 + threadIdx.x] = sum;                             // OTHER
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) flag[blockIdx.x] = 1;
}

// A block-wide barrier orders only one block.
// EXPECT global-race
// LAUNCH 4 64
KERNEL(barrier_is_not_grid_wide) {
  scratch[blockIdx.x * 64 + threadIdx.x] = in[threadIdx.x];  // OTHER
  __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] =
      blockIdx.x > 0 ? scratch[(blockIdx.x - 1) * 64 + threadIdx.x] : 0;  // FAULT
}

// An atomic of block scope does not exclude other blocks.
// EXPECT global-race
// LAUNCH 4 32
KERNEL(atomic_of_block_scope) {
  if (threadIdx.x == 0) atomicAdd_block(&counter[0], 1u);  // FAULT OTHER
}

// The flag is polled by relaxed atomics that do not change it, and no fence comes after them.
// EXPECT missing-fence
// REASON its reader does not acquire what it announces
// LAUNCH 2 1
KERNEL(polls_by_other_atomics) {
  if (blockIdx.x == 0) {
    scratch[0] = in[0];  // OTHER
    scratch[1] = in[1];  // OTHER
    __threadfence();
    atomicExch(&counter[0], 1u);
  } else {
    while (atomicOr(&counter[0], 0u) == 0) continue;
    out[0] = scratch[0];  // FAULT
    while (atomicCAS(&counter[0], 1u, 1u) == 0) continue;
    out[1] = scratch[1];  // FAULT
  }
}

// The last thread reads what the others have written, without a fence after its ticket.
// EXPECT missing-fence
// REASON its reader does not acquire what it announces
// LAUNCH 8 1
KERNEL(last_thread_without_acquire) {
  scratch[blockIdx.x] = in[blockIdx.x];  // OTHER
  __threadfence();
  if (atomicAdd(&counter[0], 1u) != gridDim.x - 1) return;
  int sum = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) sum += scratch[b];  // FAULT
  out[0] = sum;
}

// The lock is released after a fence, but taken without one.
// EXPECT missing-fence
// REASON its reader does not acquire what it announces
// LAUNCH 8 1
KERNEL(lock_without_acquire) {
  while (atomicCAS(&counter[0], 0u, 1u) != 0u) continue;
  out[0] += in[blockIdx.x];  // FAULT OTHER
  __threadfence();
  atomicExch(&counter[0], 0u);
}

// EXPECT global-write-write-same-value
// LAUNCH 4 32
KERNEL(done_flag_by_all) {
  if (threadIdx.x == 0) out[0] = 1;  // FAULT OTHER
}

// The plain load decides whether to update, and the atomic does not check its value.
// EXPECT global-race
// LAUNCH 4 64
KERNEL(plain_look_before_an_atomic) {
  const int mine = in[blockIdx.x * 64 + threadIdx.x];
  if (out[0] < mine)           // FAULT
    atomicMax(&out[0], mine);  // OTHER
}

// Many blocks count up without a fence, and the last one sums their results.
// EXPECT missing-fence
// LAUNCH 40 1
KERNEL(last_of_many_blocks_without_fence) {
  scratch[blockIdx.x] = in[blockIdx.x];  // OTHER
  if (atomicAdd(&counter[0], 1u) != gridDim.x - 1) return;
  int sum = 0;
  for (unsigned block = 0; block < gridDim.x; ++block) sum += scratch[block];  // FAULT
  out[0] = sum;
}

// One block stores plainly to the counter that all blocks update: its own update must not hide the plain
// store.
// EXPECT global-race
// LAUNCH 6 1
KERNEL(counter_set_by_one_block) {
  if (blockIdx.x == 0) counter[0] = 5;  // OTHER
  atomicAdd(&counter[0], 1u);           // FAULT
}

// const __restrict__ promises that the kernel does not write this memory, and a barrier does not change that.
// EXPECT stale-read
// LAUNCH 1 64
KERNEL(read_only_load_of_what_was_written) {
  scratch[threadIdx.x] = in[threadIdx.x];  // OTHER
  __syncthreads();
  out[threadIdx.x] = __ldg(&scratch[threadIdx.x ^ 1]);  // FAULT
}

// EXPECT stale-read
// LAUNCH 2 64
KERNEL(read_only_load_of_ones_own_byte) {
  unsigned char* const mine = reinterpret_cast<unsigned char*>(scratch) + blockIdx.x * 64 + threadIdx.x;
  *mine = static_cast<unsigned char>(in[threadIdx.x]);  // OTHER
  out[blockIdx.x * 64 + threadIdx.x] = __ldg(mine);     // FAULT
}

// Block 1 looks at the byte beside the flag.
__device__ unsigned char byte_flags[4];
// EXPECT global-race
// LAUNCH 2 1
KERNEL(looks_at_the_neighbour_of_a_flag) {
  volatile unsigned char* const flags = byte_flags;
  if (blockIdx.x == 0) {
    out[0] = in[0];  // FAULT OTHER
    __threadfence();
    flags[0] = 1;
  } else {
    const int flag = flags[1];
    __threadfence();
    out[1] = flag + out[0];  // FAULT OTHER
  }
}

// A volatile word of another block is read by halves, which order nothing.
// EXPECT global-race
// LAUNCH 2 1
KERNEL(volatile_word_read_by_halves) {
  if (blockIdx.x == 0) {
    *reinterpret_cast<volatile int*>(out) = in[0];  // FAULT OTHER
  } else {
    out[1] = reinterpret_cast<volatile short*>(out)[0];  // FAULT OTHER
  }
}

// Blocks 0 and 1 set flags of one byte in the same word. Block 2 waits for block 1 only.
// EXPECT global-race
// LAUNCH 3 1
KERNEL(flag_of_another_block_in_the_word) {
  auto* flag = reinterpret_cast<volatile unsigned char*>(counter);
  if (blockIdx.x < 2) {
    scratch[blockIdx.x] = in[blockIdx.x];  // OTHER
    __threadfence();
    flag[blockIdx.x] = 1;
    return;
  }
  for (unsigned look = 0; look < 100 || flag[1] == 0;) ++look;
  __threadfence();
  out[0] = scratch[0];  // FAULT
  out[1] = scratch[1];
}

// Two items have the same position in the output, in one warp.
// EXPECT global-race
// REASON positions must differ
// LAUNCH 1 32
KERNEL(same_position_in_a_warp) {
  out[threadIdx.x / 2] = in[threadIdx.x] + static_cast<int>(threadIdx.x);  // FAULT OTHER
}

// The same in different warps.
// EXPECT global-race
// REASON positions must differ
// LAUNCH 1 128
KERNEL(same_position_in_a_block) {
  out[threadIdx.x % 64] = in[threadIdx.x] + static_cast<int>(threadIdx.x);  // FAULT OTHER
}

// The same in different blocks.
// EXPECT global-race
// REASON positions must differ
// LAUNCH 2 32
KERNEL(same_position_in_the_grid) {
  out[threadIdx.x] = in[threadIdx.x] + static_cast<int>(blockIdx.x);  // FAULT OTHER
}

// Not a matter of barriers: a neighbour's item is read from the array that is written.
// EXPECT global-race
// REASON should it read another array
// LAUNCH 1 32
KERNEL(neighbours_new_item) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] + (i > 0 ? out[i - 1] : 0);  // FAULT OTHER
}

// The array that holds the positions is named.
// EXPECT global-race
// REASON the position comes from s_rank (line
// LAUNCH 1 32
KERNEL(same_position_from_ranks) {
  __shared__ unsigned s_rank[32];
  s_rank[threadIdx.x] = threadIdx.x / 2;
  __syncthreads();
  out[s_rank[31 - threadIdx.x]] = in[threadIdx.x] + static_cast<int>(threadIdx.x);  // FAULT OTHER
}

// Each round stores at other positions than the one before, and a barrier between the rounds is missing.
// EXPECT global-race
// REASON no barrier between them
// LAUNCH 1 128
KERNEL(positions_of_the_next_round) {
#pragma unroll 1
  for (unsigned round = 0; round < 2; ++round)
    out[(threadIdx.x + round * 64) % 128] = static_cast<int>(threadIdx.x + round);  // FAULT OTHER
}
