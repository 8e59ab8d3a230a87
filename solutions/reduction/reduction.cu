// SPDX-License-Identifier: MIT
//@student // Reduction: your file.
//@student // Read labs/reduction/lab.hpp (operators, Job), then handouts/01-reduction.md.
//@student // given.cuh in the same folder has functions that your code calls.
//@student // Work from the top down: each task is a kernel and the host function that launches it. T is the
//@student // type of the items, Op that of the operator, Op::Value that of results (of integers' mean:
//@student // double). Grade one task with
//@student //   ./lab grade reduction --task neighboured
//@student // Until you write it, a task returns "not implemented". Do not change the given lines at the end.
//@reference
// Reduction: all rungs of the ladder, from one tree per block to the device's memory speed. Read from the
// top. Each rung says what changed, why that should be faster, and which drawbacks remain. The lines
// "Predicted (…)" are for int32 items.
// Lines that start with //@ control the generator of the students' file (make_skeleton.py).
// Invariant: every rung gives a right answer for every (item type, operator, n), n = 0 included, and no rung
// writes d_in.
// Source: M. Harris, "Optimizing Parallel Reduction in CUDA" (2007), for rungs 1, 2 and 4; rung 3 is the
// last warp of its tree, with shuffles. The ticket of rung 5 is from the CUDA sample threadFenceReduction.
// Here the code is generic, with 64-bit sizes and any alignment.
//@end
#include "reduction/lab.hpp"

namespace course::reduction {

inline constexpr unsigned kBlock = 256;     // threads in a block: a power of two
inline constexpr unsigned kWarp = 32;       // threads in a warp
inline constexpr unsigned kFullMask = ~0u;  // every lane of a warp takes part

#include "reduction/given.cuh"

// --- Task 1, "neighboured": partners are 1 apart, then 2, 4, 8 …
// Limits: instructions per item ≤ 80, active_lanes ≥ 0.6.
// It reads 4n bytes once and writes one Value per block. It takes n - 1 operations and, with 256 threads, 8
// steps per launch.
// The kernel reduces the block's items (positions past n count as the identity); thread 0 writes the block's
// partial result to d_out[blockIdx.x]. If there is only one block, it applies op.finish first. (op.finish
// takes only the value; op knows the number of items.)
//@reference
// Why: the tree needs log2 n steps, a loop needs n.
// Drawback: with `tid % (2 * stride) == 0`, half, then 3/4, then 7/8 of the lanes *inside every warp* are
// idle, so no warp finishes early. The operator % costs several instructions per round.
//@end
template <typename T, typename Op>
__global__ void k01_neighboured(const T* d_in, std::uint64_t n, typename Op::Value* d_out, Op op) {
  //@solution Reduce the block's items by the tree that the comment above describes. Every n must work, also
  //@hint one that is no multiple of the block.
  //@how Load one item per thread into shared memory, then wait at a barrier. Do a round for each stride
  //@how 1, 2, 4 …: each thread whose index is a multiple of 2 * stride combines its value with the value
  //@how `stride` positions to its right. Wait at a barrier after each round. Compare the *global* index
  //@how with n, and let no thread return before the last barrier.
  using Value = typename Op::Value;
  __shared__ Value s_data[kBlock];
  const unsigned tid = threadIdx.x;
  const std::uint64_t gid = std::uint64_t{blockIdx.x} * kBlock + tid;

  s_data[tid] = gid < n ? static_cast<Value>(d_in[gid]) : op.identity();
  __syncthreads();  // the block's items are stored before other threads read them

  for (unsigned stride = 1; stride < kBlock; stride *= 2) {
    if (tid % (2 * stride) == 0) s_data[tid] = op(s_data[tid], s_data[tid + stride]);
    __syncthreads();  // this round's writes come before the next round's reads
  }
  if (tid == 0) d_out[blockIdx.x] = gridDim.x == 1 ? op.finish(s_data[0]) : s_data[0];
  //@end
}

// by_levels executes the lines between the inner braces once for each launch. In the first one, d_in points
// to the items; later, it points to the partial results of the launch before.
template <typename T, typename Op>
Status neighboured(const Job<T, Op>& job) {
  //@student by_levels(job, kBlock, [&](const auto* d_in, std::uint64_t n, auto* d_out, unsigned n_blocks) {
  //@reference
  return by_levels(job, kBlock, [&](const auto* d_in, std::uint64_t n, auto* d_out, unsigned n_blocks) {
    //@end
    //@solution Launch k01_neighboured: n_blocks blocks of kBlock threads on job.stream, with the operator
    //@hint job.op.
    k01_neighboured<<<n_blocks, kBlock, 0, job.stream>>>(d_in, n, d_out, job.op);
    //@end
  });
  //@student return not_implemented(job);  // change to Status::ok when kernel and launch are written
}

//@reference
// --- Rung 1b: the same pairs as in rung 1, but thread t takes the t-th pair of the round.
// Changed: index = 2 * stride * tid.
// Why: the working threads are the lowest ones, so only the first warps work; the other warps skip the round.
// Predicted (reindexed, against neighboured, 2^24 items): 1.5×. Measured: 0.83× (H200, 2026-11-26).
// Drawback: the lanes access shared memory 2 * stride words apart, so 2, 4, 8, 8, 8, 4, 2 and 1 lanes use
// the same bank in the eight rounds, and a request takes that many wavefronts. This costs more time than the
// idle lanes did.
template <typename T, typename Op>
__global__ void k01b_reindexed(const T* d_in, std::uint64_t n, typename Op::Value* d_out, Op op) {
  using Value = typename Op::Value;
  __shared__ Value s_data[kBlock];
  const unsigned tid = threadIdx.x;
  const std::uint64_t gid = std::uint64_t{blockIdx.x} * kBlock + tid;

  s_data[tid] = gid < n ? static_cast<Value>(d_in[gid]) : op.identity();
  __syncthreads();  // the block's items are stored before other threads read them

  for (unsigned stride = 1; stride < kBlock; stride *= 2) {
    const unsigned left = 2 * stride * tid;
    if (left < kBlock) s_data[left] = op(s_data[left], s_data[left + stride]);
    __syncthreads();  // this round's writes come before the next round's reads
  }
  if (tid == 0) d_out[blockIdx.x] = gridDim.x == 1 ? op.finish(s_data[0]) : s_data[0];
}

template <typename T, typename Op>
Status reindexed(const Job<T, Op>& job) {
  return by_levels(job, kBlock, [&](const auto* d_in, std::uint64_t n, auto* d_out, unsigned n_blocks) {
    k01b_reindexed<<<n_blocks, kBlock, 0, job.stream>>>(d_in, n, d_out, job.op);
  });
}

//@end
// --- Task 2, "sequential": the lower half of the threads combines its values with the upper half's,
// then the lower quarter with the second quarter …
// Limits: active_lanes ≥ 0.85, bank_conflicts per 1,024 items ≤ 20 (none is needed).
//@reference
// Changed: partners are blockDim/2 apart, then /4, down to 1; threads tid < stride work.
// Why: the working lanes are neighbours *and* access neighbouring words. Whole warps are idle, and there are
// no bank conflicts.
// Predicted (sequential, against reindexed, 2^24 items): 1.2×. Measured: 1.2× (H200, 2026-11-26).
// Predicted (sequential, against neighboured, 2^24 items): 1.8×. Measured: 1.03× (H200, 2026-11-26).
// Drawback: half of the threads only load an item and never combine anything.
//@end
template <typename T, typename Op>
__global__ void k02_sequential(const T* d_in, std::uint64_t n, typename Op::Value* d_out, Op op) {
  //@solution Write the kernel of task 1 with these partners.
  //@how Do the same as in task 1, but stride runs from kBlock / 2 down to 1, and the threads with tid <
  //@how stride work.
  using Value = typename Op::Value;
  __shared__ Value s_data[kBlock];
  const unsigned tid = threadIdx.x;
  const std::uint64_t gid = std::uint64_t{blockIdx.x} * kBlock + tid;

  s_data[tid] = gid < n ? static_cast<Value>(d_in[gid]) : op.identity();
  __syncthreads();  // the block's items are stored before other threads read them

  for (unsigned stride = kBlock / 2; stride > 0; stride /= 2) {
    if (tid < stride) s_data[tid] = op(s_data[tid], s_data[tid + stride]);
    __syncthreads();  // this round's writes come before the next round's reads
  }
  if (tid == 0) d_out[blockIdx.x] = gridDim.x == 1 ? op.finish(s_data[0]) : s_data[0];
  //@end
}

template <typename T, typename Op>
Status sequential(const Job<T, Op>& job) {
  //@solution Do the same as in task 1, with this kernel.
  //@instead return not_implemented(job);
  return by_levels(job, kBlock, [&](const auto* d_in, std::uint64_t n, auto* d_out, unsigned n_blocks) {
    k02_sequential<<<n_blocks, kBlock, 0, job.stream>>>(d_in, n, d_out, job.op);
  });
  //@end
}

//@reference
// --- Rung 2b: each thread combines two items while it loads them.
// Changed: a block covers 2 * blockDim items.
// Why: there are half as many blocks, every thread combines at least once, and each thread has two loads in
// flight.
// Predicted (first_add, against sequential, 2^24 items): almost 2×. Measured: 1.7× (H200, 2026-11-26).
// Drawback: in the last six rounds one warp works, but all warps of the block wait at the six barriers.
template <typename T, typename Op>
__global__ void k02b_first_add(const T* d_in, std::uint64_t n, typename Op::Value* d_out, Op op) {
  using Value = typename Op::Value;
  __shared__ Value s_data[kBlock];
  const unsigned tid = threadIdx.x;
  const std::uint64_t gid = std::uint64_t{blockIdx.x} * (2 * kBlock) + tid;

  Value value = gid < n ? static_cast<Value>(d_in[gid]) : op.identity();
  if (gid + kBlock < n) value = op(value, static_cast<Value>(d_in[gid + kBlock]));
  s_data[tid] = value;
  __syncthreads();  // the block's pairs are stored before other threads read them

  for (unsigned stride = kBlock / 2; stride > 0; stride /= 2) {
    if (tid < stride) s_data[tid] = op(s_data[tid], s_data[tid + stride]);
    __syncthreads();  // this round's writes come before the next round's reads
  }
  if (tid == 0) d_out[blockIdx.x] = gridDim.x == 1 ? op.finish(s_data[0]) : s_data[0];
}

template <typename T, typename Op>
Status first_add(const Job<T, Op>& job) {
  return by_levels(job, 2 * kBlock, [&](const auto* d_in, std::uint64_t n, auto* d_out, unsigned n_blocks) {
    k02b_first_add<<<n_blocks, kBlock, 0, job.stream>>>(d_in, n, d_out, job.op);
  });
}

//@end
// Reduces the 32 values of a warp with shuffles. All 32 lanes must call it; the result is valid in lane 0.
// It needs no shared memory and no barrier, and takes 5 steps with 31 useful operations.
template <typename Op>
__device__ typename Op::Value warp_fold(typename Op::Value value, Op op) {
  //@solution Use shuffles (__shfl_down_sync).
  //@how For offset 16, 8, 4, 2, 1: combine your value with the value of the lane `offset` above.
  //@how __shfl_down_sync(kFullMask, value, offset) returns it.
  //@instead return op(value, op.identity());
  for (unsigned offset = kWarp / 2; offset > 0; offset /= 2) {
    value = op(value, __shfl_down_sync(kFullMask, value, offset));
  }
  return value;
  //@end
}

// --- Task 3, "shuffle": each thread combines two items while it loads them; shared memory is used down
// to 32 values, and one warp reduces these with shuffles.
// Limits: barriers per 1,024 items ≤ 12 (a block of 512 items needs 4), instructions per item ≤ 26.
//@reference
// Changed: the last 32 values stay in the registers of warp 0, which exchanges them by shuffles.
// Why: five rounds need no barrier and no access to shared memory, because the lanes of a warp need no
// barrier between shuffles.
// Predicted (shuffle, against first_add, 2^24 items): 1.1× to 1.3×. Measured: 1.2× (H200, 2026-11-26).
// Drawback: each thread has only two items, so a block spends most of its time starting, waiting at
// barriers and ending. During this time it loads no items.
//@end
template <typename T, typename Op>
__global__ void k03_shuffle(const T* d_in, std::uint64_t n, typename Op::Value* d_out, Op op) {
  //@solution Reduce 2 * kBlock items per block, with warp_fold at the end.
  //@how A block covers 2 * kBlock items. Each thread loads two of them, kBlock apart, and combines them
  //@how (compare both indices with n). Then it stores the result in shared memory and waits at a
  //@how barrier. Continue with task 2's loop until 32 values are left. Then only the first warp calls
  //@how warp_fold.
  using Value = typename Op::Value;
  __shared__ Value s_data[kBlock];
  const unsigned tid = threadIdx.x;
  const std::uint64_t gid = std::uint64_t{blockIdx.x} * (2 * kBlock) + tid;

  Value value = gid < n ? static_cast<Value>(d_in[gid]) : op.identity();
  if (gid + kBlock < n) value = op(value, static_cast<Value>(d_in[gid + kBlock]));
  s_data[tid] = value;
  __syncthreads();  // the block's pairs are stored before other threads read them

  for (unsigned stride = kBlock / 2; stride >= kWarp; stride /= 2) {
    if (tid < stride) s_data[tid] = op(s_data[tid], s_data[tid + stride]);
    __syncthreads();  // this round's writes come before the next round's reads
  }
  if (tid < kWarp) {
    value = warp_fold(s_data[tid], op);
    if (tid == 0) d_out[blockIdx.x] = gridDim.x == 1 ? op.finish(value) : value;
  }
  //@end
}

template <typename T, typename Op>
Status shuffle(const Job<T, Op>& job) {
  //@solution Do the same as before, but a block now covers 2 * kBlock items.
  //@instead return not_implemented(job);
  return by_levels(job, 2 * kBlock, [&](const auto* d_in, std::uint64_t n, auto* d_out, unsigned n_blocks) {
    k03_shuffle<<<n_blocks, kBlock, 0, job.stream>>>(d_in, n, d_out, job.op);
  });
  //@end
}

// Reduces one value per thread over the block. Every thread must call it; the result is valid in thread 0.
// blockDim.x must be a multiple of 32. It uses 32 Values of shared memory and one barrier. Two calls need
// another barrier between them.
template <typename Op>
__device__ typename Op::Value block_fold(typename Op::Value value, Op op) {
  //@solution Use warp_fold, and shared memory between the warps.
  //@how Each warp reduces its own values, and its lane 0 stores the result in shared memory. After a
  //@how barrier, warp 0 reduces these results (lanes past the number of warps use the identity).
  //@instead return warp_fold(value, op);
  using Value = typename Op::Value;
  __shared__ Value s_warp[kWarp];
  const unsigned lane = threadIdx.x % kWarp;
  const unsigned warp = threadIdx.x / kWarp;
  value = warp_fold(value, op);
  if (lane == 0) s_warp[warp] = value;
  __syncthreads();  // every warp's result is stored before warp 0 reads them
  if (warp == 0) {
    value = lane < blockDim.x / kWarp ? s_warp[lane] : op.identity();
    value = warp_fold(value, op);
  }
  return value;
  //@end
}

// Reduces the calling thread's share of the grid's n items. The first threads of the grid also take the items
// before the first vector and after the last one; all threads take the vectors with a stride of one grid.
// About n / (threads in the grid) dependent steps; the grid reads each item once. Works for any n, any
// alignment and any grid.
template <typename T, typename Op>
__device__ typename Op::Value strided_fold(const T* d_in, std::uint64_t n, Op op) {
  //@solution Return the calling thread's share: with the whole grid, every item must be in exactly one share.
  //@hint Load as many items as possible as vectors, with packed().
  //@how Let `threads` be the number of threads in the grid, and g the index of a thread. Thread g
  //@how combines item g of the items before the first vector (if it exists), the vectors g, g + threads,
  //@how g + 2 * threads …, and item g of the items after the last vector (if it exists). Use packed().
  //@instead return op.identity();
  using Value = typename Op::Value;
  const Packed<T> in = packed(d_in, n);
  const std::uint64_t n_threads = std::uint64_t{gridDim.x} * blockDim.x;
  const std::uint64_t gid = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;

  Value value = gid < in.n_head ? static_cast<Value>(d_in[gid]) : op.identity();
  for (std::uint64_t i = gid; i < in.n_packs; i += n_threads) {
    const Pack<T> pack = in.d_packs[i];
    for (unsigned j = 0; j < Pack<T>::kItems; ++j) value = op(value, static_cast<Value>(pack.item[j]));
  }
  if (in.tail + gid < n) value = op(value, static_cast<Value>(d_in[in.tail + gid]));
  return value;
  //@end
}

// --- Task 4, "coarsened": a fixed number of threads; each one combines many items by itself, and the
// tree comes last.
// Limits: instructions per item ≤ 18, launches ≤ 2.
//@reference
// Changed: the number of blocks is limited. Each thread goes through the array with a stride of one grid and
// loads 16 bytes at a time. Each block has one tree, at the end. There are at most two launches.
// Why: most operations need no barrier and no other thread (work-efficient *and* resource-efficient), and
// there are fewer, wider loads.
// Predicted (coarsened, against shuffle, 2^28 items): 3× to 5×. Measured: 1.9× (H200, 2026-11-26).
// Drawback: a second launch, which matters if there are few items, and only one load in flight per thread.
//@end
inline constexpr unsigned kPacksPerThread = 4;  // with fewer 16-byte loads, a thread is not worth starting
inline constexpr unsigned kBlocksPerProcessor = 8;  // of 256 threads: as many as fit on one of sm_80 or sm_90

template <typename T, typename Op>
__global__ void k04_coarsened(const T* d_in, std::uint64_t n, typename Op::Value* d_out, Op op) {
  //@solution Call strided_fold, then block_fold. Then thread 0 writes the result.
  const typename Op::Value value = block_fold(strided_fold(d_in, n, op), op);
  if (threadIdx.x == 0) d_out[blockIdx.x] = gridDim.x == 1 ? op.finish(value) : value;
  //@end
}

// Number of blocks for n items of type T: at most kBlocksPerProcessor for each multiprocessor.
template <typename T>
unsigned coarsened_grid(std::uint64_t n, int multiprocessors) {
  const std::uint64_t wanted = blocks_for(n, std::uint64_t{kBlock} * kPacksPerThread * Pack<T>::kItems);
  const std::uint64_t most = std::uint64_t{kBlocksPerProcessor} * static_cast<std::uint64_t>(multiprocessors);
  return static_cast<unsigned>(wanted < most ? wanted : most);
}

template <typename T, typename Op>
Status coarsened(const Job<T, Op>& job) {
  //@solution Launch at most twice, with the grid that coarsened_grid gives.
  //@how Choose the grid with coarsened_grid. If it has one block, write job.d_out. Otherwise write the
  //@how partial results to job.d_scratch_a and launch the kernel on them once more, with one block.
  //@instead return not_implemented(job);
  const unsigned n_blocks = coarsened_grid<T>(job.n, job.multiprocessors);
  if (n_blocks == 1) {
    k04_coarsened<<<1, kBlock, 0, job.stream>>>(job.d_in, job.n, job.d_out, job.op);
    return Status::ok;
  }
  k04_coarsened<<<n_blocks, kBlock, 0, job.stream>>>(job.d_in, job.n, job.d_scratch_a, job.op);
  const typename Op::Value* d_partials = job.d_scratch_a;
  k04_coarsened<<<1, kBlock, 0, job.stream>>>(d_partials, n_blocks, job.d_out, job.op);
  return Status::ok;
  //@end
}

// Number of blocks of the running launch that have written their partial result. atomicInc(&d_ticket,
// gridDim.x - 1) sets it back to 0 for the last block, so it is ready for the next launch. Two launches that
// use it must not overlap.
__device__ unsigned d_ticket;

// Writes the block's `value` (thread 0's) to d_partials. The block that finishes last reduces all partial
// results to d_out, in an order that depends only on gridDim and blockDim, so floating-point results do not
// change from run to run. Every thread must call it.
template <typename Op>
__device__ void finish_by_last_block(typename Op::Value value, typename Op::Value* d_partials,
                                     typename Op::Value* d_out, Op op) {
  //@solution Let the block that comes last reduce the partial results of all blocks. The next launch must
  //@hint work, too.
  //@how Thread 0 stores its value in d_partials, calls __threadfence(), takes a ticket with
  //@how atomicInc(&d_ticket, gridDim.x - 1), and calls __threadfence() again. It stores in shared memory
  //@how whether this was the last ticket. After a barrier, the last block reduces d_partials (each
  //@how thread with a stride of blockDim.x, then block_fold) and writes d_out.
  __shared__ bool s_is_last;
  if (threadIdx.x == 0) {
    d_partials[blockIdx.x] = value;
    __threadfence();  // the partial result is visible to the device before the ticket is
    s_is_last = atomicInc(&d_ticket, gridDim.x - 1) == gridDim.x - 1;
    __threadfence();  // the others' partial results are read after their tickets
  }
  __syncthreads();  // all threads see s_is_last, and the partial results that thread 0 can see
  if (!s_is_last) return;

  typename Op::Value total = op.identity();
  for (unsigned i = threadIdx.x; i < gridDim.x; i += blockDim.x) total = op(total, d_partials[i]);
  total = block_fold(total, op);
  if (threadIdx.x == 0) *d_out = op.finish(total);
  //@end
}

// --- Task 5, "single_launch" (bonus): the block that finishes last combines the partial results.
// Limits: launches ≤ 1, instructions per item ≤ 18.
//@reference
// Changed: a ticket, taken with atomicInc, shows the last block that all partial results are stored.
// Why: it saves the second launch and the gap before it.
// Predicted (single_launch, against coarsened, 2^20 items): 2×. Measured: 1.2× (H200, 2026-11-26).
// Drawback: only one load in flight per thread.
//@end
template <typename T, typename Op>
__global__ void k05_single_launch(const T* d_in, std::uint64_t n, typename Op::Value* d_partials,
                                  typename Op::Value* d_out, Op op) {
  //@solution Call strided_fold, block_fold and finish_by_last_block.
  finish_by_last_block(block_fold(strided_fold(d_in, n, op), op), d_partials, d_out, op);
  //@end
}

template <typename T, typename Op>
Status single_launch(const Job<T, Op>& job) {
  //@solution Launch the kernel once, with the grid that coarsened_grid gives.
  //@how Launch the kernel once, with coarsened_grid's number of blocks; job.d_scratch_a takes the
  //@how partial results.
  //@instead return not_implemented(job);
  const unsigned n_blocks = coarsened_grid<T>(job.n, job.multiprocessors);
  k05_single_launch<<<n_blocks, kBlock, 0, job.stream>>>(job.d_in, job.n, job.d_scratch_a, job.d_out, job.op);
  return Status::ok;
  //@end
}

//@reference
// --- Rung 6: as fast as the memory.
// Changed:
// - every thread issues kInFlight 16-byte loads before it combines the first one, also in its last round, and
//   combines them into as many accumulators;
// - the grid has as many blocks as the device can run at the same time, so no block starts late;
// - one block reduces an array of up to 64 KB: four loads per thread, and no ticket.
// Why: Little's law says how many bytes must be in flight for an idle memory; a busy one needs more. This
// kernel has several times as many, as long as there are enough items. There are also fewer partial results:
// 264 on an H200 instead of 1,056.
// Predicted (state_of_the_art, 2^28 items): 258 µs. Measured: 235.0 µs (H200, 2026-11-26).
// Tried and slower: 4 loads per thread with 4 blocks per multiprocessor, and 16 loads with 1 block.
// Drawback: none that a reduction could avoid. If there are few items, the launch takes most of the time.
// The order of combining depends on n, the address and the grid alone, so floating-point results do not
// change from run to run.
inline constexpr unsigned kInFlight = 8;
inline constexpr unsigned kResidentBlocks = 2;  // of kWideBlock threads, on a multiprocessor
inline constexpr unsigned kWideBlock = 512;

template <typename T, typename Op>
__global__ void __launch_bounds__(kWideBlock, kResidentBlocks)
    k06_state_of_the_art(const T* d_in, std::uint64_t n, typename Op::Value* d_partials,
                         typename Op::Value* d_out, Op op) {
  using Value = typename Op::Value;
  const Packed<T> in = packed(d_in, n);
  const std::uint64_t n_threads = std::uint64_t{gridDim.x} * kWideBlock;
  const std::uint64_t gid = std::uint64_t{blockIdx.x} * kWideBlock + threadIdx.x;

  // Full rounds: kInFlight vectors per thread, each one grid apart, so that every load is coalesced.
  Value sums[kInFlight];
#pragma unroll
  for (unsigned k = 0; k < kInFlight; ++k) sums[k] = op.identity();
  std::uint64_t i = gid;
  for (; i + (kInFlight - 1) * n_threads < in.n_packs; i += kInFlight * n_threads) {
    Pack<T> packs[kInFlight];
#pragma unroll
    for (unsigned k = 0; k < kInFlight; ++k) packs[k] = in.d_packs[i + k * n_threads];
#pragma unroll
    for (unsigned k = 0; k < kInFlight; ++k) {
#pragma unroll
      for (unsigned j = 0; j < Pack<T>::kItems; ++j)
        sums[k] = op(sums[k], static_cast<Value>(packs[k].item[j]));
    }
  }
  // The rest: fewer than kInFlight vectors per thread, again all in flight at once; then the items at both
  // unaligned ends.
  Pack<T> rest[kInFlight];
#pragma unroll
  for (unsigned k = 0; k < kInFlight; ++k) {
    if (i + k * n_threads < in.n_packs) rest[k] = in.d_packs[i + k * n_threads];
  }
#pragma unroll
  for (unsigned k = 0; k < kInFlight; ++k) {
    if (i + k * n_threads >= in.n_packs) break;
#pragma unroll
    for (unsigned j = 0; j < Pack<T>::kItems; ++j) sums[k] = op(sums[k], static_cast<Value>(rest[k].item[j]));
  }
  if (gid < in.n_head) sums[0] = op(sums[0], static_cast<Value>(d_in[gid]));
  if (in.tail + gid < n) sums[0] = op(sums[0], static_cast<Value>(d_in[in.tail + gid]));

  Value value = sums[0];
#pragma unroll
  for (unsigned k = 1; k < kInFlight; ++k) value = op(value, sums[k]);
  finish_by_last_block(block_fold(value, op), d_partials, d_out, op);
}

// Short arrays: one block, no ticket, and no loop. A small kernel starts sooner, because its instructions
// must be loaded, too. The fewer warps there are, the sooner they are combined.
inline constexpr unsigned kFewThreads = 256;  // with so many, each thread has one vector …
inline constexpr unsigned kPacksOfShort = 4;  // … and then up to so many, in up to kOneBlock threads
inline constexpr unsigned kOneBlock = 1024;

template <typename T, typename Op>
__global__ void __launch_bounds__(kOneBlock)
    k06_one_block(const T* d_in, std::uint64_t n, typename Op::Value* d_out, Op op) {
  using Value = typename Op::Value;
  const Packed<T> in = packed(d_in, n);
  const unsigned tid = threadIdx.x;
  Pack<T> packs[kPacksOfShort];
#pragma unroll
  for (unsigned k = 0; k < kPacksOfShort; ++k) {
    if (tid + k * blockDim.x < in.n_packs) packs[k] = in.d_packs[tid + k * blockDim.x];
  }
  Value value = tid < in.n_head ? static_cast<Value>(d_in[tid]) : op.identity();
  if (in.tail + tid < n) value = op(value, static_cast<Value>(d_in[in.tail + tid]));
#pragma unroll
  for (unsigned k = 0; k < kPacksOfShort; ++k) {
    if (tid + k * blockDim.x >= in.n_packs) break;
#pragma unroll
    for (unsigned j = 0; j < Pack<T>::kItems; ++j) value = op(value, static_cast<Value>(packs[k].item[j]));
  }
  value = block_fold(value, op);
  if (tid == 0) *d_out = op.finish(value);
}

template <typename T, typename Op>
Status state_of_the_art(const Job<T, Op>& job) {
  if (job.n <= kOneBlock * kPacksOfShort * Pack<T>::kItems) {
    const std::uint64_t one_each = blocks_for(job.n, kWarp * Pack<T>::kItems) * kWarp;
    const std::uint64_t most_each = blocks_for(job.n, kPacksOfShort * kWarp * Pack<T>::kItems) * kWarp;
    const auto n_here = static_cast<unsigned>(one_each < kFewThreads    ? one_each
                                              : most_each < kFewThreads ? kFewThreads
                                                                        : most_each);
    k06_one_block<<<1, n_here, 0, job.stream>>>(job.d_in, job.n, job.d_out, job.op);
    return Status::ok;
  }
  const std::uint64_t wanted = blocks_for(job.n, std::uint64_t{kWideBlock} * Pack<T>::kItems);
  const std::uint64_t resident =
      std::uint64_t{kResidentBlocks} * static_cast<std::uint64_t>(job.multiprocessors);
  const unsigned n_blocks = static_cast<unsigned>(wanted < resident ? wanted : resident);
  k06_state_of_the_art<<<n_blocks, kWideBlock, 0, job.stream>>>(job.d_in, job.n, job.d_scratch_a, job.d_out,
                                                                job.op);
  return Status::ok;
}

//@end
// --- Given: which function implements which task.
template <typename T, typename Op>
Status solve(Rung rung, const Job<T, Op>& job) {
  switch (rung) {
    case Rung::neighboured: return neighboured(job);
    case Rung::sequential: return sequential(job);
    case Rung::shuffle: return shuffle(job);
    case Rung::coarsened: return coarsened(job);
    case Rung::single_launch: return single_launch(job);
    //@reference
    case Rung::reindexed: return reindexed(job);
    case Rung::first_add: return first_add(job);
    case Rung::state_of_the_art: return state_of_the_art(job);
    //@end
    default: return Status::unsupported;
  }
}

Status run(const lab::Request& request) {
  return dispatch(request, [&](const auto& job) { return solve(static_cast<Rung>(request.task), job); });
}

}  // namespace course::reduction
