// SPDX-License-Identifier: MIT
// Volatile and atomic accesses of the lanes of one warp: code that relies on lanes running in step, and code
// that only looks so. kernels.cuh explains the comments.
#include <cuda/atomic>
#include <cuda/barrier>

#include "sim/checkers/kernels/kernels.cuh"

using Ref = cuda::atomic_ref<int, cuda::thread_scope_block>;
constexpr auto kRelaxed = cuda::memory_order_relaxed;

// --- faulty ------------------------------------------------------------------------------------------------

// EXPECT shared-race
// REASON no barrier or __syncwarp() between them, and lanes of a warp need not run in step
// LAUNCH 1 64
KERNEL(relaxed_warp_reduction) {
  __shared__ int s_data[64];
  const unsigned tid = threadIdx.x;
  s_data[tid] = in[tid];
  __syncthreads();
  if (tid < 32) {
    for (unsigned d = 32; d > 0; d /= 2) {
      const int other = Ref(s_data[tid + d]).load(kRelaxed);                      // FAULT
      Ref(s_data[tid]).store(Ref(s_data[tid]).load(kRelaxed) + other, kRelaxed);  // FAULT OTHER
    }
  }
  if (tid == 0) out[0] = s_data[0];
}

// The same as a loop in the compiled code, so that it looks like one that polls.
// EXPECT shared-race
// LAUNCH 1 32
KERNEL(relaxed_warp_scan_in_a_loop) {
  __shared__ int s_data[32];
  const unsigned lane = threadIdx.x;
  int value = in[lane];
#pragma unroll 1
  for (unsigned d = 1; d < 32; d *= 2) {
    Ref(s_data[lane]).store(value, kRelaxed);                      // OTHER
    if (lane >= d) value += Ref(s_data[lane - d]).load(kRelaxed);  // FAULT
  }
  out[lane] = value;
}

// Lane 0 has a ticket, but not the last one: other lanes may take theirs after it has reset the counter.
// EXPECT shared-race
// REASON no barrier or __syncwarp() between them, and lanes of a warp need not run in step
// LAUNCH 1 32
KERNEL(lane_with_the_first_ticket) {
  __shared__ int s_count;
  if (threadIdx.x == 0) s_count = 0;
  __syncwarp();
  const int place = atomicAdd(&s_count, 1);               // OTHER
  if (threadIdx.x == 0) Ref(s_count).store(0, kRelaxed);  // FAULT
  out[place] = in[threadIdx.x];
}

// EXPECT shared-race
// REASON atomic and volatile accesses of 8 and of 4 bytes are not atomic towards each other
// LAUNCH 1 64
KERNEL(counters_in_pairs) {
  __shared__ unsigned long long s_pair;
  if (threadIdx.x == 0) s_pair = 0;
  __syncthreads();
  if (threadIdx.x < 32)
    atomicAdd(&s_pair, 1ull << 32);  // FAULT
  else
    atomicAdd(reinterpret_cast<unsigned*>(&s_pair), 1u);  // OTHER
  __syncthreads();
  if (threadIdx.x == 0) out[0] = static_cast<int>(s_pair);
}

// EXPECT shared-race
// REASON no barrier or __syncwarp() between them
// LAUNCH 1 64
KERNEL(volatile_broadcast) {
  __shared__ volatile int s_sum[2];
  int value = in[threadIdx.x];
  for (unsigned d = 16; d > 0; d /= 2) value += __shfl_down_sync(kFull, value, d);
  if (threadIdx.x % 32 == 0) s_sum[threadIdx.x / 32] = value;  // OTHER
  out[threadIdx.x] = s_sum[threadIdx.x / 32];                  // FAULT
}

// EXPECT global-race
// LAUNCH 2 32
KERNEL(volatile_broadcast_in_global_memory) {
  volatile int* const sums = out;
  if (threadIdx.x == 0) sums[blockIdx.x] = in[blockIdx.x];    // OTHER
  scratch[blockIdx.x * 32 + threadIdx.x] = sums[blockIdx.x];  // FAULT
}

// Sequential consistency does not make a lane wait.
// EXPECT shared-race
// LAUNCH 1 32
KERNEL(sequential_broadcast) {
  __shared__ int s_value;
  if (threadIdx.x == 0) Ref(s_value).store(in[0]);  // OTHER
  out[threadIdx.x] = Ref(s_value).load();           // FAULT
}

// EXPECT shared-race
// LAUNCH 1 32
KERNEL(broadcast_by_exchange) {
  __shared__ int s_value;
  if (threadIdx.x == 3) atomicExch(&s_value, in[3]);  // OTHER
  out[threadIdx.x] = Ref(s_value).load(kRelaxed);     // FAULT
}

// The leader of equal items adds for all of them, before others have read the count.
// EXPECT shared-race
// LAUNCH 1 32
KERNEL(leader_adds_before_others_read) {
  __shared__ int s_count[4];
  const unsigned lane = threadIdx.x;
  if (lane < 4) s_count[lane] = 0;
  __syncwarp();
  const unsigned peers = __match_any_sync(kFull, in[lane] % 4), below = peers & ((1u << lane) - 1);
  const Ref count(s_count[in[lane] % 4]);
  const int before = count.load(kRelaxed);                        // FAULT
  if (below == 0) count.store(before + __popc(peers), kRelaxed);  // OTHER
  out[lane] = before + __popc(below);
}

// EXPECT shared-race
// LAUNCH 1 32
KERNEL(total_of_tickets_read_too_early) {
  __shared__ int s_count;
  if (threadIdx.x == 0) s_count = 0;
  __syncwarp();
  int at = -1;
  if (in[threadIdx.x] % 2 == 0) at = atomicAdd(&s_count, 1);     // OTHER
  out[threadIdx.x] = at < 0 ? Ref(s_count).load(kRelaxed) : at;  // FAULT
}

// EXPECT shared-race
// LAUNCH 1 32
KERNEL(adds_to_what_a_lane_has_just_cleared) {
  __shared__ int s_sum;
  if (threadIdx.x == 5) Ref(s_sum).store(0, kRelaxed);  // OTHER
  atomicAdd(&s_sum, in[threadIdx.x]);                   // FAULT
  __syncwarp();
  out[threadIdx.x] = s_sum;
}

// EXPECT shared-race
// LAUNCH 1 32
KERNEL(flag_set_just_after_it_was_cleared) {
  __shared__ int s_found;
  if (threadIdx.x == 0) Ref(s_found).store(0, kRelaxed);          // OTHER
  if (in[threadIdx.x] % 3 == 1) Ref(s_found).store(1, kRelaxed);  // FAULT
  __syncwarp();
  out[threadIdx.x] = s_found;
}

// A lane that looks once does not wait.
// EXPECT shared-race
// LAUNCH 1 32
KERNEL(flag_looked_at_once) {
  __shared__ volatile int s_found;
  if (threadIdx.x == 0) s_found = 0;
  __syncwarp();
  if (in[threadIdx.x] % 5 == 1) s_found = 1;  // OTHER
  if (s_found != 0) out[threadIdx.x] = 1;     // FAULT
}

// EXPECT shared-race
// LAUNCH 1 32
KERNEL(relaxed_broadcast_to_lanes_outside_of_the_mask) {
  __shared__ int s_value;
  if (threadIdx.x == 0) Ref(s_value).store(in[0], kRelaxed);  // OTHER
  __syncwarp(threadIdx.x < 16 ? 0x0000ffffu : 0xffff0000u);
  out[threadIdx.x] = Ref(s_value).load(kRelaxed);  // FAULT
}

// --- correct -----------------------------------------------------------------------------------------------

// A lock for which the lanes of a warp try in turn, released by a store, and relaxed values.
// EXPECT nothing
// LAUNCH 1 32
KERNEL(lock_released_by_a_store) {
  __shared__ int s_lock, s_sum;
  if (threadIdx.x == 0) s_lock = s_sum = 0;
  __syncthreads();
  for (bool done = false; !done;) {
    if (Ref(s_lock).exchange(1, cuda::memory_order_acquire) == 0) {
      Ref(s_sum).store(Ref(s_sum).load(kRelaxed) + in[threadIdx.x], kRelaxed);
      Ref(s_lock).store(0, cuda::memory_order_release);
      done = true;
    }
  }
  __syncthreads();
  out[threadIdx.x] = s_sum;
}

// Lane 0 gives values to lane 1, one after the other. Each waits for the other.
// EXPECT nothing
// LAUNCH 1 32
KERNEL(producing_and_consuming_lanes) {
  __shared__ int s_full, s_value, s_plain;
  if (threadIdx.x == 0) s_full = 0;
  __syncthreads();
  const Ref full(s_full), value(s_value);
  if (threadIdx.x == 0) {
    for (int k = 0; k < 5; ++k) {
      while (full.load(cuda::memory_order_acquire) != 0) continue;
      value.store(in[k], kRelaxed);
      s_plain = in[k + 5];
      full.store(1, cuda::memory_order_release);
    }
  } else if (threadIdx.x == 1) {
    for (int k = 0; k < 5; ++k) {
      while (full.load(cuda::memory_order_acquire) != 1) continue;
      out[k] = value.load(kRelaxed) + s_plain;
      full.store(0, cuda::memory_order_release);
    }
  }
}

// Without fences: the volatile value follows from the flag for which the lanes wait.
// EXPECT nothing
// LAUNCH 1 32
KERNEL(lanes_wait_for_a_volatile_flag) {
  __shared__ volatile int s_full, s_value;
  if (threadIdx.x == 0) s_full = 0;
  __syncthreads();
  if (threadIdx.x == 7) {
    s_value = in[7];
    s_full = 1;
  }
  while (s_full == 0) continue;
  out[threadIdx.x] = s_value;
}

// Lane 1 waits for lane 0 and then passes the value on with a __syncwarp().
// EXPECT nothing
// LAUNCH 1 32
KERNEL(waits_for_others_and_tells_them) {
  __shared__ volatile int s_full, s_value;
  if (threadIdx.x == 0) s_full = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    s_value = in[0];
    s_full = 1;
  }
  if (threadIdx.x == 1)
    while (s_full == 0) continue;
  if (threadIdx.x == 1 || threadIdx.x == 2) {
    __syncwarp(6);
    out[threadIdx.x] = s_value;
  }
}

// EXPECT nothing
// LAUNCH 1 32
KERNEL(waits_by_adding_nothing) {
  __shared__ int s_full;
  __shared__ volatile int s_value;
  if (threadIdx.x == 0) s_full = 0;
  __syncthreads();
  if (threadIdx.x == 7) {
    s_value = in[7];
    Ref(s_full).store(1, kRelaxed);
  }
  while (atomicAdd(&s_full, 0) == 0) continue;
  out[threadIdx.x] = s_value;
}

// EXPECT nothing
// LAUNCH 1 32
KERNEL(waits_by_notification) {
  __shared__ int s_full, s_value;
  if (threadIdx.x == 0) s_full = 0;
  __syncthreads();
  if (threadIdx.x == 7) {
    Ref(s_value).store(in[7], kRelaxed);
    Ref(s_full).store(1, cuda::memory_order_release);
    Ref(s_full).notify_all();
  }
  Ref(s_full).wait(0, cuda::memory_order_acquire);
  out[threadIdx.x] = Ref(s_value).load(kRelaxed);
}

// A lane that finds the flag set by chance goes on with the others' work.
// EXPECT nothing
// LAUNCH 1 32
KERNEL(stops_when_one_lane_has_found_it) {
  __shared__ volatile int s_done;
  if (threadIdx.x == 0) s_done = 0;
  __syncthreads();
  for (int k = static_cast<int>(threadIdx.x); k < n; k += 32) {
    if (s_done != 0) break;
    if (in[k] == 17) s_done = 1;
  }
  __syncwarp();
  out[threadIdx.x] = s_done;
}

// EXPECT nothing
// LAUNCH 1 32
KERNEL(sets_what_is_not_set_yet) {
  __shared__ int s_found, s_most;
  if (threadIdx.x == 0) s_found = s_most = 0;
  __syncthreads();
#pragma unroll 1
  for (int k = static_cast<int>(threadIdx.x); k < 256; k += 32) {
    if (in[k] > 50 && Ref(s_found).load(kRelaxed) == 0) Ref(s_found).store(1, kRelaxed);
    if (Ref(s_most).load(kRelaxed) < in[k]) Ref(s_most).fetch_max(in[k], kRelaxed);
  }
  __syncwarp();
  out[threadIdx.x] = s_found + s_most;
}

// The lane with the last ticket reads what the others have stored, and resets the counter.
// EXPECT nothing
// LAUNCH 1 32
KERNEL(lane_with_the_last_ticket) {
  __shared__ int s_count;
  __shared__ volatile int s_values[32];
  if (threadIdx.x == 0) s_count = 0;
  __syncwarp();
  s_values[threadIdx.x] = in[threadIdx.x];
  __threadfence_block();
  if (atomicAdd(&s_count, 1) == 31) {
    __threadfence_block();
    int sum = 0;
    for (int k = 0; k < 32; ++k) sum += s_values[k];
    out[0] = sum;
    Ref(s_count).store(0, kRelaxed);
  }
}

// EXPECT nothing
// LAUNCH 1 32
KERNEL(maximum_by_swaps) {
  __shared__ int s_most;
  if (threadIdx.x == 0) s_most = 0;
  __syncwarp();
  int seen = Ref(s_most).load(kRelaxed);
  while (seen < in[threadIdx.x] && !Ref(s_most).compare_exchange_weak(seen, in[threadIdx.x], kRelaxed))
    continue;
  __syncwarp();
  out[threadIdx.x] = s_most;
}

// EXPECT nothing
// LAUNCH 1 32
KERNEL(vote_between_store_and_load) {
  __shared__ volatile int s_value, s_other;
  if (threadIdx.x == 0) s_value = in[0];
  const unsigned odd = __ballot_sync(kFull, in[threadIdx.x] % 2);
  const int value = s_value;
  if (threadIdx.x == 1) s_other = value;
  const int next = __shfl_sync(kFull, value, (threadIdx.x + 1) % 32);
  out[threadIdx.x] = value + next + s_other + static_cast<int>(odd);
}

// EXPECT nothing
// LAUNCH 1 32
KERNEL(syncwarp_of_the_two_lanes) {
  __shared__ int s_value;
  if (threadIdx.x == 3) Ref(s_value).store(in[0], kRelaxed);
  if (threadIdx.x == 3 || threadIdx.x == 9) {
    __syncwarp(1u << 3 | 1u << 9);
    out[threadIdx.x] = Ref(s_value).load(kRelaxed);
  }
}

// EXPECT nothing
// LAUNCH 1 32
KERNEL(barrier_object_of_a_warp) {
  __shared__ cuda::barrier<cuda::thread_scope_block> s_barrier;
  __shared__ int s_data[32];
  if (threadIdx.x == 0) init(&s_barrier, 32);
  __syncthreads();
  for (int k = 0; k < 3; ++k) {
    Ref(s_data[threadIdx.x]).store(in[threadIdx.x + k], kRelaxed);
    s_barrier.arrive_and_wait();
    out[k * 32 + threadIdx.x] = Ref(s_data[threadIdx.x ^ 21]).load(kRelaxed);
    s_barrier.arrive_and_wait();
  }
}

// Whichever lane writes last, one of them is chosen.
// EXPECT nothing
// LAUNCH 1 32
KERNEL(one_of_several_lanes) {
  __shared__ int s_chosen;
  if (threadIdx.x == 0) s_chosen = -1;
  __syncwarp();
  if (in[threadIdx.x] % 2 == 0) Ref(s_chosen).store(static_cast<int>(threadIdx.x), kRelaxed);
  __syncwarp();
  if (s_chosen == static_cast<int>(threadIdx.x)) out[0] = 1;
}

// Lanes look back at what others have published, until they find a sum of everything before.
// EXPECT nothing
// LAUNCH 1 32
KERNEL(lanes_look_back) {
  __shared__ unsigned s_words[32];
  using Word = cuda::atomic_ref<unsigned, cuda::thread_scope_block>;
  const unsigned lane = threadIdx.x;
  s_words[lane] = 0;
  __syncwarp();
  const auto own = static_cast<unsigned>(in[lane]);
  Word(s_words[lane]).store(1u << 30 | own, kRelaxed);
  unsigned before = 0;
  for (unsigned look = lane; look > 0;) {
    const unsigned word = Word(s_words[look - 1]).load(kRelaxed);
    if (word == 0) continue;
    before += word & 0x3fffffffu;
    if (word >> 31 != 0) break;
    --look;
  }
  Word(s_words[lane]).store(2u << 30 | (before + own), kRelaxed);
  out[lane] = static_cast<int>(before);
}
