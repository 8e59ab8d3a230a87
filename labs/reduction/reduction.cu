// SPDX-License-Identifier: MIT
// Reduction: your file. Read labs/reduction/lab.hpp first (operators, Job), then handouts/01-reduction.md.
// Work from the top down: each task is a kernel and the host function that launches it. Grade one task with
//   ./lab grade reduction --task neighboured
// Until you write it, a task answers "not implemented". Do not change the given lines at the end.
#include "reduction/lab.hpp"

namespace course::reduction {

inline constexpr unsigned kBlock = 256;     // threads in a block: a power of two
inline constexpr unsigned kWarp = 32;       // threads in a warp
inline constexpr unsigned kFullMask = ~0u;  // every lane of a warp takes part

// Blocks that are needed to cover n items; at least one, so that n = 0 is answered too.
constexpr std::uint64_t blocks_for(std::uint64_t n, std::uint64_t items_per_block) {
  return n == 0 ? 1 : (n + items_per_block - 1) / items_per_block;
}

// Turns the items into one value by as many launches as it takes: each launch leaves one partial result per
// block, and the next one reduces those, until one block is left. Partials alternate between the two scratch
// arrays; the last launch writes job.d_out. Calls launch(d_in, n, d_out, n_blocks); d_in points to items T in
// the first launch and to Values after.
template <typename T, typename Op, typename Launch>
Status by_levels(const Job<T, Op>& job, std::uint64_t items_per_block, Launch launch) {
  // TODO(student): Launch on the items, then on the partial results, until one block is left. Use blocks_for.
  // Pick d_out for each launch: job.d_out when it has one block, else the scratch array that the launch does
  // not read. (roughly 15 lines)
  static_cast<void>(items_per_block);
  static_cast<void>(launch);
  return not_implemented(job);
}

// --- Rung 1, task "neighboured": partners are neighbours, 1 apart, then 2, 4, 8 …
// Reads 4n bytes once, writes one Value per block; n - 1 operations, 8 steps per launch with 256 threads.
// Every rung's kernel has this form: reduce the block's items (places past n count as the identity); thread 0
// writes the block's partial result to d_out[blockIdx.x], finished by op.finish if this block is the only one.
template <typename T, typename Op>
__global__ void k01_neighboured(const T* d_in, std::uint64_t n, typename Op::Value* d_out, Op op) {
  // TODO(student): Load one item per thread into shared memory; barrier. For stride 1, 2, 4 …: the threads
  // whose index is a multiple of 2 * stride fold in the value `stride` to their right; barrier. Guard with
  // the *global* index, and let no thread leave before the last barrier. (roughly 10 lines)
}

template <typename T, typename Op>
Status neighboured(const Job<T, Op>& job) {
  // TODO(student): Call by_levels with kBlock items per block and a lambda that launches k01_neighboured on
  // job.stream. (roughly 3 lines)
  return not_implemented(job);
}

// --- Rung 3, task "sequential": the lower half of the threads folds in the upper half, then the lower
// quarter …
template <typename T, typename Op>
__global__ void k03_sequential(const T* d_in, std::uint64_t n, typename Op::Value* d_out, Op op) {
  // TODO(student): As in rung 1, but let stride run from kBlock / 2 down to 1 and let the threads tid <
  // stride work. (roughly 10 lines)
}

template <typename T, typename Op>
Status sequential(const Job<T, Op>& job) {
  // TODO(student): As for neighboured, with your kernel of this rung. (roughly 3 lines)
  return not_implemented(job);
}

// Folds the 32 values of a warp by shuffles. All 32 lanes must call it; the result is valid in lane 0.
// No shared memory, no barrier; 5 steps, 31 useful operations.
template <typename Op>
__device__ typename Op::Value warp_fold(typename Op::Value value, Op op) {
  // TODO(student): For offset 16, 8, 4, 2, 1: fold in the value of the lane `offset` above, from
  // __shfl_down_sync(kFullMask, value, offset). (roughly 4 lines)
  return op(value, op.identity());
}

// --- Rung 5, task "shuffle": two items per thread on the way in, shared memory down to 32 values, one warp
// shuffles the rest.
template <typename T, typename Op>
__global__ void k05_shuffle(const T* d_in, std::uint64_t n, typename Op::Value* d_out, Op op) {
  // TODO(student): A block covers 2 * kBlock items: each thread loads two, kBlock apart, and folds them (mind
  // both ends), then stores the result in shared memory; barrier. Rung 3's loop down to 32 values; then the
  // first warp alone calls warp_fold. (roughly 15 lines)
}

template <typename T, typename Op>
Status shuffle(const Job<T, Op>& job) {
  // TODO(student): As before; mind how many items a block covers now. (roughly 3 lines)
  return not_implemented(job);
}

// Folds one value per thread over the block. Every thread must call it; the result is valid in thread 0.
// blockDim.x must be a multiple of 32. 32 Values of shared memory, one barrier. Calling it again needs a
// barrier in between.
template <typename Op>
__device__ typename Op::Value block_fold(typename Op::Value value, Op op) {
  // TODO(student): Each warp folds its own values; lane 0 of each leaves the result in shared memory;
  // barrier; warp 0 folds those (lanes beyond the number of warps bring the identity). (roughly 10 lines)
  return warp_fold(value, op);
}

// 16 bytes of items: what one lane can load with one instruction, from an address that is a multiple of 16.
template <typename T>
struct alignas(16) Pack {
  static constexpr unsigned kItems = 16 / sizeof(T);
  T item[kItems];
};

// Where the 16-byte loads of n items at d_in can start, and what is left over at both ends (each less than
// Pack::kItems).
template <typename T>
struct Packed {
  const Pack<T>* d_packs;  // n_packs of them, aligned
  std::uint64_t n_packs;
  std::uint64_t n_head;  // items before the first pack
  std::uint64_t tail;    // index of the first item after the last pack
};
template <typename T>
__device__ Packed<T> packed(const T* d_in, std::uint64_t n) {
  const std::uint64_t misaligned = reinterpret_cast<std::uintptr_t>(d_in) % 16 / sizeof(T);
  std::uint64_t n_head = misaligned == 0 ? 0 : Pack<T>::kItems - misaligned;
  if (n_head > n) n_head = n;
  const std::uint64_t n_packs = (n - n_head) / Pack<T>::kItems;
  return {reinterpret_cast<const Pack<T>*>(d_in + n_head), n_packs, n_head,
          n_head + n_packs * Pack<T>::kItems};
}

// The calling thread's share of the grid's n items, folded: head and tail items by the first threads, packs
// grid-strided. n / (threads in the grid) dependent steps; reads 4n bytes over the grid. For any n, any
// alignment, any grid.
template <typename T, typename Op>
__device__ typename Op::Value strided_fold(const T* d_in, std::uint64_t n, Op op) {
  // TODO(student): Thread g of the whole grid folds item g of the head and item g of the tail if there is
  // one, and packs g, g + threads, g + 2 * threads … in between, where `threads` is the number of threads in
  // the grid. Use packed(). (roughly 10 lines)
  static_cast<void>(d_in);
  static_cast<void>(n);
  return op.identity();
}

// --- Rung 6, task "coarsened": a fixed number of threads, each folds many items one after the other, the
// tree comes last.
inline constexpr unsigned kPacksPerThread = 4;  // below this many 16-byte loads a thread isn't worth starting
inline constexpr unsigned kBlocksPerProcessor = 8;  // fills a multiprocessor with 256-thread blocks

template <typename T, typename Op>
__global__ void k06_coarsened(const T* d_in, std::uint64_t n, typename Op::Value* d_out, Op op) {
  // TODO(student): strided_fold, then block_fold, then thread 0 writes. (roughly 2 lines)
}

// Blocks for n items of type T: no more than keep the whole device busy.
template <typename T>
unsigned coarsened_grid(std::uint64_t n, int multiprocessors) {
  const std::uint64_t wanted = blocks_for(n, std::uint64_t{kBlock} * kPacksPerThread * Pack<T>::kItems);
  const std::uint64_t most = std::uint64_t{kBlocksPerProcessor} * static_cast<std::uint64_t>(multiprocessors);
  return static_cast<unsigned>(wanted < most ? wanted : most);
}

template <typename T, typename Op>
Status coarsened(const Job<T, Op>& job) {
  // TODO(student): Choose the grid with coarsened_grid. One block: write job.d_out. Else leave the partials
  // in job.d_scratch_a and launch the kernel once more, with one block, on those. (roughly 9 lines)
  return not_implemented(job);
}

// Blocks of the running launch that have left their partial result. atomicInc(&d_ticket, gridDim.x - 1) wraps
// it to 0 with the launch's last block, so it is ready for the next launch; two launches that use it must not
// overlap.
__device__ unsigned d_ticket;

// Leaves the block's `value` (thread 0's) in d_partials; the block that comes last folds all partials, in
// block order, into d_out. Every thread must call it. Order of combining depends on gridDim alone: floats
// come out the same in every run.
template <typename Op>
__device__ void finish_by_last_block(typename Op::Value value, typename Op::Value* d_partials,
                                     typename Op::Value* d_out, Op op) {
  // TODO(student): Thread 0 stores its value in d_partials, __threadfence(), takes a ticket with
  // atomicInc(&d_ticket, gridDim.x - 1), __threadfence() again, and tells the block through shared memory
  // whether the ticket was the last one. The last block folds d_partials (each thread strided, then
  // block_fold) and writes d_out. (roughly 15 lines)
  static_cast<void>(value);
  static_cast<void>(d_partials);
  static_cast<void>(d_out);
  static_cast<void>(op);
}

// --- Rung 7, task "single_launch" (bonus): the block that finishes last adds up the partials.
template <typename T, typename Op>
__global__ void k07_single_launch(const T* d_in, std::uint64_t n, typename Op::Value* d_partials,
                                  typename Op::Value* d_out, Op op) {
  // TODO(student): strided_fold, block_fold, finish_by_last_block. (roughly 1 line)
}

template <typename T, typename Op>
Status single_launch(const Job<T, Op>& job) {
  // TODO(student): One launch with coarsened_grid's blocks; job.d_scratch_a takes the partials. (roughly 3
  // lines)
  return not_implemented(job);
}

// --- Given: which function answers which task.
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
