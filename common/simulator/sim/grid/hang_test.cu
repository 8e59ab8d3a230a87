// SPDX-License-Identifier: MIT
// Launches that make progress, and launches that do not. hang_test.cpp runs the PTX that nvcc makes of this
// file.
#include <cooperative_groups.h>

#define KERNEL extern "C" __global__ void

// Half of the warp waits for lanes that wait at the barrier.
KERNEL wrong_mask(int* out) {
  if (threadIdx.x < 16) out[threadIdx.x] = __shfl_sync(~0u, static_cast<int>(threadIdx.x), 0);
  __syncthreads();
  out[threadIdx.x] += 1;
}

KERNEL missing_arrivals(int* out) {
  if (threadIdx.x < 32) asm volatile("bar.sync 3, 96;" ::: "memory");
  out[threadIdx.x] = 1;
}

// Each of two blocks waits for the other's flag before it sets its own.
KERNEL wait_for_each_other(volatile int* flags) {
  while (flags[1 - blockIdx.x] == 0) continue;  // waits
  flags[blockIdx.x] = 1;
}

KERNEL lock_never_released(unsigned* lock, int* out) {
  while (atomicCAS(lock, 0u, 1u) != 0) continue;  // takes the lock
  out[blockIdx.x] = 1;
}

// The lane that holds the lock waits for the lanes that want it.
KERNEL lock_held_at_syncwarp(unsigned* lock) {
  while (atomicCAS(lock, 0u, 1u) != 0) continue;
  __syncwarp();
  atomicExch(lock, 0u);
}

KERNEL grid_sync_without_one(int* out) {
  if (blockIdx.x == 2) return;
  cooperative_groups::this_grid().sync();
  out[blockIdx.x] = 1;
}

KERNEL never_ends(const int* flag) {
  while (static_cast<const volatile int*>(flag)[0] == 0) continue;
}

KERNEL never_ends_but_for_block_0(const int* flag) {
  while (blockIdx.x != 0 && static_cast<const volatile int*>(flag)[0] == 0) continue;
}

KERNEL races_and_never_ends(int* out) {
  __shared__ int s_limit;
  if (threadIdx.x == 0) s_limit = 1;
  const int limit = static_cast<volatile int&>(s_limit);
  for (unsigned x = threadIdx.x | 1; x != 0; x = x * 3 % 64 | 1) asm volatile("" : "+r"(x));
  out[threadIdx.x] = limit;
}

KERNEL loops_for_nothing(const int* place, int* out) {
  unsigned x = threadIdx.x | 1;
  while (x != 0) {
    x = x * 3 % 64 | 1;
    asm volatile("" : "+r"(x));
  }
  out[threadIdx.x] = place[0];
}

// The stride stays at 0, so the loop never ends.
KERNEL loops_with_barriers(const int* place, int* out) {
  __shared__ int s_data[96];
  s_data[threadIdx.x] = place[0];
  __syncthreads();
  for (int stride = 32; stride >= 0; stride /= 2) {
    if (static_cast<int>(threadIdx.x) < stride) s_data[threadIdx.x] += s_data[threadIdx.x + stride];
    __syncthreads();
  }
  out[threadIdx.x] = s_data[threadIdx.x];
}

KERNEL counts_its_polls(volatile int* place, int* out) {
  int n = 0;
  while (place[0] == 0) ++n;
  out[threadIdx.x] = n;
}

KERNEL looks_at_the_clock(volatile int* place, int* out) {
  long long t = 0;
  while (place[0] == 0) t += clock64();
  out[threadIdx.x] = static_cast<int>(t);
}

// Block b waits for block b + 1; only block 39 does not wait.
KERNEL waits_for_a_later_block(volatile int* place, int* out) {
  const unsigned b = blockIdx.x;
  if (b != 39)
    while (place[b + 1] == 0) continue;
  __syncthreads();
  place[b] = 1;
  out[b * blockDim.x + threadIdx.x] = 1;
}

// Each block waits for the one before it, by the number of the block or by the order in which they start.
KERNEL chain_by_block(volatile int* place, int* out) {
  const unsigned b = blockIdx.x;
  if (b > 0)
    while (place[b - 1] == 0) continue;
  __syncthreads();
  if (threadIdx.x == 0) place[b] = 1;
  out[b * blockDim.x + threadIdx.x] = 1;
}
KERNEL chain_by_ticket(int* place, int* out) {
  __shared__ int s_ticket;
  if (threadIdx.x == 0) s_ticket = atomicAdd(&place[4095], 1);
  __syncthreads();
  const int b = s_ticket;
  if (threadIdx.x == 0) {
    while (b > 0 && static_cast<volatile int*>(place)[b - 1] == 0) continue;
    __threadfence();
    static_cast<volatile int*>(place)[b] = 1;
  }
  out[b * blockDim.x + threadIdx.x] = 1;
}

// The same chain. most[0]: how many later blocks had started when a block was about to end.
KERNEL lead_in_chain(int* next, int* place, int* most) {
  if (threadIdx.x != 0) return;
  const int b = atomicAdd(next, 1);
  while (b > 0 && static_cast<volatile int*>(place)[b - 1] == 0) continue;
  __threadfence();
  atomicMax(most, atomicAdd(next, 0) - b);
  static_cast<volatile int*>(place)[b] = 1;
}

// mbarriers of 64 bits, with a loop that reads a clock, as that of <cuda/barrier>.
class Mbarrier {
 public:
  explicit __device__ Mbarrier(unsigned long long* word)
      : at_(static_cast<unsigned>(__cvta_generic_to_shared(word))) {}
  __device__ void init(unsigned n) const {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at_), "r"(n) : "memory");
  }
  __device__ void expect(unsigned n_bytes) const {
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared.b64 [%0], %1;" ::"r"(at_), "r"(n_bytes) : "memory");
  }
  __device__ unsigned long long arrive() const {
    unsigned long long state;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(at_) : "memory");
    return state;
  }
  __device__ void wait(unsigned long long state) const {
    const long long start = clock64();
    for (int polls = 0; !ended(state); ++polls)
      if (polls > 16 && clock64() - start > (1ll << 40)) __nanosleep(1000);
  }

 private:
  __device__ bool ended(unsigned long long state) const {
    int yes;
    asm volatile("{ .reg .pred p; mbarrier.try_wait.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
                 : "=r"(yes)
                 : "r"(at_), "l"(state)
                 : "memory");
    return yes != 0;
  }
  unsigned at_;
};

// Every other block waits for bytes that nothing copies, or for a thread that never arrives.
template <bool kBytes>
__device__ void lacks(int* out) {
  __shared__ unsigned long long s_word;
  const Mbarrier barrier(&s_word);
  const bool faulty = blockIdx.x % 2 != 0;
  if (threadIdx.x == 0) barrier.init(blockDim.x + (faulty && !kBytes ? 1 : 0));
  __syncthreads();
  if (faulty && kBytes && threadIdx.x == 0) barrier.expect(1024);
  barrier.wait(barrier.arrive());
  out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
KERNEL bytes_never_come(int*, int* out) {
  lacks<true>(out);
}
KERNEL one_arrival_is_missing(int*, int* out) {
  lacks<false>(out);
}

// The last warp computes, or polls global memory, while the others wait for it.
KERNEL one_warp_is_late(volatile int* place, int* out) {
  __shared__ unsigned long long s_word;
  const Mbarrier barrier(&s_word);
  if (threadIdx.x == 0) barrier.init(blockDim.x);
  __syncthreads();
  unsigned x = threadIdx.x;
  if (threadIdx.x >= blockDim.x - 32) {
    for (int k = 0; k < 200000; ++k) {
      x = x * 1664525u + 1013904223u;
      asm volatile("" : "+r"(x));
    }
    if (blockIdx.x == 0)
      while (place[0] != 1) continue;
    else
      place[0] = 1;
  }
  barrier.wait(barrier.arrive());
  out[blockIdx.x * blockDim.x + threadIdx.x] = static_cast<int>(x);
}

KERNEL computes_for_long(const int* place, int* out) {
  unsigned x = threadIdx.x + place[0];
  for (int k = 0; k < 20000; ++k) {
    x = x * 1664525u + 1013904223u;
    asm volatile("" : "+r"(x));
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = static_cast<int>(x);
}

KERNEL reads_for_long(volatile const int* place, int* out) {
  int sum = 0;
  for (int k = 0; k < 6000; ++k) sum += place[k % 4096];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

KERNEL counts_down_in_memory(int* place, int* out) {
  if (threadIdx.x == 0)
    while (atomicAdd(&place[blockIdx.x], 1) < 4000) continue;
  out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
