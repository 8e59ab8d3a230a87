// SPDX-License-Identifier: MIT
// Correct code that looks faulty, within a block. kernels.cuh explains the comments.
#include <cooperative_groups.h>

#include "sim/checkers/kernels/kernels.cuh"

namespace cg = cooperative_groups;

// EXPECT nothing
// LAUNCH 1 64
KERNEL(warp_synchronous_with_syncwarp) {
  __shared__ int s_data[64];
  const unsigned tid = threadIdx.x;
  s_data[tid] = in[tid];
  __syncthreads();
  if (tid < 32) {
    int sum = s_data[tid] + s_data[tid + 32];
    for (unsigned d = 16; d > 0; d /= 2) {
      __syncwarp();
      s_data[tid] = sum;
      __syncwarp();
      sum += s_data[(tid + d) % 32];
    }
    if (tid == 0) out[0] = sum;
  }
}

// Tiles of 16 lanes: each orders its own half of the warp.
// EXPECT nothing
// LAUNCH 1 64
KERNEL(cooperative_tiles) {
  __shared__ int s_data[64];
  const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  s_data[threadIdx.x] = in[threadIdx.x];
  tile.sync();
  int value = s_data[threadIdx.x ^ 15];
  tile.sync();
  s_data[threadIdx.x] = value;
  for (unsigned d = 8; d > 0; d /= 2) value += tile.shfl_down(value, d);
  tile.sync();
  out[threadIdx.x] = s_data[threadIdx.x ^ 3] + (tile.thread_rank() == 0 ? value : 0);
}

// The lanes of a divergent branch cooperate.
// EXPECT nothing
// LAUNCH 1 64
KERNEL(coalesced_group) {
  if (in[threadIdx.x] > 40) {
    const auto group = cg::coalesced_threads();
    int value = in[threadIdx.x];
    value += group.shfl(value, 0);
    if (group.thread_rank() == 0) atomicAdd(&out[0], value);
  }
}

// Neighbouring bytes belong to different threads.
// EXPECT nothing
// LAUNCH 1 64
KERNEL(bytes_side_by_side) {
  __shared__ unsigned char s_flags[64];
  s_flags[threadIdx.x] = static_cast<unsigned char>(threadIdx.x);
  s_flags[threadIdx.x] += 1;
  __syncthreads();
  out[threadIdx.x] = s_flags[63 - threadIdx.x];
  __syncthreads();
  if (threadIdx.x < 16) reinterpret_cast<int*>(s_flags)[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] += s_flags[threadIdx.x];
}

// Producer and consumer warps pass a buffer back and forth with two named barriers.
// EXPECT nothing
// LAUNCH 1 64
KERNEL(producer_and_consumer) {
  __shared__ int s_data[32];
  if (threadIdx.x < 32) {
    for (int round = 0; round < 4; ++round) {
      if (round > 0) asm volatile("bar.sync 2, 64;" ::: "memory");
      s_data[threadIdx.x] = in[round * 32 + threadIdx.x];
      asm volatile("bar.arrive 1, 64;" ::: "memory");
    }
  } else {
    for (int round = 0; round < 4; ++round) {
      asm volatile("bar.sync 1, 64;" ::: "memory");
      out[round * 32 + threadIdx.x - 32] = s_data[threadIdx.x - 32] + s_data[63 - threadIdx.x];
      if (round < 3) asm volatile("bar.arrive 2, 64;" ::: "memory");
    }
  }
}

// Two teams of a block, each with its own barrier.
// EXPECT nothing
// LAUNCH 1 128
KERNEL(named_barrier_per_team) {
  __shared__ int s_data[128];
  const unsigned team = threadIdx.x / 64;
  s_data[threadIdx.x] = in[threadIdx.x];
  if (team == 0)
    asm volatile("bar.sync 1, 64;" ::: "memory");
  else
    asm volatile("bar.sync 2, 64;" ::: "memory");
  out[threadIdx.x] = s_data[team * 64 + 63 - threadIdx.x % 64];
  __syncthreads();
  out[threadIdx.x] += s_data[127 - threadIdx.x];
}

// Thread 0 polls a shared flag; release and acquire by fences of block scope.
// EXPECT nothing
// LAUNCH 1 64
KERNEL(shared_flag_with_fences) {
  __shared__ volatile int s_flag;
  __shared__ int s_value;
  if (threadIdx.x == 0) s_flag = 0;
  __syncthreads();
  if (threadIdx.x == 32) {
    s_value = in[0];
    __threadfence_block();
    s_flag = 1;
  }
  if (threadIdx.x == 0) {
    while (s_flag == 0) continue;
    __threadfence_block();
    out[0] = s_value;
  }
}

// A question to the whole block without shared memory: the barrier counts the threads.
// EXPECT nothing
// LAUNCH 1 64
KERNEL(barrier_votes) {
  const int any = __syncthreads_or(in[threadIdx.x] > 50);
  const int n_high = __syncthreads_count(in[threadIdx.x] > 50);
  const int all = __syncthreads_and(in[threadIdx.x] >= 0);
  out[threadIdx.x] = any + n_high + all;
}

// Threads leave after the last barrier.
// EXPECT nothing
// LAUNCH 1 96
KERNEL(exit_after_last_barrier) {
  __shared__ int s_data[96];
  s_data[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  if (threadIdx.x >= 32) return;
  out[threadIdx.x] = s_data[threadIdx.x] + s_data[threadIdx.x + 32] + s_data[threadIdx.x + 64];
}

// The condition around the barrier is the same for the whole block.
// EXPECT nothing
// LAUNCH 4 64
KERNEL(barrier_in_uniform_branch) {
  __shared__ int s_data[64];
  int value = in[threadIdx.x];
  if (blockIdx.x % 2 == 0) {
    s_data[threadIdx.x] = value;
    __syncthreads();
    value += s_data[63 - threadIdx.x];
  }
  for (unsigned k = 0; k < blockIdx.x; ++k) {
    __syncthreads();
    s_data[threadIdx.x] = value;
    __syncthreads();
    value += s_data[(threadIdx.x + k) % 64];
  }
  out[blockIdx.x * 64 + threadIdx.x] = value;
}

// The threads of a warp reach the barrier one after another, because each waits for a lock first.
// EXPECT nothing
// LAUNCH 1 64
KERNEL(late_at_the_barrier) {
  __shared__ int s_sum;
  __shared__ unsigned s_lock;
  if (threadIdx.x == 0) {
    s_sum = 0;
    s_lock = 0;
  }
  __syncthreads();
  bool done = false;
  while (!done) {
    if (atomicCAS(&s_lock, 0u, 1u) == 0u) {
      __threadfence_block();
      s_sum += in[threadIdx.x];
      __threadfence_block();
      atomicExch(&s_lock, 0u);
      done = true;
    }
  }
  __syncthreads();
  out[threadIdx.x] = s_sum;
}

// The first lanes of a warp reduce by shuffles; some receive undefined values, which are not used.
// EXPECT nothing
// LAUNCH 1 256
KERNEL(partial_warp_reduction) {
  __shared__ int s_total[8];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int sum = in[threadIdx.x];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(kFull, sum, d);
  if (lane == 0) s_total[warp] = sum;
  __syncthreads();
  if (threadIdx.x < 8) {
    sum = s_total[threadIdx.x];
    for (int d = 4; d > 0; d /= 2) sum += __shfl_down_sync(0xffu, sum, d);
    if (threadIdx.x == 0) out[0] = sum;
  }
}

// The tail of a warp: values of inactive lanes are discarded.
// EXPECT nothing
// LAUNCH 1 32 n 20
KERNEL(shuffle_with_ballot_mask) {
  const int lane = static_cast<int>(threadIdx.x);
  const unsigned mask = __ballot_sync(kFull, lane < n);
  if (lane < n) {
    int sum = in[lane];
    for (int d = 16; d > 0; d /= 2) {
      const int other = __shfl_down_sync(mask, sum, d);
      if (lane + d < n) sum += other;
    }
    if (lane == 0) out[0] = sum;
  }
}

// The lanes determine by match and ballot which of them adds for a group.
// EXPECT nothing
// LAUNCH 1 64
KERNEL(warp_aggregated) {
  __shared__ unsigned s_bins[4];
  if (threadIdx.x < 4) s_bins[threadIdx.x] = 0;
  __syncthreads();
  const unsigned lane = threadIdx.x % 32;
  const int bin = in[threadIdx.x] & 3;
  const unsigned peers = __match_any_sync(kFull, bin);
  const int leader = __ffs(static_cast<int>(peers)) - 1;
  if (static_cast<int>(lane) == leader) atomicAdd(&s_bins[bin], static_cast<unsigned>(__popc(peers)));
  __syncthreads();
  if (threadIdx.x < 4) counter[threadIdx.x] = s_bins[threadIdx.x];
}

// Each branch has a mask with exactly the lanes that take it.
// EXPECT nothing
// LAUNCH 1 32
KERNEL(masks_of_both_branches) {
  const unsigned lane = threadIdx.x;
  int value = in[lane];
  if (lane < 12)
    value += __shfl_sync(0x00000fffu, value, 3);
  else
    value -= __shfl_sync(0xfffff000u, value, 20);
  out[lane] = value;
}

// One buffer, reused after barriers as words, vectors and bytes.
// EXPECT nothing
// LAUNCH 1 128
KERNEL(buffer_changes_shape) {
  __shared__ int4 s_data[32];
  if (threadIdx.x < 32) s_data[threadIdx.x] = reinterpret_cast<const int4*>(in)[threadIdx.x];
  __syncthreads();
  int value = reinterpret_cast<int*>(s_data)[127 - threadIdx.x];
  __syncthreads();
  reinterpret_cast<unsigned char*>(s_data)[threadIdx.x] = static_cast<unsigned char>(value);
  __syncthreads();
  value += reinterpret_cast<unsigned char*>(s_data)[(threadIdx.x + 1) % 128];
  __syncthreads();
  if (threadIdx.x < 64) reinterpret_cast<double*>(s_data)[threadIdx.x] = 0.5 * value;
  __syncthreads();
  out[threadIdx.x] = value + static_cast<int>(reinterpret_cast<double*>(s_data)[threadIdx.x / 2]);
}

// Structures with padding are passed through shared and local memory.
struct Padded {
  char tag;
  int value;
  short extra;
  double weight;
};

// EXPECT nothing
// LAUNCH 1 64
KERNEL(padded_structures) {
  __shared__ Padded s_items[64];
  Padded mine[2];
  mine[in[threadIdx.x] & 1] = Padded{'a', in[threadIdx.x], 2, 0.5};
  s_items[threadIdx.x] = mine[in[threadIdx.x] & 1];
  __syncthreads();
  const Padded other = s_items[63 - threadIdx.x];
  out[threadIdx.x] = other.tag + other.value + other.extra + static_cast<int>(other.weight);
}

// Only lanes that do not divide have a divisor of 0, and a float may be divided by it.
// EXPECT nothing
// LAUNCH 1 32
KERNEL(guarded_division) {
  const int by = static_cast<int>(threadIdx.x % 8);
  out[threadIdx.x] = by != 0 ? in[threadIdx.x] / by : 1.0f / static_cast<float>(by) > 1.0f;
}

// Local memory: each thread has its own stack, and a call passes structures by value.
struct Triple {
  int a, b, c;
};
__device__ __noinline__ Triple rotated(Triple t) {
  return {t.b, t.c, t.a};
}

// EXPECT nothing
// LAUNCH 1 64
KERNEL(local_stack) {
  int stack[8];
  int top = 0;
  for (int k = 0; k < (in[threadIdx.x] & 7); ++k) stack[top++] = k;
  int sum = 0;
  while (top > 0) sum += stack[--top];
  const Triple t = rotated(rotated({sum, 1, 2}));
  out[threadIdx.x] = t.a + 10 * t.b + 100 * t.c;
}

// All threads read a word, and one thread writes it after a barrier.
// EXPECT nothing
// LAUNCH 1 128
KERNEL(many_readers_then_writer) {
  __shared__ int s_pivot;
  int sum = 0;
  for (int round = 0; round < 4; ++round) {
    if (threadIdx.x == 0) s_pivot = in[round];
    __syncthreads();
    sum += s_pivot;
    __syncthreads();
  }
  out[threadIdx.x] = sum;
}

// A pointer into one of two arrays, pointers that step through arrays, and arrays in dynamic shared memory.
// EXPECT nothing
// LAUNCH 2 64 shared 512
KERNEL(pointers_into_several_arrays) {
  extern __shared__ int s_dynamic[];
  __shared__ int s_even[64], s_odd[64];
  __shared__ int2 s_pairs[32];
  int* const first = s_dynamic;
  int* const second = s_dynamic + 64;
  s_even[threadIdx.x] = s_odd[threadIdx.x] = first[threadIdx.x] = second[threadIdx.x] = in[threadIdx.x];
  if (threadIdx.x < 32) s_pairs[threadIdx.x] = make_int2(in[threadIdx.x], 1);
  __syncthreads();
  const int* which = in[blockIdx.x] % 2 == 0 ? s_even : s_odd;
  int sum = 0;
  for (const int* p = which + threadIdx.x % 8; p < which + 64; p += 8) sum += *p;
  for (int* p = &s_odd[63]; p >= s_odd; --p) sum -= *p;
  which = in[threadIdx.x] > 50 ? first : in;
  for (int k = 0; k < 64; ++k) sum += which[k] + second[63 - k] + reinterpret_cast<int*>(s_pairs)[k];
  out[blockIdx.x * 64 + threadIdx.x] = sum;
}

// Every thread reads its neighbour's element; those at the end discard the value.
// EXPECT nothing
// LAUNCH 2 64 n 100
KERNEL(discarded_reads_of_what_nobody_wrote) {
  __shared__ int s_data[65];
  const int gid = static_cast<int>(blockIdx.x * 64 + threadIdx.x);
  if (gid < n) s_data[threadIdx.x] = in[gid];
  __syncthreads();
  const volatile int* const seen = s_data;  // a load that the compiler does not put into a branch
  const int here = seen[threadIdx.x], next = seen[threadIdx.x + 1];
  const bool last = threadIdx.x == 63 || gid + 1 >= n;
  const int kept = last ? here : next;
  if (gid < n) out[gid] = kept;
}
