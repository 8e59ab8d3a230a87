// SPDX-License-Identifier: MIT
// Changes of a word by a strong load and a strong store. kernels.cuh explains the comments.
#include "sim/checkers/kernels/kernels.cuh"

#include <cuda/atomic>

// EXPECT lost-update
// REASON atomicAdd
// LAUNCH 1 256
KERNEL(volatile_increments_of_warps) {
  __shared__ volatile int s_count[32];
  if (threadIdx.x < 32) s_count[threadIdx.x] = 0;
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < n; i += 256)
    if (in[i] > 10) s_count[threadIdx.x % 32] = s_count[threadIdx.x % 32] + 1;  // FAULT OTHER
  __syncthreads();
  if (threadIdx.x < 32) out[threadIdx.x] = s_count[threadIdx.x];
}

// EXPECT lost-update
// REASON one operation is needed here
// LAUNCH 24 32
KERNEL(volatile_total_of_blocks) {
  volatile int* const total = out;
  if (threadIdx.x == 0)
    for (int k = 0; k < 8; ++k) total[0] = total[0] + in[blockIdx.x * 8 + k];  // FAULT OTHER
}

// Not even release and acquire make one operation of two.
// EXPECT lost-update
// LAUNCH 1 256
KERNEL(sequential_increments) {
  const cuda::atomic_ref<int, cuda::thread_scope_device> total(out[0]);
  if (threadIdx.x % 32 == 0)
    for (int k = 0; k < 8; ++k) total = total + in[threadIdx.x + k];  // FAULT OTHER
}

// A hint, since a program that checks again later may be right.
// EXPECT lost-update
// LAUNCH 1 1024
KERNEL(maximum_by_check_and_store) {
  __shared__ volatile int s_most[8];
  if (threadIdx.x < 8) s_most[threadIdx.x] = 0;
  __syncthreads();
  const int mine = in[threadIdx.x];
  if (threadIdx.x % 32 < 8 && mine > s_most[threadIdx.x % 32])
    s_most[threadIdx.x % 32] = mine;  // FAULT OTHER
  __syncthreads();
  if (threadIdx.x < 8) out[threadIdx.x] = s_most[threadIdx.x];
}

// EXPECT lost-update
// LAUNCH 1 256
KERNEL(addition_that_an_assignment_loses) {
  __shared__ int s_total;
  volatile int* const total = &s_total;
  if (threadIdx.x == 0) s_total = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0)
    for (int k = 0; k < 16; ++k)
      if (threadIdx.x < 128)
        *total = *total + 2;  // FAULT OTHER
      else
        atomicAdd(&s_total, 1);  // OTHER
  __syncthreads();
  if (threadIdx.x == 0) out[0] = s_total;
}

// EXPECT lost-update
// LAUNCH 1 256
KERNEL(volatile_counters_of_16_bits) {
  __shared__ volatile unsigned short s_count[32];
  if (threadIdx.x < 32) s_count[threadIdx.x] = 0;
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < n; i += 256)
    s_count[threadIdx.x % 32] = static_cast<unsigned short>(s_count[threadIdx.x % 32] + 1);  // FAULT OTHER
  __syncthreads();
  if (threadIdx.x < 32) out[threadIdx.x] = s_count[threadIdx.x];
}

// A hint, since it could be the number of a round, to which all warps are to go on.
// EXPECT lost-update
// LAUNCH 1 512
KERNEL(one_increment_of_each_warp) {
  __shared__ volatile int s_count;
  if (threadIdx.x == 0) s_count = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) s_count = s_count + 1;  // FAULT OTHER
  __syncthreads();
  if (threadIdx.x == 0) out[0] = s_count;
}

// Even a warp that adds nothing loses what others have added.
// EXPECT lost-update
// LAUNCH 1 512
KERNEL(total_to_which_most_add_nothing) {
  __shared__ volatile int s_total;
  if (threadIdx.x == 0) s_total = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) s_total = s_total + (threadIdx.x == 96 ? n : 0);  // FAULT OTHER
  __syncthreads();
  if (threadIdx.x == 0) out[0] = s_total;
}

// The lock is none: two warps may both find 0.
// EXPECT lost-update
// LAUNCH 1 512
KERNEL(total_under_a_broken_lock) {
  __shared__ volatile int s_locked, s_total;
  if (threadIdx.x == 0) s_locked = 0, s_total = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    for (int k = 0; k < 8; ++k) {
      while (s_locked != 0) continue;
      s_locked = 1;
      s_total = s_total + in[threadIdx.x + k];  // FAULT OTHER
      s_locked = 0;
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) out[0] = s_total;
}

// --- right ones --------------------------------------------------------------------------------------------

// EXPECT nothing
// LAUNCH 1 256
KERNEL(every_warp_sets_the_same_flag) {
  __shared__ volatile int s_found, s_state;
  if (threadIdx.x == 0) s_found = 0, s_state = 0;
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < n && threadIdx.x % 32 == 0; i += 256) {
    if (in[i] > 50 && s_found == 0) s_found = 1;
    s_state = s_state | 4;
  }
  __syncthreads();
  if (threadIdx.x == 0) out[0] = s_found + s_state;
}

// EXPECT nothing
// LAUNCH 1 256
KERNEL(resets_after_a_barrier) {
  __shared__ volatile int s_changed;
  if (threadIdx.x == 0) s_changed = 0;
  __syncthreads();
  for (unsigned round = 0; round < 8; ++round) {
    const int before = threadIdx.x % 32 == 0 ? s_changed : 0;
    __syncthreads();
    if (threadIdx.x == 32 * round) s_changed = before + 1;
    __syncthreads();
    if (threadIdx.x == 0 && s_changed > 3) s_changed = 0;
    __syncthreads();
  }
  if (threadIdx.x == 0) out[0] = s_changed;
}

// Peterson's filter for four warps.
// EXPECT nothing
// LAUNCH 1 128
KERNEL(filter_lock) {
  __shared__ volatile int s_level[4], s_victim[4], s_total;
  if (threadIdx.x < 4) s_level[threadIdx.x] = 0, s_victim[threadIdx.x] = 0;
  if (threadIdx.x == 0) s_total = 0;
  __syncthreads();
  const int me = static_cast<int>(threadIdx.x / 32);
  const auto others = [&](int level) {
    for (int k = 0; k < 4; ++k)
      if (k != me && s_level[k] >= level) return true;
    return false;
  };
  if (threadIdx.x % 32 == 0)
#pragma unroll
    for (int k = 0; k < 8; ++k) {
#pragma unroll
      for (int level = 1; level < 4; ++level) {
        s_level[me] = level;
        s_victim[level] = me;
        __threadfence_block();
        while (others(level) && s_victim[level] == me) continue;
      }
      __threadfence_block();
      s_total = s_total + in[k];
      __threadfence_block();
      s_level[me] = 0;
    }
  __syncthreads();
  if (threadIdx.x == 0) out[0] = s_total;
}

// While one thread holds the lock, the compare-and-swaps of the others fail and change nothing. Its own store
// that releases the lock comes after its volatile load of it.
// EXPECT nothing
// LAUNCH 8 64
KERNEL(lock_that_looks_before_it_swaps) {
  volatile unsigned* const lock = counter;
  volatile int* const total = out;
  if (threadIdx.x % 32 == 0)
    for (int left = 4; left > 0;)
      if (*lock == 0 && atomicCAS(counter, 0u, 1u) == 0) {
        __threadfence();
        *total = *total + left;
        __threadfence();
        *lock = 0;
        --left;
      }
}

// EXPECT nothing
// LAUNCH 6 1
KERNEL(sequence_lock) {
  const cuda::atomic_ref<unsigned, cuda::thread_scope_device> sequence(counter[0]);
  volatile int* const data = scratch;
  if (blockIdx.x == 0) {
    for (int k = 1; k < 16; ++k) {
      sequence.store(sequence.load(cuda::memory_order_relaxed) + 1, cuda::memory_order_relaxed);
      __threadfence();
      data[0] = k, data[1] = -k;
      __threadfence();
      sequence.store(sequence.load(cuda::memory_order_relaxed) + 1, cuda::memory_order_relaxed);
    }
    return;
  }
  for (int tries = 0; tries < 64; ++tries) {
    const unsigned before = sequence.load(cuda::memory_order_acquire);
    if (before == 0 || before % 2 != 0) continue;
    const int sum = data[0] + data[1];
    __threadfence();
    if (sequence.load(cuda::memory_order_relaxed) == before) out[blockIdx.x] = sum;
  }
}

// Each block writes its own word twice, and reads those of the blocks before it.
// EXPECT nothing
// LAUNCH 24 1
KERNEL(state_words_of_a_look_back) {
  auto* const state = reinterpret_cast<volatile unsigned long long*>(out);
  const unsigned tile = atomicAdd(counter, 1u);
  const auto own = static_cast<unsigned long long>(in[tile]);
  if (state[tile] != 0) return;
  state[tile] = 1ull << 32 | own;
  unsigned long long sum = own;
  for (unsigned k = tile; k > 0; --k) {
    unsigned long long there = 0;
    while ((there = state[k - 1]) == 0) continue;
    sum += there & 0xffffffff;
    if (there >> 32 == 2) break;
  }
  state[tile] = 2ull << 32 | sum;
}

// The total goes from block to block with a flag.
// EXPECT nothing
// LAUNCH 12 64
KERNEL(total_that_is_handed_on) {
  volatile unsigned* const turn = counter;
  volatile int* const total = out;
  if (threadIdx.x == 0) {
    const int early = *total;
    while (*turn != blockIdx.x) continue;
    __threadfence();
    *total = *total + in[blockIdx.x] + early * 0;
    __threadfence();
    *turn = *turn + 1;
  }
}
