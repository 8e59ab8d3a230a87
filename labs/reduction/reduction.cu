// SPDX-License-Identifier: MIT
// Reduction: your file.
// Read labs/reduction/lab.hpp (operators, Job), then handouts/01-reduction.md.
// given.cuh in the same folder has functions that your code calls.
// Work from the top down: each task is a kernel and the host function that launches it. T is the
// type of the items, Op that of the operator, Op::Value that of results (of integers' mean:
// double). Grade one task with
//   ./lab grade reduction --task neighboured
// Until you write it, a task returns "not implemented". Do not change the given lines at the end.
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
template <typename T, typename Op>
__global__ void k01_neighboured(const T* d_in, std::uint64_t n, typename Op::Value* d_out, Op op) {
  // TODO(student): Reduce the block's items by the tree that the comment above describes. Every n must work,
  // also one that is no multiple of the block. (roughly 10 lines)
}

// by_levels executes the lines between the inner braces once for each launch. In the first one, d_in points
// to the items; later, it points to the partial results of the launch before.
template <typename T, typename Op>
Status neighboured(const Job<T, Op>& job) {
  by_levels(job, kBlock, [&](const auto* d_in, std::uint64_t n, auto* d_out, unsigned n_blocks) {
    // TODO(student): Launch k01_neighboured: n_blocks blocks of kBlock threads on job.stream, with the
    // operator job.op. (roughly 1 line)
  });
  return not_implemented(job);  // change to Status::ok when kernel and launch are written
}

// --- Task 2, "sequential": the lower half of the threads combines its values with the upper half's,
// then the lower quarter with the second quarter …
// Limits: active_lanes ≥ 0.85, bank_conflicts per 1,024 items ≤ 20 (none is needed).
template <typename T, typename Op>
__global__ void k02_sequential(const T* d_in, std::uint64_t n, typename Op::Value* d_out, Op op) {
  // TODO(student): Write the kernel of task 1 with these partners. (roughly 10 lines)
}

template <typename T, typename Op>
Status sequential(const Job<T, Op>& job) {
  // TODO(student): Do the same as in task 1, with this kernel. (roughly 3 lines)
  return not_implemented(job);
}

// Reduces the 32 values of a warp with shuffles. All 32 lanes must call it; the result is valid in lane 0.
// It needs no shared memory and no barrier, and takes 5 steps with 31 useful operations.
template <typename Op>
__device__ typename Op::Value warp_fold(typename Op::Value value, Op op) {
  // TODO(student): Use shuffles (__shfl_down_sync). (roughly 4 lines)
  return op(value, op.identity());
}

// --- Task 3, "shuffle": each thread combines two items while it loads them; shared memory is used down
// to 32 values, and one warp reduces these with shuffles.
// Limits: barriers per 1,024 items ≤ 12 (a block of 512 items needs 4), instructions per item ≤ 26.
template <typename T, typename Op>
__global__ void k03_shuffle(const T* d_in, std::uint64_t n, typename Op::Value* d_out, Op op) {
  // TODO(student): Reduce 2 * kBlock items per block, with warp_fold at the end. (roughly 15 lines)
}

template <typename T, typename Op>
Status shuffle(const Job<T, Op>& job) {
  // TODO(student): Do the same as before, but a block now covers 2 * kBlock items. (roughly 3 lines)
  return not_implemented(job);
}

// Reduces one value per thread over the block. Every thread must call it; the result is valid in thread 0.
// blockDim.x must be a multiple of 32. It uses 32 Values of shared memory and one barrier. Two calls need
// another barrier between them.
template <typename Op>
__device__ typename Op::Value block_fold(typename Op::Value value, Op op) {
  // TODO(student): Use warp_fold, and shared memory between the warps. (roughly 10 lines)
  return warp_fold(value, op);
}

// Reduces the calling thread's share of the grid's n items. The first threads of the grid also take the items
// before the first vector and after the last one; all threads take the vectors with a stride of one grid.
// About n / (threads in the grid) dependent steps; the grid reads each item once. Works for any n, any
// alignment and any grid.
template <typename T, typename Op>
__device__ typename Op::Value strided_fold(const T* d_in, std::uint64_t n, Op op) {
  // TODO(student): Return the calling thread's share: with the whole grid, every item must be in exactly one
  // share. Load as many items as possible as vectors, with packed(). (roughly 10 lines)
  return op.identity();
}

// --- Task 4, "coarsened": a fixed number of threads; each one combines many items by itself, and the
// tree comes last.
// Limits: instructions per item ≤ 18, launches ≤ 2.
inline constexpr unsigned kPacksPerThread = 4;  // with fewer 16-byte loads, a thread is not worth starting
inline constexpr unsigned kBlocksPerProcessor = 8;  // of 256 threads: as many as fit on one of sm_80 or sm_90

template <typename T, typename Op>
__global__ void k04_coarsened(const T* d_in, std::uint64_t n, typename Op::Value* d_out, Op op) {
  // TODO(student): Call strided_fold, then block_fold. Then thread 0 writes the result. (roughly 2 lines)
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
  // TODO(student): Launch at most twice, with the grid that coarsened_grid gives. (roughly 9 lines)
  return not_implemented(job);
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
  // TODO(student): Let the block that comes last reduce the partial results of all blocks. The next launch
  // must work, too. (roughly 15 lines)
}

// --- Task 5, "single_launch" (bonus): the block that finishes last combines the partial results.
// Limits: launches ≤ 1, instructions per item ≤ 18.
template <typename T, typename Op>
__global__ void k05_single_launch(const T* d_in, std::uint64_t n, typename Op::Value* d_partials,
                                  typename Op::Value* d_out, Op op) {
  // TODO(student): Call strided_fold, block_fold and finish_by_last_block. (roughly 1 line)
}

template <typename T, typename Op>
Status single_launch(const Job<T, Op>& job) {
  // TODO(student): Launch the kernel once, with the grid that coarsened_grid gives. (roughly 3 lines)
  return not_implemented(job);
}

// --- Given: which function implements which task.
template <typename T, typename Op>
Status solve(Rung rung, const Job<T, Op>& job) {
  switch (rung) {
    case Rung::neighboured: return neighboured(job);
    case Rung::sequential: return sequential(job);
    case Rung::shuffle: return shuffle(job);
    case Rung::coarsened: return coarsened(job);
    case Rung::single_launch: return single_launch(job);
    default: return Status::unsupported;
  }
}

Status run(const lab::Request& request) {
  return dispatch(request, [&](const auto& job) { return solve(static_cast<Rung>(request.task), job); });
}

}  // namespace course::reduction
