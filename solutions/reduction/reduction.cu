// SPDX-License-Identifier: MIT
//@student // Reduction: your file. Read labs/reduction/lab.hpp first (operators, Job), then handouts/01-reduction.md.
//@student // Work from the top down: each task is a kernel and the host function that launches it. Grade one task with
//@student //   ./lab grade reduction --task neighboured
//@student // Until you write it, a task answers "not implemented". Do not change the given lines at the end.
//@reference
// Reduction: the whole ladder, from one tree per block to the device's memory speed.
// Read from the top: each rung says what changed, why that should be faster, what it still wastes; predictions
// are for 2^24 int32 items. Lines that start with //@ steer the generator of the students' file
// (common/tools/make_skeleton.py).
// Invariant: every rung gives the same answer for every (item type, operator, n), n = 0 included, and no rung
// writes d_in.
// Source: M. Harris, "Optimizing Parallel Reduction in CUDA" (2007), for rungs 1 to 6; the ticket of rung 7 is
// the idea of the CUDA sample threadFenceReduction. Here generic, with 64-bit sizes and any alignment.
//@end
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
  //@solution Launch on the items, then on the partial results, until one block is left. Use blocks_for. Pick d_out for each
  //@hint launch: job.d_out when it has one block, else the scratch array that the launch does not read.
  //@instead static_cast<void>(items_per_block);
  //@instead static_cast<void>(launch);
  //@instead return not_implemented(job);
  using Value = typename Op::Value;
  std::uint64_t n_blocks = blocks_for(job.n, items_per_block);
  Value* d_to = job.d_scratch_a;
  Value* d_spare = job.d_scratch_b;
  launch(job.d_in, job.n, n_blocks == 1 ? job.d_out : d_to, static_cast<unsigned>(n_blocks));
  while (n_blocks > 1) {
    const std::uint64_t n_partials = n_blocks;
    n_blocks = blocks_for(n_partials, items_per_block);
    const Value* d_from = d_to;
    d_to = d_spare;
    d_spare = const_cast<Value*>(d_from);
    launch(d_from, n_partials, n_blocks == 1 ? job.d_out : d_to, static_cast<unsigned>(n_blocks));
  }
  return Status::ok;
  //@end
}

// --- Rung 1, task "neighboured": partners are neighbours, 1 apart, then 2, 4, 8 …
// Reads 4n bytes once, writes one Value per block; n - 1 operations, 8 steps per launch with 256 threads.
// Every rung's kernel has this form: reduce the block's items (places past n count as the identity); thread 0
// writes the block's partial result to d_out[blockIdx.x], finished by op.finish if this block is the only one.
//@reference
// Why: the tree needs log2 n steps where a loop needs n. Wastes: `tid % (2 * stride) == 0` leaves half, then
// 3/4, then 7/8 of the lanes *inside every warp* idle, so no warp ever retires early, and % costs a handful
// of instructions per round.
//@end
template <typename T, typename Op>
__global__ void k01_neighboured(const T* d_in, std::uint64_t n, typename Op::Value* d_out, Op op) {
  //@solution Load one item per thread into shared memory; barrier. For stride 1, 2, 4 …: the threads whose index is a multiple of
  //@hint 2 * stride fold in the value `stride` to their right; barrier. Guard with the *global* index, and let no thread
  //@hint leave before the last barrier.
  using Value = typename Op::Value;
  __shared__ Value s_data[kBlock];
  const unsigned tid = threadIdx.x;
  const std::uint64_t gid = std::uint64_t{blockIdx.x} * kBlock + tid;

  s_data[tid] = gid < n ? static_cast<Value>(d_in[gid]) : op.identity();
  __syncthreads();  // the block's items are loaded before a partner reads them

  for (unsigned stride = 1; stride < kBlock; stride *= 2) {
    if (tid % (2 * stride) == 0) s_data[tid] = op(s_data[tid], s_data[tid + stride]);
    __syncthreads();  // this round's writes before the next round's reads
  }
  if (tid == 0) d_out[blockIdx.x] = gridDim.x == 1 ? op.finish(s_data[0]) : s_data[0];
  //@end
}

template <typename T, typename Op>
Status neighboured(const Job<T, Op>& job) {
  //@solution Call by_levels with kBlock items per block and a lambda that launches k01_neighboured on job.stream.
  //@instead return not_implemented(job);
  return by_levels(job, kBlock, [&](const auto* d_in, std::uint64_t n, auto* d_out, unsigned n_blocks) {
    k01_neighboured<<<n_blocks, kBlock, 0, job.stream>>>(d_in, n, d_out, job.op);
  });
  //@end
}

//@reference
// --- Rung 2: the same pairs, but thread t takes the t-th pair of the round instead of sitting where the pair
// is. Changed: index = 2 * stride * tid. Why: working threads are packed into the first warps, the other
// warps skip the round: about 1.5 times as fast. Wastes: lanes now reach into shared memory 2 * stride words
// apart, so 2, 4, … 32 lanes meet in one bank and a request takes that many passes.
template <typename T, typename Op>
__global__ void k02_reindexed(const T* d_in, std::uint64_t n, typename Op::Value* d_out, Op op) {
  using Value = typename Op::Value;
  __shared__ Value s_data[kBlock];
  const unsigned tid = threadIdx.x;
  const std::uint64_t gid = std::uint64_t{blockIdx.x} * kBlock + tid;

  s_data[tid] = gid < n ? static_cast<Value>(d_in[gid]) : op.identity();
  __syncthreads();  // the block's items are loaded before a partner reads them

  for (unsigned stride = 1; stride < kBlock; stride *= 2) {
    const unsigned left = 2 * stride * tid;
    if (left < kBlock) s_data[left] = op(s_data[left], s_data[left + stride]);
    __syncthreads();  // this round's writes before the next round's reads
  }
  if (tid == 0) d_out[blockIdx.x] = gridDim.x == 1 ? op.finish(s_data[0]) : s_data[0];
}

template <typename T, typename Op>
Status reindexed(const Job<T, Op>& job) {
  return by_levels(job, kBlock, [&](const auto* d_in, std::uint64_t n, auto* d_out, unsigned n_blocks) {
    k02_reindexed<<<n_blocks, kBlock, 0, job.stream>>>(d_in, n, d_out, job.op);
  });
}

//@end
// --- Rung 3, task "sequential": the lower half of the threads folds in the upper half, then the lower
// quarter …
//@reference
// Changed: partners are blockDim/2 apart, then /4, down to 1; threads tid < stride work. Why: working lanes
// are neighbours *and* touch neighbouring words: whole warps idle, and no two lanes meet in a bank. About 1.2
// times rung 2. Wastes: half of the threads only load an item and never combine anything.
//@end
template <typename T, typename Op>
__global__ void k03_sequential(const T* d_in, std::uint64_t n, typename Op::Value* d_out, Op op) {
  //@solution As in rung 1, but let stride run from kBlock / 2 down to 1 and let the threads tid < stride work.
  using Value = typename Op::Value;
  __shared__ Value s_data[kBlock];
  const unsigned tid = threadIdx.x;
  const std::uint64_t gid = std::uint64_t{blockIdx.x} * kBlock + tid;

  s_data[tid] = gid < n ? static_cast<Value>(d_in[gid]) : op.identity();
  __syncthreads();  // the block's items are loaded before a partner reads them

  for (unsigned stride = kBlock / 2; stride > 0; stride /= 2) {
    if (tid < stride) s_data[tid] = op(s_data[tid], s_data[tid + stride]);
    __syncthreads();  // this round's writes before the next round's reads
  }
  if (tid == 0) d_out[blockIdx.x] = gridDim.x == 1 ? op.finish(s_data[0]) : s_data[0];
  //@end
}

template <typename T, typename Op>
Status sequential(const Job<T, Op>& job) {
  //@solution As for neighboured, with your kernel of this rung.
  //@instead return not_implemented(job);
  return by_levels(job, kBlock, [&](const auto* d_in, std::uint64_t n, auto* d_out, unsigned n_blocks) {
    k03_sequential<<<n_blocks, kBlock, 0, job.stream>>>(d_in, n, d_out, job.op);
  });
  //@end
}

//@reference
// --- Rung 4: the first combine happens on the way in.
// Changed: a block covers 2 * blockDim items; each thread folds two of them as it loads. Why: half the
// blocks, every thread combines at least once, two loads are in flight per thread: close to 2 times rung 3.
// Wastes: in the last six rounds one warp works while all of the block's warps still wait at six barriers.
template <typename T, typename Op>
__global__ void k04_first_add(const T* d_in, std::uint64_t n, typename Op::Value* d_out, Op op) {
  using Value = typename Op::Value;
  __shared__ Value s_data[kBlock];
  const unsigned tid = threadIdx.x;
  const std::uint64_t gid = std::uint64_t{blockIdx.x} * (2 * kBlock) + tid;

  Value value = gid < n ? static_cast<Value>(d_in[gid]) : op.identity();
  if (gid + kBlock < n) value = op(value, static_cast<Value>(d_in[gid + kBlock]));
  s_data[tid] = value;
  __syncthreads();  // the block's pairs are folded before a partner reads them

  for (unsigned stride = kBlock / 2; stride > 0; stride /= 2) {
    if (tid < stride) s_data[tid] = op(s_data[tid], s_data[tid + stride]);
    __syncthreads();  // this round's writes before the next round's reads
  }
  if (tid == 0) d_out[blockIdx.x] = gridDim.x == 1 ? op.finish(s_data[0]) : s_data[0];
}

template <typename T, typename Op>
Status first_add(const Job<T, Op>& job) {
  return by_levels(job, 2 * kBlock, [&](const auto* d_in, std::uint64_t n, auto* d_out, unsigned n_blocks) {
    k04_first_add<<<n_blocks, kBlock, 0, job.stream>>>(d_in, n, d_out, job.op);
  });
}

//@end
// Folds the 32 values of a warp by shuffles. All 32 lanes must call it; the result is valid in lane 0.
// No shared memory, no barrier; 5 steps, 31 useful operations.
template <typename Op>
__device__ typename Op::Value warp_fold(typename Op::Value value, Op op) {
  //@solution For offset 16, 8, 4, 2, 1: fold in the value of the lane `offset` above, from __shfl_down_sync(kFullMask, value, offset).
  //@instead return op(value, op.identity());
  for (unsigned offset = kWarp / 2; offset > 0; offset /= 2) {
    value = op(value, __shfl_down_sync(kFullMask, value, offset));
  }
  return value;
  //@end
}

// --- Rung 5, task "shuffle": two items per thread on the way in, shared memory down to 32 values, one warp
// shuffles the rest.
//@reference
// Changed: from 32 values on, warp 0 exchanges registers instead of going through shared memory. Why: five
// rounds lose their barrier, their shared load and store; lanes of a warp need no barrier between them. 1.1
// to 1.3 times rung 4. Wastes: with only two items per thread, blocks spend most of their life starting,
// waiting at barriers and ending; memory idles.
//@end
template <typename T, typename Op>
__global__ void k05_shuffle(const T* d_in, std::uint64_t n, typename Op::Value* d_out, Op op) {
  //@solution A block covers 2 * kBlock items: each thread loads two, kBlock apart, and folds them (mind both ends), then stores the
  //@hint result in shared memory; barrier. Rung 3's loop down to 32 values; then the first warp alone calls warp_fold.
  using Value = typename Op::Value;
  __shared__ Value s_data[kBlock];
  const unsigned tid = threadIdx.x;
  const std::uint64_t gid = std::uint64_t{blockIdx.x} * (2 * kBlock) + tid;

  Value value = gid < n ? static_cast<Value>(d_in[gid]) : op.identity();
  if (gid + kBlock < n) value = op(value, static_cast<Value>(d_in[gid + kBlock]));
  s_data[tid] = value;
  __syncthreads();  // the block's pairs are folded before a partner reads them

  for (unsigned stride = kBlock / 2; stride >= kWarp; stride /= 2) {
    if (tid < stride) s_data[tid] = op(s_data[tid], s_data[tid + stride]);
    __syncthreads();  // this round's writes before the next round's reads
  }
  if (tid < kWarp) {
    value = warp_fold(s_data[tid], op);
    if (tid == 0) d_out[blockIdx.x] = gridDim.x == 1 ? op.finish(value) : value;
  }
  //@end
}

template <typename T, typename Op>
Status shuffle(const Job<T, Op>& job) {
  //@solution As before; mind how many items a block covers now.
  //@instead return not_implemented(job);
  return by_levels(job, 2 * kBlock, [&](const auto* d_in, std::uint64_t n, auto* d_out, unsigned n_blocks) {
    k05_shuffle<<<n_blocks, kBlock, 0, job.stream>>>(d_in, n, d_out, job.op);
  });
  //@end
}

// Folds one value per thread over the block. Every thread must call it; the result is valid in thread 0.
// blockDim.x must be a multiple of 32. 32 Values of shared memory, one barrier. Calling it again needs a
// barrier in between.
template <typename Op>
__device__ typename Op::Value block_fold(typename Op::Value value, Op op) {
  //@solution Each warp folds its own values; lane 0 of each leaves the result in shared memory; barrier; warp 0 folds those (lanes
  //@hint beyond the number of warps bring the identity).
  //@instead return warp_fold(value, op);
  using Value = typename Op::Value;
  __shared__ Value s_warp[kWarp];
  const unsigned lane = threadIdx.x % kWarp;
  const unsigned warp = threadIdx.x / kWarp;
  value = warp_fold(value, op);
  if (lane == 0) s_warp[warp] = value;
  __syncthreads();  // every warp's partial is stored before warp 0 reads them
  if (warp == 0) {
    value = lane < blockDim.x / kWarp ? s_warp[lane] : op.identity();
    value = warp_fold(value, op);
  }
  return value;
  //@end
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
  //@solution Thread g of the whole grid folds item g of the head and item g of the tail if there is one, and packs g, g + threads,
  //@hint g + 2 * threads … in between, where `threads` is the number of threads in the grid. Use packed().
  //@instead static_cast<void>(d_in);
  //@instead static_cast<void>(n);
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

// --- Rung 6, task "coarsened": a fixed number of threads, each folds many items one after the other, the
// tree comes last.
//@reference
// Changed: the grid no longer grows with n; a thread walks the array in grid-sized strides, 16 bytes at a
// time; one tree per block at the end; two launches at most. Why: n / threads operations run at full width
// and need no barrier (work-efficient *and* resource-efficient), loads are few and wide: 3 to 5 times rung 5,
// near the memory's speed at large n. Wastes: a second launch (about 2 µs) that matters below 2^22 items, and
// one load in flight per thread at a time.
//@end
inline constexpr unsigned kPacksPerThread = 4;  // below this many 16-byte loads a thread isn't worth starting
inline constexpr unsigned kBlocksPerProcessor = 8;  // fills a multiprocessor with 256-thread blocks

template <typename T, typename Op>
__global__ void k06_coarsened(const T* d_in, std::uint64_t n, typename Op::Value* d_out, Op op) {
  //@solution strided_fold, then block_fold, then thread 0 writes.
  const typename Op::Value value = block_fold(strided_fold(d_in, n, op), op);
  if (threadIdx.x == 0) d_out[blockIdx.x] = gridDim.x == 1 ? op.finish(value) : value;
  //@end
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
  //@solution Choose the grid with coarsened_grid. One block: write job.d_out. Else leave the partials in job.d_scratch_a and launch
  //@hint the kernel once more, with one block, on those.
  //@instead return not_implemented(job);
  const unsigned n_blocks = coarsened_grid<T>(job.n, job.multiprocessors);
  if (n_blocks == 1) {
    k06_coarsened<<<1, kBlock, 0, job.stream>>>(job.d_in, job.n, job.d_out, job.op);
    return Status::ok;
  }
  k06_coarsened<<<n_blocks, kBlock, 0, job.stream>>>(job.d_in, job.n, job.d_scratch_a, job.op);
  const typename Op::Value* d_partials = job.d_scratch_a;
  k06_coarsened<<<1, kBlock, 0, job.stream>>>(d_partials, n_blocks, job.d_out, job.op);
  return Status::ok;
  //@end
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
  //@solution Thread 0 stores its value in d_partials, __threadfence(), takes a ticket with atomicInc(&d_ticket, gridDim.x - 1),
  //@hint __threadfence() again, and tells the block through shared memory whether the ticket was the last one. The last
  //@hint block folds d_partials (each thread strided, then block_fold) and writes d_out.
  //@instead static_cast<void>(value);
  //@instead static_cast<void>(d_partials);
  //@instead static_cast<void>(d_out);
  //@instead static_cast<void>(op);
  __shared__ bool s_is_last;
  if (threadIdx.x == 0) {
    d_partials[blockIdx.x] = value;
    __threadfence();  // the partial is visible to the device before the ticket says so
    s_is_last = atomicInc(&d_ticket, gridDim.x - 1) == gridDim.x - 1;
    __threadfence();  // the others' partials are read after their tickets were
  }
  __syncthreads();  // the whole block knows, and sees the partials that thread 0 may see
  if (!s_is_last) return;

  typename Op::Value total = op.identity();
  for (unsigned i = threadIdx.x; i < gridDim.x; i += blockDim.x) total = op(total, d_partials[i]);
  total = block_fold(total, op);
  if (threadIdx.x == 0) *d_out = op.finish(total);
  //@end
}

// --- Rung 7, task "single_launch" (bonus): the block that finishes last adds up the partials.
//@reference
// Changed: a ticket, drawn by atomicInc, tells the last block that every partial is there. Why: the second
// launch and the gap before it vanish: 2 to 3 µs, half of the time at 2^20 items, nothing at 2^28. Wastes:
// one load in flight per thread.
//@end
template <typename T, typename Op>
__global__ void k07_single_launch(const T* d_in, std::uint64_t n, typename Op::Value* d_partials,
                                  typename Op::Value* d_out, Op op) {
  //@solution strided_fold, block_fold, finish_by_last_block.
  finish_by_last_block(block_fold(strided_fold(d_in, n, op), op), d_partials, d_out, op);
  //@end
}

template <typename T, typename Op>
Status single_launch(const Job<T, Op>& job) {
  //@solution One launch with coarsened_grid's blocks; job.d_scratch_a takes the partials.
  //@instead return not_implemented(job);
  const unsigned n_blocks = coarsened_grid<T>(job.n, job.multiprocessors);
  k07_single_launch<<<n_blocks, kBlock, 0, job.stream>>>(job.d_in, job.n, job.d_scratch_a, job.d_out, job.op);
  return Status::ok;
  //@end
}

//@reference
// --- Rung 8: as fast as the memory is.
// Changed: every thread has kInFlight 16-byte loads under way before it combines the first, in as many
// accumulators, in its last round, too; the grid is what the device holds at once, so that no block starts
// late. Why: by Little's law 4.5 TB/s at 600 ns wants 2.7 MB in flight, 20 KB a multiprocessor; here it is
// 128 KB as long as there are items. Fewer blocks, too: 264 partial results on an H200, not 1,056. Expect the
// read ceiling (99 %) at 2^28 and the launch's own time below 2^20.
// Measured on an H200 beside CUB: 245 us against 251 at 2^28, 24.1 against 29.2 at 2^24, 9.5 against 14.7 at
// 2^20. With 4 loads and 4 blocks it was 247, 25.6 and 10.0; with 16 and 1: 245, 24.2 and 9.7. Wastes: nothing
// that a reduction could save; below 2^18 items the launch itself dominates.
// The order of combining depends on n, the address and the grid alone: floats come out the same in every run.
inline constexpr unsigned kInFlight = 8;
inline constexpr unsigned kResidentBlocks = 2;  // of kWideBlock threads on a multiprocessor
inline constexpr unsigned kWideBlock = 512;

template <typename T, typename Op>
__global__ void __launch_bounds__(kWideBlock, kResidentBlocks)
    k08_state_of_the_art(const T* d_in, std::uint64_t n, typename Op::Value* d_partials,
                         typename Op::Value* d_out, Op op) {
  using Value = typename Op::Value;
  const Packed<T> in = packed(d_in, n);
  const std::uint64_t n_threads = std::uint64_t{gridDim.x} * kWideBlock;
  const std::uint64_t gid = std::uint64_t{blockIdx.x} * kWideBlock + threadIdx.x;

  // Full rounds: kInFlight packs per thread, each a grid's width apart so that every load is coalesced.
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
  // What is left: fewer than kInFlight packs per thread, all of them under way at once, too; then the unaligned ends.
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

template <typename T, typename Op>
Status state_of_the_art(const Job<T, Op>& job) {
  const std::uint64_t wanted = blocks_for(job.n, std::uint64_t{kWideBlock} * Pack<T>::kItems);
  const std::uint64_t resident =
      std::uint64_t{kResidentBlocks} * static_cast<std::uint64_t>(job.multiprocessors);
  const unsigned n_blocks = static_cast<unsigned>(wanted < resident ? wanted : resident);
  k08_state_of_the_art<<<n_blocks, kWideBlock, 0, job.stream>>>(job.d_in, job.n, job.d_scratch_a, job.d_out,
                                                                job.op);
  return Status::ok;
}

//@end
// --- Given: which function answers which task.
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
