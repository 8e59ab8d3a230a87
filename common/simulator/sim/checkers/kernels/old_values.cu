// SPDX-License-Identifier: MIT
// Communication between blocks by strong accesses (volatile, relaxed, atomics), which never race. If nothing
// orders them, a load may get an old value; then the faulty kernels compute wrong results, and the correct
// ones never do. kernels.cuh explains the comments. `out` must be the same after every run of a correct
// kernel.
#include <cuda/atomic>

#include "sim/checkers/kernels/kernels.cuh"

namespace {

using Word = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;
constexpr auto kRelaxed = cuda::memory_order_relaxed;
constexpr auto kAcquire = cuda::memory_order_acquire;
constexpr auto kRelease = cuda::memory_order_release;
constexpr auto kBoth = cuda::memory_order_acq_rel;

}  // namespace

// --- faulty ------------------------------------------------------------------------------------------------

// Partial results by relaxed atomics without a fence before the ticket; each thread reads one result.
// EXPECT missing-fence
// LAUNCH 8 64
KERNEL(relaxed_sums_without_fence) {
  __shared__ bool s_last;
  auto* partial = reinterpret_cast<unsigned*>(scratch);
  if (threadIdx.x == 0) {
    Word(partial[blockIdx.x]).store(1u + static_cast<unsigned>(in[blockIdx.x]), kRelaxed);  // OTHER
    s_last = Word(counter[0]).fetch_add(1, kRelaxed) == gridDim.x - 1;
  }
  __syncthreads();
  if (s_last && threadIdx.x < 8)
    out[threadIdx.x] = static_cast<int>(Word(partial[threadIdx.x]).load(kRelaxed));  // FAULT
}

// Atomics store the results. Each of them is safe by itself, but the last ticket does not imply that all of
// them have been executed.
// EXPECT missing-fence
// LAUNCH 8 1
KERNEL(exchanged_sums_without_fence) {
  atomicExch(&counter[blockIdx.x + 1], static_cast<unsigned>(in[blockIdx.x + 1]));  // OTHER
  if (atomicAdd(&counter[0], 1u) != gridDim.x - 1) return;
  unsigned sum = 0;
  for (unsigned b = 1; b <= gridDim.x; ++b) sum += *static_cast<volatile unsigned*>(&counter[b]);  // FAULT
  out[0] = static_cast<int>(sum);
}

// The same, and atomics read the results.
// EXPECT missing-fence
// LAUNCH 8 1
KERNEL(sums_read_by_atomics_without_fence) {
  volatile unsigned* partial = counter + 1;
  partial[blockIdx.x] = static_cast<unsigned>(in[blockIdx.x + 1]);  // OTHER
  if (atomicAdd(&counter[0], 1u) != gridDim.x - 1) return;
  for (unsigned b = 1; b <= gridDim.x; ++b) out[b] = static_cast<int>(atomicAdd(&counter[b], 0u));  // FAULT
}

// Values of 64 bits.
// EXPECT missing-fence
// LAUNCH 8 1
KERNEL(wide_sums_without_fence) {
  auto* partial = reinterpret_cast<volatile long long*>(scratch);
  partial[blockIdx.x] = in[blockIdx.x + 1];  // OTHER
  if (atomicAdd(&counter[0], 1u) != gridDim.x - 1) return;
  long long sum = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) sum += partial[b];  // FAULT
  out[0] = static_cast<int>(sum);
}

// The fence comes before the store that it should publish.
// EXPECT missing-fence
// LAUNCH 8 1
KERNEL(volatile_sums_after_the_fence) {
  volatile int* partial = scratch;
  __threadfence();
  partial[blockIdx.x] = in[blockIdx.x + 1];  // OTHER
  if (atomicAdd(&counter[0], 1u) != gridDim.x - 1) return;
  int sum = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) sum += partial[b];  // FAULT
  out[0] = sum;
}

// A fence of block scope.
// EXPECT missing-fence
// LAUNCH 8 1
KERNEL(volatile_sums_fenced_for_the_block) {
  volatile int* partial = scratch;
  partial[blockIdx.x] = in[blockIdx.x + 1];  // OTHER
  __threadfence_block();
  if (atomicAdd(&counter[0], 1u) != gridDim.x - 1) return;
  int sum = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) sum += partial[b];  // FAULT
  out[0] = sum;
}

// Messages from block to block, with flag and value in different words. The sender does not execute a fence.
// EXPECT missing-fence
// LAUNCH 8 1
KERNEL(message_without_first_fence) {
  volatile unsigned* flag = counter;
  volatile int* value = scratch;
  int before = 0;
  if (blockIdx.x > 0) {
    while (flag[blockIdx.x - 1] == 0) continue;
    __threadfence();
    before = value[blockIdx.x - 1];  // FAULT
  }
  value[blockIdx.x] = before + in[blockIdx.x + 1];  // OTHER
  flag[blockIdx.x] = 1;
  out[blockIdx.x] = before;
}

// The receivers do not execute a fence.
// EXPECT missing-fence
// LAUNCH 8 1
KERNEL(message_without_second_fence) {
  volatile unsigned* flag = counter;
  volatile int* value = scratch;
  if (blockIdx.x == 0) {
    value[0] = in[1];  // OTHER
    __threadfence();
    flag[0] = 1;
  } else {
    while (flag[0] == 0) continue;
    out[blockIdx.x] = value[0];  // FAULT
  }
}

// All blocks wait for each other, but nothing orders their accesses.
// EXPECT missing-fence
// LAUNCH 4 32 cooperative
KERNEL(grid_barrier_without_fence) {
  volatile int* value = scratch;
  if (threadIdx.x == 0) {
    value[blockIdx.x] = in[blockIdx.x + 1];  // OTHER
    atomicAdd(&counter[0], 1u);
    while (*static_cast<volatile unsigned*>(&counter[0]) < gridDim.x) continue;
    out[blockIdx.x] = value[(blockIdx.x + 1) % gridDim.x];  // FAULT
  }
}

// Negative sums of two bytes.
// EXPECT missing-fence
// LAUNCH 8 1
KERNEL(half_sums_without_fence) {
  auto* partial = reinterpret_cast<volatile short*>(counter + 1);
  partial[blockIdx.x] = static_cast<short>(-1 - in[blockIdx.x]);  // OTHER
  if (atomicAdd(&counter[0], 1u) != gridDim.x - 1) return;
  int sum = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) sum += partial[b];  // FAULT
  out[0] = sum;
}

// A status of one byte announces that the value of a tile has been stored, and no fence comes between them.
// EXPECT missing-fence
// LAUNCH 8 1
KERNEL(byte_values_behind_byte_flags) {
  auto* flag = reinterpret_cast<volatile unsigned char*>(counter);
  auto* value = reinterpret_cast<volatile signed char*>(counter + 32);
  int before = 0;
  if (blockIdx.x > 0) {
    while (flag[4 * (blockIdx.x - 1)] == 0) continue;
    __threadfence();
    before = value[4 * (blockIdx.x - 1)];  // FAULT
  }
  value[4 * blockIdx.x] = static_cast<signed char>(before - 3);  // OTHER
  flag[4 * blockIdx.x] = 1;
  out[blockIdx.x] = before;
}

// The last block reads the results while it adds to them, which leaves the right sums behind.
// EXPECT missing-fence
// LAUNCH 8 1
KERNEL(sums_increased_without_fence) {
  auto* sums = reinterpret_cast<unsigned long long*>(out + 64);
  atomicExch(&sums[blockIdx.x], static_cast<unsigned long long>(in[blockIdx.x + 1]));  // OTHER
  if (atomicAdd(&counter[0], 1u) != gridDim.x - 1) return;
  for (unsigned b = 0; b < gridDim.x; ++b)
    out[b] = static_cast<int>(atomicAdd(&sums[b], 1ull << 40));  // FAULT
}

// A message whose flag is set and awaited by exchanges.
// EXPECT missing-fence
// LAUNCH 8 1
KERNEL(message_by_exchanges_without_fence) {
  unsigned before = 0;
  if (blockIdx.x > 0) {
    while (atomicExch(&counter[blockIdx.x - 1], 0u) == 0) continue;
    before = atomicExch(&counter[blockIdx.x + 31], 0u);  // FAULT
  }
  atomicExch(&counter[blockIdx.x + 32], before + static_cast<unsigned>(in[blockIdx.x + 1]));  // OTHER
  atomicExch(&counter[blockIdx.x], 1u);
  out[blockIdx.x] = static_cast<int>(before);
}

// All blocks add to one word. The block that takes the last ticket may be the last to add, too, but an
// addition of another block may still be on its way.
// EXPECT missing-fence
// LAUNCH 8 1
KERNEL(one_sum_without_fence) {
  atomicAdd(&counter[1], static_cast<unsigned>(in[blockIdx.x + 1]));  // OTHER
  if (atomicAdd(&counter[0], 1u) == gridDim.x - 1)
    out[0] = static_cast<int>(*static_cast<volatile unsigned*>(&counter[1]));  // FAULT
}

// --- correct -----------------------------------------------------------------------------------------------

// All threads store, then a barrier, then one fence for all of them.
// EXPECT nothing
// LAUNCH 8 64
KERNEL(one_fence_for_volatile_stores) {
  __shared__ bool s_last;
  volatile int* partial = scratch;
  partial[blockIdx.x * 64 + threadIdx.x] = in[blockIdx.x + threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    s_last = atomicAdd(&counter[0], 1u) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (!s_last) return;
  int sum = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) sum += partial[b * 64 + 63 - threadIdx.x];
  out[threadIdx.x] = sum;
}

// EXPECT nothing
// LAUNCH 8 1
KERNEL(relaxed_sums_with_ordered_ticket) {
  auto* partial = reinterpret_cast<unsigned*>(scratch);
  Word(partial[blockIdx.x]).store(1u + static_cast<unsigned>(in[blockIdx.x]), kRelaxed);
  if (Word(counter[0]).fetch_add(1, kBoth) != gridDim.x - 1) return;
  for (unsigned b = 0; b < gridDim.x; ++b) out[b] = static_cast<int>(Word(partial[b]).load(kRelaxed));
}

// Only the block that comes last must acquire.
// EXPECT nothing
// LAUNCH 8 1
KERNEL(release_ticket_then_fence) {
  auto* partial = reinterpret_cast<unsigned*>(scratch);
  Word(partial[blockIdx.x]).store(1u + static_cast<unsigned>(in[blockIdx.x]), kRelaxed);
  if (Word(counter[0]).fetch_add(1, kRelease) != gridDim.x - 1) return;
  cuda::atomic_thread_fence(kAcquire, cuda::thread_scope_device);
  for (unsigned b = 0; b < gridDim.x; ++b) out[b] = static_cast<int>(Word(partial[b]).load(kRelaxed));
}

// EXPECT nothing
// LAUNCH 8 1
KERNEL(atomic_sum_with_fence) {
  atomicAdd(&counter[1], static_cast<unsigned>(in[blockIdx.x + 1]));
  __threadfence();
  if (atomicAdd(&counter[0], 1u) == gridDim.x - 1)
    out[0] = static_cast<int>(*static_cast<volatile unsigned*>(&counter[1]));
}

// Decoupled look-back by a whole warp, with flag and value in one word; flag 1: sum, 2: prefix. No fence is
// needed, and any mixture of old and new words gives the same prefixes.
// EXPECT nothing
// LAUNCH 16 32
KERNEL(packed_look_back_by_a_warp) {
  const unsigned lane = threadIdx.x, tile = blockIdx.x;
  auto* words = reinterpret_cast<unsigned long long*>(out) + 64;
  using Status = cuda::atomic_ref<unsigned long long, cuda::thread_scope_device>;
  const auto sum = static_cast<unsigned>(in[tile + 1]);
  if (lane == 0) Status(words[tile]).store((tile == 0 ? 2ull : 1ull) << 32 | sum, kRelaxed);
  unsigned before = 0;
  for (int first = static_cast<int>(tile) - 1; first >= 0; first -= 32) {
    const int mine = first - static_cast<int>(lane);
    unsigned long long word = mine < 0 ? 2ull << 32 : 0;
    while (__any_sync(kFull, word >> 32 == 0))
      if (mine >= 0) word = Status(words[mine]).load(kRelaxed);
    const unsigned prefixes = __ballot_sync(kFull, word >> 32 == 2);
    const unsigned last = prefixes == 0 ? 31 : static_cast<unsigned>(__ffs(static_cast<int>(prefixes))) - 1;
    unsigned part = lane <= last ? static_cast<unsigned>(word) : 0;
    for (int d = 16; d > 0; d /= 2) part += __shfl_xor_sync(kFull, part, d);
    before += part;
    if (prefixes != 0) break;
  }
  if (lane == 0) {
    Status(words[tile]).store(2ull << 32 | (before + sum), kRelaxed);
    out[tile] = static_cast<int>(before);
  }
}

// Each thread looks back for its own digit. At a given time, different threads may find sums or prefixes of
// the same tile.
// EXPECT nothing
// LAUNCH 8 64
KERNEL(packed_look_back_by_digit) {
  const unsigned tile = blockIdx.x, digit = threadIdx.x;
  auto* words = reinterpret_cast<volatile unsigned*>(out) + 1024;
  const auto sum = static_cast<unsigned>(in[tile * 64 + digit]);
  words[tile * 64 + digit] = (tile == 0 ? 2u : 1u) << 30 | sum;
  unsigned before = 0;
  for (unsigned k = tile; k > 0;) {
    const unsigned word = words[(k - 1) * 64 + digit];
    if (word >> 30 == 0) continue;
    before += word & 0x3fffffffu;
    if (word >> 30 == 2) break;
    --k;
  }
  words[tile * 64 + digit] = 2u << 30 | (before + sum);
  out[tile * 64 + digit] = static_cast<int>(before);
}

// Flag, then value, each released and acquired. An old flag acquires only what it published.
// EXPECT nothing
// LAUNCH 12 1
KERNEL(look_back_by_release_and_acquire) {
  auto* sums = reinterpret_cast<unsigned*>(scratch);
  unsigned* prefixes = sums + 64;
  const unsigned tile = blockIdx.x, sum = static_cast<unsigned>(in[tile + 1]);
  Word(sums[tile]).store(sum, kRelaxed);
  Word(counter[tile]).store(1, kRelease);
  unsigned before = 0;
  for (unsigned k = tile; k > 0; --k) {
    unsigned state = 0;
    while ((state = Word(counter[k - 1]).load(kAcquire)) == 0) continue;
    before += Word((state == 2 ? prefixes : sums)[k - 1]).load(kRelaxed);
    if (state == 2) break;
  }
  Word(prefixes[tile]).store(before + sum, kRelaxed);
  Word(counter[tile]).store(2, kRelease);
  out[tile] = static_cast<int>(before);
}

// A grid barrier with fences and volatile polls; the exchanged values are volatile, too. Several rounds use
// the same words.
// EXPECT nothing
// LAUNCH 4 64 cooperative
KERNEL(grid_barrier_with_volatile_values) {
  volatile int* value = scratch;
  int mine = in[blockIdx.x + 1];
  for (unsigned round = 1; round <= 4; ++round) {
    for (unsigned half = 0; half < 2; ++half) {
      if (half == 0 && threadIdx.x == 0) value[blockIdx.x] = mine;
      __syncthreads();
      if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(&counter[half], 1u);
        while (*static_cast<volatile unsigned*>(&counter[half]) < round * gridDim.x) continue;
        __threadfence();
      }
      __syncthreads();
      if (half == 0) mine += value[(blockIdx.x + 1) % gridDim.x];
    }
  }
  out[blockIdx.x * 64 + threadIdx.x] = mine;
}

// Dekker's algorithm: each block sets its flag, executes a fence, and reads the other's flag. At least one of
// them sees it.
// EXPECT nothing
// LAUNCH 2 1
KERNEL(one_of_two_sees_the_other) {
  volatile unsigned* flag = counter;
  for (unsigned round = 0; round < 16; ++round) {
    flag[round * 2 + blockIdx.x] = 1;
    __threadfence();
    if (flag[round * 2 + 1 - blockIdx.x] == 0) atomicAdd(&counter[32 + round], 1u);
  }
  __threadfence();
  if (atomicAdd(&counter[63], 1u) == 0) return;
  __threadfence();
  for (unsigned round = 0; round < 16; ++round) out[round] = counter[32 + round] == 2;
}

// The same with three blocks: the third learns about the first one's flag from the second.
// EXPECT nothing
// LAUNCH 3 1
KERNEL(fences_are_in_one_order) {
  for (unsigned round = 0; round < 8; ++round) {
    unsigned* flag = counter + round * 6;
    if (blockIdx.x == 0) {
      Word(flag[0]).store(1, kRelaxed);
      __threadfence();
      flag[4] = Word(flag[1]).load(kRelaxed) == 0;
    } else if (blockIdx.x == 1) {
      Word(flag[1]).store(1, kRelaxed);
      __threadfence();
      Word(flag[2]).store(1, kRelease);
    } else {
      while (Word(flag[2]).load(kAcquire) == 0) continue;
      flag[5] = Word(flag[0]).load(kRelaxed) == 0;
    }
  }
  __threadfence();
  if (atomicAdd(&counter[60], 1u) != 2) return;
  __threadfence();
  for (unsigned round = 0; round < 8; ++round)
    out[round] = counter[round * 6 + 4] != 0 && counter[round * 6 + 5] != 0;
}

// A thread that has seen a value never sees an older one.
// EXPECT nothing
// LAUNCH 4 1
KERNEL(values_never_go_back) {
  volatile unsigned* value = counter;
  if (blockIdx.x == 0) {
    for (unsigned k = 1; k <= 50; ++k) *value = k;
    return;
  }
  for (unsigned seen = 0; seen < 50;) {
    const unsigned next = *value;
    if (next < seen) out[0] = 1;
    seen = next;
  }
}

// A thread sees what it has stored or added itself.
// EXPECT nothing
// LAUNCH 4 1
KERNEL(own_stores_are_seen) {
  volatile int* mine = scratch + blockIdx.x;
  for (int k = 0; k < 20; ++k) {
    *mine = k;
    if (*mine != k) out[0] = 1;
    if (k > 10) static_cast<void>(static_cast<volatile int*>(scratch)[blockIdx.x]);
    const unsigned before = atomicAdd(&counter[1], 1u);
    if (*static_cast<volatile unsigned*>(&counter[1]) <= before) out[1] = 1;
  }
}

// Within a block a barrier is enough.
// EXPECT nothing
// LAUNCH 4 128
KERNEL(barrier_orders_volatile_stores) {
  volatile int* mine = scratch + blockIdx.x * 128;
  mine[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[blockIdx.x * 128 + threadIdx.x] = mine[127 - threadIdx.x];
}

// From block to block to block: each executes a fence before it sets the next flag.
// EXPECT nothing
// LAUNCH 3 1
KERNEL(messages_by_way_of_another) {
  volatile unsigned* flag = counter;
  volatile int* value = scratch;
  if (blockIdx.x == 0) {
    value[0] = in[7];
    __threadfence();
    flag[0] = 1;
    return;
  }
  while (flag[blockIdx.x - 1] == 0) continue;
  __threadfence();
  flag[blockIdx.x] = 1;
  if (blockIdx.x == 2) out[0] = value[0];
}

// Additions of other blocks to a flag keep what its first writer has released.
// EXPECT nothing
// LAUNCH 6 1
KERNEL(additions_keep_a_release) {
  volatile int* value = scratch;
  if (blockIdx.x == 0) {
    value[0] = in[7];
    __threadfence();
    atomicAdd(&counter[0], 100u);
  } else {
    atomicAdd(&counter[0], 1u);
  }
  while (*static_cast<volatile unsigned*>(&counter[0]) < 100) continue;
  __threadfence();
  out[blockIdx.x] = value[0];
}

// A later store to the flag, by a block without a fence, must not take back what the earlier value has
// published.
// EXPECT nothing
// LAUNCH 3 1
KERNEL(old_flags_publish_what_they_did) {
  volatile unsigned* flag = counter;
  volatile int* value = scratch;
  for (unsigned round = 0; round < 8; ++round) {
    if (blockIdx.x == 0) {
      value[round] = in[7];
      __threadfence();
      flag[round] = 1;
    } else if (blockIdx.x == 1) {
      while (flag[round] == 0) continue;
      flag[round] = 2;
    } else {
      unsigned seen = 0;
      while ((seen = flag[round]) == 0) continue;
      __threadfence();
      if (seen == 1) out[round] = value[round] != in[7];
    }
  }
}

// Four flags in one vector; each is a synchronisation variable of its own.
// EXPECT nothing
// LAUNCH 5 1
KERNEL(flags_read_as_a_vector) {
  volatile int* value = scratch;
  if (blockIdx.x < 4) {
    value[blockIdx.x] = in[blockIdx.x + 1];
    __threadfence();
    *static_cast<volatile unsigned*>(&counter[blockIdx.x]) = 1;
    return;
  }
  unsigned a = 0, b = 0, c = 0, d = 0;
  while ((a & b & c & d) == 0)
    asm volatile("ld.relaxed.gpu.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "l"(__cvta_generic_to_global(counter))
                 : "memory");
  __threadfence();
  for (int k = 0; k < 4; ++k) out[k] = value[k];
}

// Results of one and two bytes, of which each has its own place.
// EXPECT nothing
// LAUNCH 8 1
KERNEL(narrow_sums_with_fence) {
  auto* bytes = reinterpret_cast<volatile signed char*>(counter + 1);
  auto* halves = reinterpret_cast<volatile unsigned short*>(counter + 8);
  bytes[blockIdx.x] = static_cast<signed char>(-in[blockIdx.x + 1]);
  halves[blockIdx.x] = static_cast<unsigned short>(in[blockIdx.x + 1] << 9);
  __threadfence();
  if (atomicAdd(&counter[0], 1u) != gridDim.x - 1) return;
  for (unsigned b = 0; b < gridDim.x; ++b) out[b] = bytes[b] + halves[b];
}

// A flag of one byte and a value, with fences.
// EXPECT nothing
// LAUNCH 8 1
KERNEL(message_behind_byte_flags) {
  auto* flag = reinterpret_cast<volatile unsigned char*>(counter);
  volatile int* value = scratch;
  int before = 0;
  if (blockIdx.x > 0) {
    while (flag[blockIdx.x - 1] == 0) continue;
    __threadfence();
    before = value[blockIdx.x - 1];
  }
  value[blockIdx.x] = before + in[blockIdx.x + 1];
  __threadfence();
  flag[blockIdx.x] = 1;
  out[blockIdx.x] = before;
}

// A message whose flag is set and awaited by exchanges, with fences.
// EXPECT nothing
// LAUNCH 8 1
KERNEL(message_by_exchanges) {
  unsigned before = 0;
  if (blockIdx.x > 0) {
    while (atomicExch(&counter[blockIdx.x - 1], 0u) == 0) continue;
    __threadfence();
    before = atomicExch(&counter[blockIdx.x + 31], 0u);
  }
  atomicExch(&counter[blockIdx.x + 32], before + static_cast<unsigned>(in[blockIdx.x + 1]));
  __threadfence();
  atomicExch(&counter[blockIdx.x], 1u);
  out[blockIdx.x] = static_cast<int>(before);
}

// Every addition counts, in whatever order they take place, and the old values that they return are all
// different. Some of them are not used.
// EXPECT nothing
// LAUNCH 12 1
KERNEL(every_addition_counts) {
  if (blockIdx.x % 3 == 0)
    atomicAdd(&counter[1], 1u << 8);
  else
    atomicAdd(reinterpret_cast<unsigned*>(&out[64 + (atomicAdd(&counter[1], 1u) & 255)]), 1u);
  if (blockIdx.x % 3 == 1) atomicOr(&counter[1], 1u << 20);
  if (blockIdx.x % 3 == 2) atomicMax(&counter[2], blockIdx.x);
  atomicAdd(&counter[2], 1u << 10);
  __threadfence();
  if (atomicAdd(&counter[0], 1u) != gridDim.x - 1) return;
  for (unsigned k = 1; k < 3; ++k) out[k] = static_cast<int>(*static_cast<volatile unsigned*>(&counter[k]));
  out[2] >>= 10;
}

// Exchanges hand on each value exactly once, in whatever order they take place.
// EXPECT nothing
// LAUNCH 12 1
KERNEL(exchanges_pass_values_on) {
  const unsigned value = blockIdx.x + 1;
  if (blockIdx.x % 2 == 0) atomicAdd(&counter[2], value);
  for (unsigned held = value, round = 0; round < 3; ++round) {
    held = atomicExch(&counter[1], held);
    if (round == 2) atomicAdd(&counter[2], held);
  }
  __threadfence();
  if (atomicAdd(&counter[0], 1u) != gridDim.x - 1) return;
  for (unsigned k = 1; k < 2; ++k) out[k] = atomicExch(&counter[k], 0u) != 0;
}

// Locks that are taken by compare-and-swap or by exchange, and released by an exchange or a store.
// EXPECT nothing
// LAUNCH 8 1
KERNEL(locks_of_different_kinds) {
  volatile int* sum = out;
  for (unsigned round = 0; round < 3; ++round) {
    if ((blockIdx.x + round) % 2 == 0)
      while (atomicCAS(&counter[0], 0u, 1u) != 0u) continue;
    else
      while (atomicExch(&counter[0], 1u) != 0u) continue;
    __threadfence();
    *sum = *sum + in[blockIdx.x + 1];
    __threadfence();
    if (round % 2 == 0)
      atomicExch(&counter[0], 0u);
    else
      *static_cast<volatile unsigned*>(&counter[0]) = 0u;
  }
}

// What an atomic publishes with the old value that it changes reaches those who read the result.
// EXPECT nothing
// LAUNCH 6 1
KERNEL(old_values_are_passed_on) {
  volatile int* value = scratch;
  if (blockIdx.x == 0) {
    atomicExch(&counter[0], 1u);
    return;
  }
  if (blockIdx.x < 3) {
    scratch[blockIdx.x] = in[blockIdx.x];
    __threadfence();
    atomicOr(&counter[0], 1u << blockIdx.x);
    return;
  }
  for (unsigned tries = 0; tries < 9; ++tries) {
    const unsigned seen = *static_cast<volatile unsigned*>(&counter[0]);
    __threadfence();
    for (unsigned b = 1; b < 3; ++b)
      if ((seen >> b & 1) != 0 && value[b] != in[b]) out[0] = 1;
  }
}
