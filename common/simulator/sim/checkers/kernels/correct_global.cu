// SPDX-License-Identifier: MIT
// Correct code that looks faulty, between blocks. kernels.cuh explains the comments.
#include <cuda/atomic>

#include "sim/checkers/kernels/kernels.cuh"

// As in the CUDA sample threadFenceReduction, the block with the last ticket reads all partial results.
// EXPECT nothing
// LAUNCH 8 64
KERNEL(last_block_by_ticket) {
  __shared__ bool s_last;
  if (threadIdx.x == 0) {
    scratch[blockIdx.x] = in[blockIdx.x];
    __threadfence();
    s_last = atomicInc(&counter[0], gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (s_last) {
    int sum = 0;
    for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x) sum += scratch[b];
    out[threadIdx.x] = sum;
    if (threadIdx.x == 0) counter[0] = 0;
  }
}

// A flag that is set and polled by atomics, with a fence on both sides.
// EXPECT nothing
// LAUNCH 8 1
KERNEL(polls_by_adding_nothing_with_fences) {
  int before = 0;
  if (blockIdx.x > 0) {
    while (atomicAdd(&counter[blockIdx.x - 1], 0u) == 0) continue;
    __threadfence();
    before = scratch[blockIdx.x - 1];
  }
  scratch[blockIdx.x] = before + in[blockIdx.x];
  __threadfence();
  atomicExch(&counter[blockIdx.x], 1u);
}

// All threads write and execute a fence; a barrier precedes one thread's ticket.
// EXPECT nothing
// LAUNCH 4 64
KERNEL(all_fence_one_counts) {
  __shared__ bool s_last;
  scratch[blockIdx.x * 64 + threadIdx.x] = in[threadIdx.x];
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) s_last = atomicAdd(&counter[0], 1u) == gridDim.x - 1;
  __syncthreads();
  if (s_last)
    for (unsigned b = 0; b < gridDim.x; ++b) out[b * 64 + threadIdx.x] = scratch[b * 64 + threadIdx.x];
}

// Whole tiles are passed on: all threads write, then a barrier, one fence, and the flag.
// EXPECT nothing
// LAUNCH 6 64
KERNEL(tiles_handed_on) {
  volatile unsigned* flag = counter;
  if (blockIdx.x > 0 && threadIdx.x == 0) {
    while (flag[blockIdx.x - 1] == 0) continue;
    __threadfence();
  }
  __syncthreads();
  int sum = in[threadIdx.x];
  if (blockIdx.x > 0) sum += scratch[(blockIdx.x - 1) * 64 + threadIdx.x];
  scratch[blockIdx.x * 64 + threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    flag[blockIdx.x] = 1;
  }
}

// Look-back by a whole warp, in which each lane polls another tile: volatile loads, a fence, then the values.
// EXPECT nothing
// LAUNCH 10 32
KERNEL(look_back_by_a_warp) {
  volatile unsigned* flag = counter;
  const int tile = static_cast<int>(blockIdx.x), lane = static_cast<int>(threadIdx.x);
  if (lane == 0) {
    scratch[tile] = in[tile];
    __threadfence();
    flag[tile] = 1;
  }
  __syncwarp();
  const int other = tile - 1 - lane;
  bool ready = other < 0;
  while (!__all_sync(kFull, ready)) ready = ready || flag[other] != 0;
  __threadfence();
  int sum = other >= 0 ? scratch[other] : 0;
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(kFull, sum, d);
  if (lane == 0) out[tile] = sum;
}

// A lock with a fence after acquiring and before releasing it.
// EXPECT nothing
// LAUNCH 6 1
KERNEL(lock_with_fences) {
  while (atomicCAS(&counter[0], 0u, 1u) != 0u) continue;
  __threadfence();
  out[0] = out[0] + in[blockIdx.x];
  __threadfence();
  atomicExch(&counter[0], 0u);
}

// The same lock with acquire and release.
// EXPECT nothing
// LAUNCH 6 1
KERNEL(lock_with_orders) {
  cuda::atomic_ref<unsigned, cuda::thread_scope_device> lock(counter[0]);
  while (lock.exchange(1u, cuda::memory_order_acquire) != 0u) continue;
  out[0] = out[0] + in[blockIdx.x];
  lock.store(0u, cuda::memory_order_release);
}

// Producer and consumer blocks with a queue of one element.
// EXPECT nothing
// LAUNCH 2 64
KERNEL(producer_and_consumer_blocks) {
  volatile unsigned* full = counter;
  for (unsigned round = 1; round <= 4; ++round) {
    if (blockIdx.x == 0) {
      if (threadIdx.x == 0) {
        while (full[1] != round - 1) continue;
        __threadfence();
      }
      __syncthreads();
      scratch[threadIdx.x] = in[round * 64 + threadIdx.x];
      __threadfence();
      __syncthreads();
      if (threadIdx.x == 0) full[0] = round;
    } else {
      if (threadIdx.x == 0) {
        while (full[0] != round) continue;
        __threadfence();
      }
      __syncthreads();
      out[round * 64 + threadIdx.x] = scratch[63 - threadIdx.x];
      __threadfence();
      __syncthreads();
      if (threadIdx.x == 0) full[1] = round;
    }
  }
}

// Grid-stride loop in place, with accesses of different widths.
// EXPECT nothing
// LAUNCH 2 64
KERNEL(grid_stride_in_place) {
  for (int i = static_cast<int>(blockIdx.x * 64 + threadIdx.x); i < n / 4; i += 128) {
    int4 v = reinterpret_cast<int4*>(out)[i];
    v.x += i;
    v.w += 1;
    reinterpret_cast<int4*>(out)[i] = v;
    out[4 * i + 1] = in[4 * i];
  }
}

// Bytes of one word belong to different blocks.
// EXPECT nothing
// LAUNCH 64 32
KERNEL(bytes_of_different_blocks) {
  auto* bytes = reinterpret_cast<unsigned char*>(out);
  if (threadIdx.x == 0) bytes[blockIdx.x] = static_cast<unsigned char>(in[blockIdx.x]);
}

// Global memory and barriers within one block.
// EXPECT nothing
// LAUNCH 1 128
KERNEL(one_block_with_barriers) {
  scratch[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  for (unsigned d = 1; d < 128; d *= 2) {
    const int left = threadIdx.x >= d ? scratch[threadIdx.x - d] : 0;
    __syncthreads();
    scratch[threadIdx.x] += left;
    __syncthreads();
  }
  out[threadIdx.x] = scratch[127 - threadIdx.x];
}

// The lanes of a warp exchange values through global memory.
// EXPECT nothing
// LAUNCH 2 64
KERNEL(syncwarp_orders_global_memory) {
  int* mine = scratch + blockIdx.x * 64 + threadIdx.x / 32 * 32;
  mine[threadIdx.x % 32] = in[threadIdx.x];
  __syncwarp();
  out[blockIdx.x * 64 + threadIdx.x] = mine[threadIdx.x % 32 ^ 1];
}

// The Programming Guide's way to implement an atomic operation: the swap checks what the first load found.
// For members of a struct, whose addresses the compiler computes in several ways, and for shared memory.
struct Extremes {
  int pad[3], greatest;
  double product;
};
__device__ Extremes extremes;
// EXPECT nothing
// LAUNCH 4 64
KERNEL(swap_in_a_struct) {
  __shared__ int s_most;
  if (threadIdx.x == 0) s_most = 0;
  __syncthreads();
  const int mine = in[blockIdx.x * 64 + threadIdx.x];
  Extremes* const all = n > 0 ? reinterpret_cast<Extremes*>(out) : &extremes;
  for (int* const place : {&all->greatest, &all->pad[1]}) {
    int old = *place, seen;
    do {
      seen = old;
      if (seen >= mine) break;
      old = atomicCAS(place, seen, mine);
    } while (old != seen);
  }
  auto* const product = reinterpret_cast<unsigned long long*>(&all->product);
  unsigned long long old = *product, seen;
  do {
    seen = old;
    old = atomicCAS(product, seen, __double_as_longlong(__longlong_as_double(seen) + mine));
  } while (old != seen);
  int most = s_most, before;
  do {
    before = most;
    most = atomicCAS(&s_most, before, before + mine);
  } while (most != before);
  __syncthreads();
  if (threadIdx.x == 0) atomicMax(&all->pad[0], s_most);
}

// A grid barrier whose last block resets the counter by a plain store; it is used for several rounds.
// EXPECT nothing
// LAUNCH 12 64 cooperative
KERNEL(barrier_that_resets_itself) {
  volatile unsigned* const round = &counter[1];
  const unsigned n_threads = gridDim.x * 64, gid = blockIdx.x * 64 + threadIdx.x;
  for (unsigned k = 0; k < 4; ++k) {
    scratch[k * n_threads + gid] = in[gid];
    __syncthreads();
    if (threadIdx.x == 0) {
      const unsigned mine = *round;
      __threadfence();
      if (atomicAdd(&counter[0], 1u) == gridDim.x - 1) {
        counter[0] = 0;
        __threadfence();
        *round = mine + 1;
      } else {
        while (*round == mine) continue;
      }
      __threadfence();
    }
    __syncthreads();
    out[gid] += scratch[k * n_threads + n_threads - 1 - gid];
  }
}

// Each element is read through the read-only cache before it is written; its neighbour is never written.
// EXPECT nothing
// LAUNCH 2 64
KERNEL(read_only_loads_before_the_write) {
  const int gid = static_cast<int>(blockIdx.x * 64 + threadIdx.x);
  int* const own = const_cast<int*>(in) + 2 * gid;
  const int old = __ldg(own);
  *own = old + 1;
  out[gid] = __ldg(own + 1) + old;
}

// A vector sets flags of one byte, or of two bytes, for several blocks, each of which waits for its own flag.
// EXPECT nothing
// LAUNCH 9 1
KERNEL(flags_set_by_a_vector) {
  if (blockIdx.x == 0) {
    for (int k = 1; k < 9; ++k) scratch[k] = in[k];
    __threadfence();
    asm volatile("st.volatile.global.v4.u8 [%0], {%1, %1, %1, %1};" ::"l"(__cvta_generic_to_global(counter)),
                 "r"(1)
                 : "memory");
    asm volatile(
        "st.volatile.global.v4.u16 [%0], {%1, %1, %1, %1};" ::"l"(__cvta_generic_to_global(counter + 2)),
        "h"(static_cast<short>(1))
        : "memory");
    return;
  }
  auto* bytes = reinterpret_cast<volatile unsigned char*>(counter);
  auto* halves = reinterpret_cast<volatile unsigned short*>(counter + 2);
  while ((blockIdx.x < 5 ? bytes[blockIdx.x - 1] : halves[blockIdx.x - 5]) == 0) continue;
  __threadfence();
  out[blockIdx.x] = scratch[blockIdx.x];
}

// Each of four warps sets a flag of one byte. Another one waits for all of them with one load, and the last
// one for each of them.
// EXPECT nothing
// LAUNCH 1 192
KERNEL(byte_flags_read_as_a_word) {
  if (threadIdx.x % 32 != 0) return;
  const unsigned warp = threadIdx.x / 32;
  auto* flag = reinterpret_cast<volatile unsigned char*>(counter);
  if (warp < 4) {
    scratch[warp] = in[warp];
    __threadfence();
    flag[warp] = 1;
    return;
  }
  if (warp == 4)
    while (*static_cast<volatile unsigned*>(counter) != 0x01010101) continue;
  else
    for (int k = 0; k < 4; ++k)
      while (flag[k] == 0) continue;
  __threadfence();
  for (unsigned k = 0; k < 4; ++k) out[(warp - 4) * 4 + k] = scratch[k];
}
