// SPDX-License-Identifier: MIT
// The examples of handouts/memory-model.md, right and wrong, with what the checkers must report. It is
// also a program that runs one of them:
//   ./lab sanitize common/simulator/sim/checkers/kernels/memory_model.cu 1
#include "program.cuh"

#include <cuda/atomic>

using Word = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;
using Item = cuda::atomic_ref<int, cuda::thread_scope_device>;

// 1. The flag is a plain variable.
// EXPECT global-race
// LAUNCH 2 32
KERNEL(example_1_plain_flag) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    counter[0] = 1;  // OTHER
  } else {
    while (counter[0] == 0) __nanosleep(20);  // FAULT
    out[0] = 1;
  }
}

// 2. The flag is atomic, but relaxed: nothing orders the value and the flag.
// EXPECT missing-fence
// LAUNCH 2 32
KERNEL(example_2_relaxed_flag) {
  if (threadIdx.x != 0) return;
  Word flag(counter[0]);
  if (blockIdx.x == 0) {
    scratch[0] = 42;  // OTHER
    flag.store(1, cuda::memory_order_relaxed);
  } else {
    while (flag.load(cuda::memory_order_relaxed) == 0) continue;
    out[0] = scratch[0];  // FAULT
  }
}

// 3. A store-release and a load-acquire.
// EXPECT nothing
// LAUNCH 2 32
KERNEL(example_3_release_and_acquire) {
  if (threadIdx.x != 0) return;
  Word flag(counter[0]);
  if (blockIdx.x == 0) {
    scratch[0] = 42;
    flag.store(1, cuda::memory_order_release);
  } else {
    while (flag.load(cuda::memory_order_acquire) == 0) continue;
    out[0] = scratch[0];
  }
}

// 4. Relaxed accesses and two fences.
// EXPECT nothing
// LAUNCH 2 32
KERNEL(example_4_two_fences) {
  if (threadIdx.x != 0) return;
  Word flag(counter[0]);
  if (blockIdx.x == 0) {
    scratch[0] = 42;
    __threadfence();
    flag.store(1, cuda::memory_order_relaxed);
  } else {
    while (flag.load(cuda::memory_order_relaxed) == 0) continue;
    __threadfence();
    out[0] = scratch[0];
  }
}

// 5. Fences with the scope of a block, between two blocks.
// EXPECT missing-fence
// LAUNCH 2 32
KERNEL(example_5_scope_of_block) {
  if (threadIdx.x != 0) return;
  Word flag(counter[0]);
  if (blockIdx.x == 0) {
    scratch[0] = 42;  // OTHER
    __threadfence_block();
    flag.store(1, cuda::memory_order_relaxed);
  } else {
    while (flag.load(cuda::memory_order_relaxed) == 0) continue;
    __threadfence_block();
    out[0] = scratch[0];  // FAULT
  }
}

// 6. The block that takes the last ticket reads what all blocks have written; the ticket is relaxed.
// EXPECT missing-fence
// LAUNCH 8 32
KERNEL(example_6_relaxed_ticket) {
  if (threadIdx.x != 0) return;
  Word tickets(counter[0]);
  scratch[blockIdx.x] = in[blockIdx.x];  // OTHER
  if (tickets.fetch_add(1, cuda::memory_order_relaxed) != gridDim.x - 1) return;
  int sum = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) sum += scratch[b];  // FAULT
  out[0] = sum;
}

// 7. The ticket is taken with release (for the block's own value) and acquire (for the values of the others).
// EXPECT nothing
// LAUNCH 8 32
KERNEL(example_7_ticket) {
  if (threadIdx.x != 0) return;
  Word tickets(counter[0]);
  scratch[blockIdx.x] = in[blockIdx.x];
  if (tickets.fetch_add(1, cuda::memory_order_acq_rel) != gridDim.x - 1) return;
  int sum = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) sum += scratch[b];
  out[0] = sum;
}

// 8. Every block waits for the next one. More blocks are launched than can run at the same time.
// EXPECT no-progress
// LAUNCH 300 1024
KERNEL(example_8_waits_for_a_later_block) {
  if (threadIdx.x != 0) return;
  const unsigned b = blockIdx.x;
  if (b + 1 < gridDim.x)
    while (Item(out[b + 1]).load(cuda::memory_order_acquire) == 0) continue;  // FAULT
  Item(out[b]).store(1, cuda::memory_order_release);
}

// 9. Every block waits for the block that has started just before it.
// EXPECT nothing
// LAUNCH 300 1024
KERNEL(example_9_waits_for_an_earlier_ticket) {
  if (threadIdx.x != 0) return;
  const unsigned ticket = Word(counter[0]).fetch_add(1, cuda::memory_order_relaxed);
  if (ticket > 0)
    while (Item(out[ticket - 1]).load(cuda::memory_order_acquire) == 0) continue;
  Item(out[ticket]).store(1, cuda::memory_order_release);
}

// 10. Each block adds its items to one total, with a load and a store.
// EXPECT lost-update
// LAUNCH 8 32
KERNEL(example_10_load_and_store) {
  if (threadIdx.x != 0) return;
  Item total(out[0]);
  for (unsigned k = blockIdx.x; k < 64; k += gridDim.x)
    total.store(total.load(cuda::memory_order_relaxed) + in[k], cuda::memory_order_relaxed);  // FAULT OTHER
}

// --- The program.

// As the lines LAUNCH say.
constexpr Example kExamples[] = {
    {1, example_1_plain_flag, 2, 32, 4096},
    {2, example_2_relaxed_flag, 2, 32, 4096},
    {3, example_3_release_and_acquire, 2, 32, 4096},
    {4, example_4_two_fences, 2, 32, 4096},
    {5, example_5_scope_of_block, 2, 32, 4096},
    {6, example_6_relaxed_ticket, 8, 32, 4096},
    {7, example_7_ticket, 8, 32, 4096},
    {8, example_8_waits_for_a_later_block, 300, 1024, 4096},
    {9, example_9_waits_for_an_earlier_ticket, 300, 1024, 4096},
    {10, example_10_load_and_store, 8, 32, 4096},
};

int main(int argc, char** argv) {
  return run_one(kExamples, argc, argv);
}
