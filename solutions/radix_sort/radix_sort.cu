// SPDX-License-Identifier: MIT
//@student // Radix sort: your file. Read labs/radix_sort/lab.hpp (Job), then handouts/04-radix-sort.md.
//@student // given.cuh in the same folder has functions that your code calls.
//@student // Work from the top down: each task is one or two kernels and the host function that launches
//@student // them.
//@student // Grade one task with
//@student //   ./lab grade radix_sort --task split
//@student // Until you write it, a task returns "not implemented". Do not change the given lines.
//@reference
// Radix sort: all rungs of the ladder, from one bit per pass over global memory to one sweep per 8-bit digit.
// Below a line "--- Rung N" stands what changed, why that should be faster, and what drawbacks remain.
//   1  split: one bit per pass           4  digits: 8 bits per pass        7  counts_first: longer runs
//   2  tile_sort: in shared memory       5  any_key: any type, any bits    8  state_of_the_art; short arrays
//   3  merge; 3b  merge_path: by rank    6  onesweep: reads keys once      7, 8: state_of_the_art.cuh
// The lines "Predicted (…)" are for uint32 keys (rung 8: floats with values).
// Lines that start with //@ control the generator of the students' file (make_skeleton.py).
// Invariant: passes are stable and only read their inputs; n is below 2^30 (rung 8: 2^32 - 2^16), 0 included.
// Sources: M. Harris et al., "Parallel Prefix Sum (Scan) with CUDA", GPU Gems 3 (2007), ch. 39; K. Batcher,
// "Sorting networks and their applications" (1968); A. Adinets, D. Merrill, "Onesweep" (2022).
//@end
#include "lab/atomic_access.cuh"
#include "radix_sort/lab.hpp"
//@reference
#include "device/each_item.cuh"
#include "device/launch.hpp"
//@end

namespace course::radix_sort {

inline constexpr unsigned kBlock = 256;  // threads in a block
inline constexpr unsigned kWarp = 32;    // threads in a warp
inline constexpr unsigned kWarps = kBlock / kWarp;
inline constexpr unsigned kFullMask = ~0u;  // every lane of a warp takes part

#include "radix_sort/given.cuh"

// --- Passes over all keys, from array to array, until every bit is done.

// Sorts by bits [begin_bit, end_bit), least significant first, bits_per_pass of them per pass (the last pass
// may take fewer). For each pass, calls pass(from, to, first_bit, n_bits), which moves the items of `from` to
// their positions in `to`. The first pass reads job.in, the last one writes job.out; in between they
// alternate between job.out and job.spare. If the range has no bits, one pass with first_bit = n_bits = 0
// copies the items.
template <typename Bits, typename Value, typename Pass>
Status by_passes(const Job<Bits, Value>& job, unsigned bits_per_pass, Pass pass) {
  //@solution Do the passes as described above, for every range of bits and every n, also n = 0.
  //@how Compute the number of passes. For each pass, find the array that it reads (job.in, then the
  //@how output of the pass before), the array that it writes (the last pass writes job.out, so count
  //@how from the end), its first bit, and its number of bits. What a pass reads has the type Items<const
  //@how Bits, const Value>: the output `to` of a pass is {to.d_keys, to.d_values} for the next one. If n
  //@how is 0, do nothing. If the range has no bits, do one pass that copies.
  //@instead return not_implemented(job);
  if (job.n == 0) return Status::ok;
  if (job.begin_bit == job.end_bit) {
    pass(job.in, job.out, 0u, 0u);
    return Status::ok;
  }
  const unsigned n_passes = (job.end_bit - job.begin_bit + bits_per_pass - 1) / bits_per_pass;
  Items<const Bits, const Value> from = job.in;
  for (unsigned k = 0; k < n_passes; ++k) {
    const Items<Bits, Value> to = (n_passes - 1 - k) % 2 == 0 ? job.out : job.spare;
    const unsigned first_bit = job.begin_bit + k * bits_per_pass;
    const unsigned left = job.end_bit - first_bit;
    pass(from, to, first_bit, left < bits_per_pass ? left : bits_per_pass);
    from = {to.d_keys, to.d_values};
  }
  return Status::ok;
  //@end
}

// --- Task 1, "split": one bit per pass. Keys whose bit is 0 go to the front, the others behind them,
// both in order.
// Limits: bytes_ratio ≤ 120, launches ≤ 96.
// e marks the keys that go to the front, and its exclusive scan f gives their positions. Only the scan
// depends on the other keys.
//@reference
// Why: a comparison sort needs n log2 n comparisons; this sort needs n · bits moves, and each pass moves all
// n keys in parallel.
// Predicted (split, 2^24 items): 4 ms for these 16 bits. Measured: 4.16 ms (H200, 2026-11-26).
// Drawback: a pass moves 53 bytes per key for one bit. 32 passes move 211 times the input and output, in
// 32 · 7 launches.
//@end

// e[i] = 1 if the bit of key i is 0, otherwise 0.
__global__ void k01_flags(const std::uint32_t* d_keys, std::uint64_t n, unsigned bit, std::uint32_t* d_e) {
  //@solution Mark the keys whose bit number `bit` is 0.
  //@how Use one thread per key. d_e[gid] is 1 if the key's bit number `bit` is 0.
  const std::uint64_t gid = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (gid < n) d_e[gid] = (d_keys[gid] >> bit & 1) == 0;
  //@end
}

// f is the exclusive scan of e. Writes the rows t and d, and moves every key to its position: d_to[d[i]] =
// d_keys[i].
__global__ void k01_place(const std::uint32_t* d_keys, std::uint64_t n, const std::uint32_t* d_e,
                          const std::uint32_t* d_f, std::uint32_t* d_t, std::uint32_t* d_d,
                          std::uint32_t* d_to) {
  //@solution Compute t and d, and move the keys. Which key's flag does the scan not contain?
  //@how Use one thread per key. The number of keys whose bit is 0 is e[n - 1] + f[n - 1]. If the bit of
  //@how key i is 1, its position is t[i], which is i - f[i] + that number. d[i] is f[i] or t[i],
  //@how depending on the bit, which you can find in e. Then write the key to position d[i].
  const std::uint64_t gid = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (gid >= n) return;
  const std::uint32_t total_falses = d_e[n - 1] + d_f[n - 1];
  const std::uint32_t f = d_f[gid];
  const std::uint32_t t = static_cast<std::uint32_t>(gid) - f + total_falses;
  const std::uint32_t d = d_e[gid] != 0 ? f : t;
  d_t[gid] = t;
  d_d[gid] = d;
  d_to[d] = d_keys[gid];
  //@end
}

Status split(const KeyJob& job) {
  //@solution Sort with one bit per pass, through by_passes.
  //@how Call by_passes with one bit per pass and a lambda that does the steps of a pass: k01_flags,
  //@how exclusive_scan from job.d_e to job.d_f, and k01_place.
  //@instead return not_implemented(job);
  const unsigned n_blocks = blocks_for(job.n, kBlock);
  return by_passes(job, 1, [&](const auto& from, const auto& to, unsigned bit, unsigned) {
    k01_flags<<<n_blocks, kBlock, 0, job.stream>>>(from.d_keys, job.n, bit, job.d_e);
    exclusive_scan(job.d_e, job.d_f, job.n, job.d_sums, job.stream);
    k01_place<<<n_blocks, kBlock, 0, job.stream>>>(from.d_keys, job.n, job.d_e, job.d_f, job.d_t, job.d_d,
                                                   to.d_keys);
  });
  //@end
}

// --- Task 2, "tile_sort" (bonus): every tile of kTile keys is sorted on its own, in shared memory.
// Limits: bytes_ratio ≤ 6, barriers per tile of 1,024 keys ≤ 256 (2 a bit are enough).
//@reference
// Changed: a tile fits into a block's shared memory, and a block splits it bit by bit without using global
// memory.
// Why: the keys are read and written once, not once per bit: 1/211 of rung 1's bytes, in one launch. The
// scan of a bit becomes a ballot and a popcount per warp, and a sum over 8 warps.
// The instructions are the limiter.
// Predicted (tile_sort, 2^24 items): 0.5 ms. Measured: 478.1 µs (H200, 2026-11-26).
// Drawback: the result is not one sorted array, but 2^14 sorted tiles.
//@end
inline constexpr unsigned kTileRows = kTile / kBlock;  // rows of 32 keys per warp

__global__ void k02_tile_sort(const std::uint32_t* d_in, std::uint32_t* d_out, std::uint64_t n,
                              unsigned begin_bit, unsigned end_bit) {
  //@solution Sort the tile bit by bit, with the keys in registers and in shared memory. The last tile may
  //@hint have fewer keys.
  //@how Every thread holds kTileRows of the tile's keys in registers. Positions past n hold a key that
  //@how stays behind all others. For each bit, compute e, f, total, t and d as before, but inside the
  //@how block. (A warp can count a row of 32 with __ballot_sync and __popc; or use block_exclusive_sum.)
  //@how Every thread writes its keys to position d of the tile in shared memory. After a barrier, every
  //@how thread reads the keys at its own positions. Another barrier must separate these reads from the
  //@how next bit's writes.
  __shared__ std::uint32_t s_keys[kTile];
  __shared__ std::uint32_t s_falses[kWarps];
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  const unsigned below = (1u << lane) - 1;  // the lanes before this one
  const unsigned place = first_place(kTileRows);
  const std::uint64_t first = std::uint64_t{blockIdx.x} * kTile + place;

  std::uint32_t key[kTileRows];
  for (unsigned row = 0; row < kTileRows; ++row) {
    const std::uint64_t i = first + row * kWarp;
    key[row] = i < n ? d_in[i] : ~0u;  // all bits are 1 and the sort is stable, so these keys stay last
  }

  for (unsigned bit = begin_bit; bit < end_bit; ++bit) {
    // e and f: the number of keys with bit 0 before each key, in its warp.
    std::uint32_t f[kTileRows], in_warp = 0;
    for (unsigned row = 0; row < kTileRows; ++row) {
      const unsigned falses = __ballot_sync(kFullMask, (key[row] >> bit & 1) == 0);
      f[row] = in_warp + __popc(falses & below);
      in_warp += __popc(falses);
    }
    if (lane == 0) s_falses[warp] = in_warp;
    __syncthreads();  // counts are stored before they are added; keys are read before they are overwritten

    std::uint32_t before_warp = 0, total_falses = 0;
    for (unsigned w = 0; w < kWarps; ++w) {
      if (w < warp) before_warp += s_falses[w];
      total_falses += s_falses[w];
    }
    for (unsigned row = 0; row < kTileRows; ++row) {
      f[row] += before_warp;
      const unsigned t = place + row * kWarp - f[row] + total_falses;
      s_keys[(key[row] >> bit & 1) == 0 ? f[row] : t] = key[row];
    }
    __syncthreads();  // keys are stored before they are read; counts are read before they are overwritten
    for (unsigned row = 0; row < kTileRows; ++row) key[row] = s_keys[place + row * kWarp];
  }

  for (unsigned row = 0; row < kTileRows; ++row) {
    const std::uint64_t i = first + row * kWarp;
    if (i < n) d_out[i] = key[row];
  }
  //@end
}

Status tile_sort(const KeyJob& job) {
  //@solution Launch the kernel once, with one block per tile. If n is 0, do not launch it.
  //@instead return not_implemented(job);
  if (job.n == 0) return Status::ok;
  k02_tile_sort<<<blocks_for(job.n, kTile), kBlock, 0, job.stream>>>(job.in.d_keys, job.out.d_keys, job.n,
                                                                     job.begin_bit, job.end_bit);
  return Status::ok;
  //@end
}

// --- Task 3, "merge" (bonus): sorted tiles become one sorted array. Neighbouring runs are merged in pairs,
// until one is left.
// Limits: bytes_ratio ≤ 40, launches ≤ 40.
// A merge of two ascending runs of m keys is a network of log2(2m) stages. In each stage every key has one
// partner, and the lower position gets the smaller key:
//   flip     key j of the pair is compared with key 2m - 1 - j, so the second run is read backwards.
//            Afterwards the lower half has the smaller keys, and each half is a run that rises and then
//            falls (or the reverse).
//   stride   m/2, then m/4 … 1: key j is compared with key j + stride.
// Imagine the largest key at positions past n. It never moves down, so a pair whose upper position is past n
// needs no work.
//@reference
// Changed: whole keys are compared instead of bits, n/2 pairs at once.
// Why: when the tiles are sorted, log2(n / 1,024) levels are left instead of 32 passes. Stages with a stride
// of more than half a shared tile go through global memory; all other stages of a level use shared memory, in
// one launch.
// For 2^24 keys these are 14 levels: 105 launches that each read and write everything.
// Predicted (merge, 2^24 items): 4 ms. Measured: 5.18 ms (H200, 2026-11-26).
// Drawback: a level of log2(2m) stages does n/2 · log2(2m) comparisons, but a merge needs only n. It is
// not stable: equal keys of different runs come in any order.
//@end
inline constexpr unsigned kMergeTile = 2 * kTile;  // keys that a block merges in shared memory

// The lower position of the c-th pair of a stage, c = 0, 1, 2 …; its partner is `stride` higher.
__device__ std::uint64_t lower_place(std::uint64_t c, std::uint64_t stride) {
  //@solution Return the lower position of pair c if partners are `stride` apart.
  //@how Pairs come in groups of `stride`: group c / stride starts at position 2 * stride * (c / stride).
  //@instead return c * stride;
  return c / stride * (2 * stride) + c % stride;
  //@end
}

// One stage in global memory, in place: if `flip`, partners are mirrored in their pair of runs of `size` keys
// each; otherwise they are `size` apart. One thread per pair of keys.
__global__ void k03_stage(std::uint32_t* d_keys, std::uint64_t n, std::uint64_t size, bool flip) {
  //@solution Compare and exchange one pair per thread.
  //@how Thread gid takes the gid-th pair of the stage: its lower position and its partner (mirrored, or
  //@how `size` higher). If the partner is past n, there is nothing to do. The smaller key goes to the
  //@how lower position.
  const std::uint64_t gid = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  const std::uint64_t low = lower_place(gid, size);
  const std::uint64_t high = flip ? low + 2 * (size - low % size) - 1 : low + size;
  if (high >= n) return;
  const std::uint32_t a = d_keys[low], b = d_keys[high];
  if (b < a) {
    d_keys[low] = b;
    d_keys[high] = a;
  }
  //@end
}

// All stages of a level from stride `stride` down to 1 in shared memory, kMergeTile keys per block. If
// `flip`, they start with the flip of two runs of kTile keys. d_in may be d_out.
__global__ void k03_shared_stages(const std::uint32_t* d_in, std::uint32_t* d_out, std::uint64_t n,
                                  unsigned stride, bool flip) {
  //@solution Do a level's stages that fit into a tile, in shared memory.
  //@how Load kMergeTile keys into shared memory; those past n are ~0. Do the flip if it is requested,
  //@how then the stages with the strides stride, stride / 2 … 1. In each stage, kBlock threads share
  //@how kMergeTile / 2 pairs. You need a barrier after loading and after each stage. Then store the
  //@how keys.
  __shared__ std::uint32_t s_keys[kMergeTile];
  const std::uint64_t first = std::uint64_t{blockIdx.x} * kMergeTile;
  for (unsigned j = threadIdx.x; j < kMergeTile; j += kBlock)
    s_keys[j] = first + j < n ? d_in[first + j] : ~0u;
  __syncthreads();  // the tile is loaded before partners are compared

  const auto exchange = [&](unsigned low, unsigned high) {
    const std::uint32_t a = s_keys[low], b = s_keys[high];
    s_keys[low] = min(a, b);
    s_keys[high] = max(a, b);
  };
  if (flip) {
    for (unsigned c = threadIdx.x; c < kMergeTile / 2; c += kBlock) exchange(c, kMergeTile - 1 - c);
    __syncthreads();  // the flip's writes come before the next stage's reads
  }
  for (; stride > 0; stride /= 2) {
    for (unsigned c = threadIdx.x; c < kMergeTile / 2; c += kBlock) {
      const auto low = static_cast<unsigned>(lower_place(c, stride));
      exchange(low, low + stride);
    }
    __syncthreads();  // this stage's writes come before the next one's reads
  }
  for (unsigned j = threadIdx.x; j < kMergeTile; j += kBlock) {
    if (first + j < n) d_out[first + j] = s_keys[j];
  }
  //@end
}

// job.in holds runs of kTile sorted keys; merges them into job.out, level by level.
Status merge(const KeyJob& job) {
  //@solution Merge pairs of tiles, then pairs of runs, level by level, until one run is left.
  //@how First level: launch k03_shared_stages once, with the flip, from job.in to job.out. Then merge
  //@how runs of size 2 * kTile, 4 * kTile … in job.out, while there is more than one run: use k03_stage
  //@how for the flip and the long strides, and one launch of k03_shared_stages for the rest of the
  //@how level. Which strides fit into kMergeTile keys?
  //@instead return not_implemented(job);
  if (job.n == 0) return Status::ok;
  const unsigned n_tiles = blocks_for(job.n, kMergeTile);
  k03_shared_stages<<<n_tiles, kBlock, 0, job.stream>>>(job.in.d_keys, job.out.d_keys, job.n, kTile / 2,
                                                        true);
  for (std::uint64_t size = kMergeTile; size < job.n; size *= 2) {
    const unsigned n_blocks =
        blocks_for(blocks_for(job.n, 2 * size) * size, kBlock);  // one thread for every pair of positions
    k03_stage<<<n_blocks, kBlock, 0, job.stream>>>(job.out.d_keys, job.n, size, true);
    for (std::uint64_t stride = size / 2; stride >= kMergeTile; stride /= 2)
      k03_stage<<<n_blocks, kBlock, 0, job.stream>>>(job.out.d_keys, job.n, stride, false);
    k03_shared_stages<<<n_tiles, kBlock, 0, job.stream>>>(job.out.d_keys, job.out.d_keys, job.n,
                                                          kMergeTile / 2, false);
  }
  return Status::ok;
  //@end
}

//@reference
// --- Rung 3b: merging by rank.
// Changed: a block computes 2,048 positions of a level's output. Two binary searches find the keys of the two
// runs that belong there. Each thread finds its own 8 in the same way in shared memory, and merges them one
// after the other.
// Why: a level reads and writes every key once: n operations and one launch instead of n/2 · log2(2m) and up
// to 14 launches. It is stable: of equal keys, those of the first run come first.
// Predicted (merge_path, against merge, 2^24 items): 7×. Measured: 3.7× (H200, 2026-11-26).
// Drawback: it needs 14 levels; with digits of 8 bits, 4 passes are enough.
// Source: S. Odeh, O. Green, Z. Mwassi, O. Shmueli, Y. Birk, "Merge Path - Parallel Merging Made Simple",
// IPDPSW 2012.

// Returns how many of the first `n_before` keys of the merged pair come from the first run, in log2 steps.
__device__ std::uint64_t from_first_run(const std::uint32_t* first_run, std::uint64_t n_first,
                                        const std::uint32_t* second_run, std::uint64_t n_second,
                                        std::uint64_t n_before) {
  std::uint64_t low = n_before > n_second ? n_before - n_second : 0;
  std::uint64_t high = n_before < n_first ? n_before : n_first;
  while (low < high) {
    const std::uint64_t middle = (low + high) / 2;
    if (first_run[middle] <= second_run[n_before - 1 - middle]) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

__global__ void k03b_merge_path(const std::uint32_t* d_in, std::uint32_t* d_out, std::uint64_t n,
                                std::uint64_t size) {
  constexpr unsigned kEach = kMergeTile / kBlock;  // keys that a thread merges
  __shared__ std::uint32_t s_keys[kMergeTile];  // the block's keys of the first run, then those of the second
  __shared__ std::uint64_t s_split[2];
  const std::uint64_t tile_first = std::uint64_t{blockIdx.x} * kMergeTile;
  const std::uint64_t tile_last = tile_first + kMergeTile < n ? tile_first + kMergeTile : n;
  const std::uint64_t pair = tile_first / (2 * size) * (2 * size);  // where the pair of runs begins
  const std::uint64_t n_pair = n - pair < 2 * size ? n - pair : 2 * size;
  const std::uint64_t n_first = n_pair < size ? n_pair : size, n_second = n_pair - n_first;
  const std::uint32_t* const d_first = d_in + pair;
  const std::uint32_t* const d_second = d_first + n_first;

  // The block's keys: those from s_split[0] to s_split[1] of the first run; the remaining positions get keys
  // of the second.
  if (threadIdx.x < 2) {
    const std::uint64_t n_before = (threadIdx.x == 0 ? tile_first : tile_last) - pair;
    s_split[threadIdx.x] = from_first_run(d_first, n_first, d_second, n_second, n_before);
  }
  __syncthreads();  // the splits are stored before all threads read them
  const std::uint64_t from_first = s_split[0], from_second = tile_first - pair - from_first;
  const auto n_a = static_cast<unsigned>(s_split[1] - from_first);
  const auto n_all = static_cast<unsigned>(tile_last - tile_first);
  for (unsigned j = threadIdx.x; j < n_all; j += kBlock)
    s_keys[j] = j < n_a ? d_first[from_first + j] : d_second[from_second + j - n_a];
  __syncthreads();  // keys are loaded before they are searched

  std::uint32_t merged[kEach];
  const unsigned own = threadIdx.x * kEach < n_all ? threadIdx.x * kEach : n_all;
  auto a = static_cast<unsigned>(from_first_run(s_keys, n_a, s_keys + n_a, n_all - n_a, own));
  unsigned b = n_a + own - a;
  for (unsigned k = 0; k < kEach && own + k < n_all; ++k) {
    const bool takes_a = b >= n_all || (a < n_a && s_keys[a] <= s_keys[b]);
    merged[k] = takes_a ? s_keys[a++] : s_keys[b++];
  }
  __syncthreads();  // all threads have read the runs before they are overwritten
  for (unsigned k = 0; k < kEach && own + k < n_all; ++k) s_keys[own + k] = merged[k];
  __syncthreads();  // merged keys are stored before other threads read them
  for (unsigned j = threadIdx.x; j < n_all; j += kBlock) d_out[tile_first + j] = s_keys[j];
}

Status merge_path(const KeyJob& job) {
  if (job.n == 0) return Status::ok;
  unsigned n_levels = 1;  // a single run is copied
  while ((std::uint64_t{kTile} << n_levels) < job.n) ++n_levels;
  const std::uint32_t* d_from = job.in.d_keys;
  for (unsigned level = 0; level < n_levels; ++level) {
    std::uint32_t* const d_to = (n_levels - 1 - level) % 2 == 0 ? job.out.d_keys : job.spare.d_keys;
    k03b_merge_path<<<blocks_for(job.n, kMergeTile), kBlock, 0, job.stream>>>(d_from, d_to, job.n,
                                                                              std::uint64_t{kTile} << level);
    d_from = d_to;
  }
  return Status::ok;
}

//@end
// --- Task 4, "digits": 8 bits per pass. A pass has three steps: count the keys of each digit in each
// tile (histogram); compute where each tile's keys of each digit start (scan); move each key to its position
// (scatter). A pass is stable if the keys of a digit keep their order inside a tile, and the tiles keep
// theirs.
// Limits: bytes_ratio ≤ 11, launches ≤ 24.
//@reference
// Changed: there are 256 digits instead of 2, so 4 passes instead of 32. The scan has one count per tile and
// digit instead of one flag per key. Before the keys are stored, they are sorted by digit inside the block.
// Then neighbouring threads write neighbouring positions, a tile's run of a digit at once, instead of 32
// sectors for 32 keys.
// Why: it moves 20 times fewer bytes and needs 8 times fewer launches.
// Predicted (digits, 2^24 items): 0.8 ms. Measured: 648.5 µs (H200, 2026-11-26).
// Drawback: every pass reads the keys twice, once to count them and once to move them.
//@end
// The shared memory that rank_in_tile needs.
struct RankSpace {
  std::uint32_t count[kWarps][kDigits];  // keys of each warp by digit; then the warp's first rank of it
  std::uint32_t start[kDigits];          // the tile's first rank of each digit
};

// The lanes whose `digit` equals that of the calling one. All 32 lanes must call it.
__device__ unsigned lanes_of_digit(unsigned digit, unsigned n_bits) {
  //@solution Find the lanes that have the same digit as the calling one.
  //@how Start with all lanes. For each bit, find the lanes that have it set (__ballot_sync), and keep
  //@how those with the same bit as yours. (__match_any_sync does all of it in one instruction.)
  //@instead return kFullMask & digit;
  unsigned peers = kFullMask;
  for (unsigned bit = 0; bit < n_bits; ++bit) {
    const bool is_set = (digit >> bit & 1) != 0;
    const unsigned set = __ballot_sync(kFullMask, is_set);
    peers &= is_set ? set : ~set;
  }
  return peers;
  //@end
}

// The positions of the calling thread's keys in the tile after a stable sort by digit: digit[row] is the
// digit of the key in that row, and rank[row] becomes the position, 0 … kBlock * kKeys - 1. Every thread must
// call it; thread d gets the number of keys that have digit d. Afterwards s.start[d] is the first position of
// digit d. It uses 9 KB of shared memory and four barriers, so data that was written to shared memory before
// the call may be read after it.
template <unsigned kKeys>
__device__ std::uint32_t rank_in_tile(const unsigned (&digit)[kKeys], unsigned n_bits, RankSpace& s,
                                      std::uint32_t (&rank)[kKeys]) {
  //@solution Rank the keys by digit, and keys with the same digit in the tile's order.
  //@how Set the counters of every warp to 0. A warp takes its rows one after the other. It calls
  //@how lanes_of_digit. The key's rank in its warp is the warp's counter of the digit plus the number of
  //@how lower lanes with that digit. Then one of those lanes adds their number to the counter. Call
  //@how __syncwarp between reading and adding, and after adding. When all warps have passed a barrier,
  //@how thread d handles digit d: it replaces the warps' counters by the sum of the warps before, and
  //@how gets their total. The block_exclusive_sum of the totals gives s.start. After another barrier,
  //@how rank = start of the digit + sum of the warps before + rank in the warp.
  //@instead return 0;
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  const unsigned below = (1u << lane) - 1;
  for (unsigned d = lane; d < kDigits; d += kWarp) s.count[warp][d] = 0;
  __syncwarp();  // the warp's counters are 0 before it counts

  // Ranks inside the warp, one row at a time.
  for (unsigned row = 0; row < kKeys; ++row) {
    const unsigned peers = lanes_of_digit(digit[row], n_bits);
    const std::uint32_t before = s.count[warp][digit[row]];
    rank[row] = before + __popc(peers & below);
    __syncwarp();  // every lane has read its counter before one of them changes it
    if ((peers & below) == 0) s.count[warp][digit[row]] = before + __popc(peers);
    __syncwarp();  // the counters are changed before the next row reads them
  }
  __syncthreads();  // all warps have counted

  // One thread per digit: the sum of the warps before each warp, and the start of each digit.
  std::uint32_t of_digit = 0;
  for (unsigned w = 0; w < kWarps; ++w) {
    const std::uint32_t of_warp = s.count[w][threadIdx.x];
    s.count[w][threadIdx.x] = of_digit;
    of_digit += of_warp;
  }
  std::uint32_t total;
  s.start[threadIdx.x] = block_exclusive_sum(of_digit, total);
  __syncthreads();  // starts are stored before they are read
  for (unsigned row = 0; row < kKeys; ++row) rank[row] += s.start[digit[row]] + s.count[warp][digit[row]];
  return of_digit;
  //@end
}

// d_starts[digit * n_tiles + tile]: where the tile's keys of the digit go. One block per tile.
template <typename Bits, typename Value>
__global__ void k04_scatter(Items<const Bits, const Value> from, std::uint64_t n, DigitOf<Bits> digit_of,
                            const std::uint32_t* d_starts, Items<Bits, Value> to) {
  //@solution Move the keys of tile blockIdx.x to their positions.
  //@how Load the tile's keys in rows (see kRows) and compute their digits. Positions past n get the last
  //@how digit, so that they rank behind all others. Call rank_in_tile. Thread d stores s_offset[d] =
  //@how start of digit d's keys in the output minus the digit's first rank in the tile. After a barrier,
  //@how call exchange_and_store.
  __shared__ RankSpace s;
  __shared__ std::uint32_t s_offset[kDigits];
  const std::uint64_t tile_first = std::uint64_t{blockIdx.x} * kPassTile<Bits>;
  const std::uint64_t n_here = n - tile_first < kPassTile<Bits> ? n - tile_first : kPassTile<Bits>;
  const unsigned own = first_place(kRows<Bits>);

  Bits key[kRows<Bits>];
  unsigned digit[kRows<Bits>];
  for (unsigned row = 0; row < kRows<Bits>; ++row) {
    const unsigned i = own + row * kWarp;
    key[row] = i < n_here ? from.d_keys[tile_first + i] : Bits{0};
    digit[row] = i < n_here ? digit_of(key[row]) : digit_of.last();
  }
  std::uint32_t rank[kRows<Bits>];
  rank_in_tile(digit, digit_of.n_bits, s, rank);
  if (threadIdx.x <= digit_of.last())
    s_offset[threadIdx.x] =
        d_starts[std::uint64_t{threadIdx.x} * gridDim.x + blockIdx.x] - s.start[threadIdx.x];
  __syncthreads();  // offsets are stored before they are read
  exchange_and_store(key, rank, n_here, digit_of, s_offset,
                     from.d_values + (kHasValues<Value> ? tile_first : 0), to);
  //@end
}

// Sorts by digits of kDigitBits bits with the given flips.
template <typename Bits, typename Value>
Status sort_by_digits(const Job<Bits, Value>& job, Flips<Bits> flips) {
  //@solution Sort with kDigitBits bits per pass, through by_passes.
  //@how Call by_passes with kDigitBits bits per pass. Each pass launches k04_histogram, which writes
  //@how job.d_counts. Then it calls exclusive_scan on the counts, in place, for all digits that n_bits
  //@how bits have, and launches k04_scatter.
  //@instead return not_implemented(job);
  const unsigned n_tiles = blocks_for(job.n, kPassTile<Bits>);
  return by_passes(
      job, kDigitBits, [&](const auto& from, const auto& to, unsigned first_bit, unsigned n_bits) {
        const DigitOf<Bits> digit_of{flips, first_bit, n_bits};
        const std::uint64_t n_counts = std::uint64_t{n_tiles} << n_bits;
        k04_histogram<<<n_tiles, kBlock, 0, job.stream>>>(from.d_keys, job.n, digit_of, job.d_counts);
        exclusive_scan(job.d_counts, job.d_counts, n_counts, job.d_sums, job.stream);
        k04_scatter<<<n_tiles, kBlock, 0, job.stream>>>(from, job.n, digit_of, job.d_counts, to);
      });
  //@end
}

// 32-bit unsigned keys, alone or with values: no flips.
template <typename Bits, typename Value>
Status digits(const Job<Bits, Value>& job) {
  return sort_by_digits(job, Flips<Bits>{0, 0});
}

// --- Task 5, "any_key": signed and float keys, 64 bits, descending order, and sorting by a few bits
// only.
//@reference
// Changed: only the way in which a digit is computed from a key.
// Why: an xor with one of two constants maps every kind of key to an unsigned number of the same order. The
// keys themselves do not change, so no bits must be flipped back.
// Keys of 64 bits need 8 passes with twice the bytes; values cost only their bytes.
// Drawback: the same as rung 4.
//@end
template <typename Bits>
Flips<Bits> flips_for(KeyKind kind, bool descending) {
  //@solution Choose the bits to flip, so that the order as unsigned numbers is the order of this kind of key.
  //@how Which bits must you flip so that the order as unsigned numbers is the order of this kind of key?
  //@how Consider a signed number, a float whose sign bit is 0, and a float whose sign bit is 1. For
  //@how descending order, flip all bits once more.
  //@instead return {0, 0};
  constexpr Bits kTop = Bits{1} << (8 * sizeof(Bits) - 1), kEvery = ~Bits{0};
  Flips<Bits> flips{0, 0};
  if (kind == KeyKind::signed_number) flips = {kTop, kTop};
  if (kind == KeyKind::floating)
    flips = {kTop, kEvery};  // larger negative numbers have larger bits: flip all of them
  if (descending)
    flips = {static_cast<Bits>(flips.of_positive ^ kEvery), static_cast<Bits>(flips.of_negative ^ kEvery)};
  return flips;
  //@end
}

template <typename Bits, typename Value>
Status any_key(const Job<Bits, Value>& job) {
  //@solution Call sort_by_digits with the flips for job.kind and job.descending.
  //@instead return not_implemented(job);
  return sort_by_digits(job, flips_for<Bits>(job.kind, job.descending));
  //@end
}

// --- Task 6, "onesweep" (bonus): every pass reads the keys once. The digits of all passes are counted
// at the start, because these counts do not depend on the order of the keys. A tile still needs the number of
// keys of each digit in the tiles before it; it finds it by looking back at them.
// Limits: bytes_ratio ≤ 7.5, launches ≤ 8.
//@reference
// Changed: a tile publishes its 256 counts as soon as it has them. Then it looks back over the tiles before
// it and adds up their counts, until it finds one whose prefix is available.
// Why: in each pass the keys are read once and written once, and one launch replaces histogram, scan and
// scatter: 12 bytes per key and pass instead of 20.
// Predicted (onesweep, against digits, 2^24 items): 1.3×. Measured: 0.90× (H200, 2026-11-26).
// Drawback: on a GPU the limiter is now the ranking of the keys, not the memory.
// Source: Adinets and Merrill 2022; the look-back is that of Merrill and Garland, "Single-pass Parallel
// Prefix Scan with Decoupled Look-back" (2016).
//@end
// Adds to d_starts[pass * kDigits + digit] the number of keys with that digit, for every pass of bits
// [begin_bit, end_bit). Works for any grid: a thread takes many keys.
template <typename Bits>
__global__ void k06_histograms(const Bits* d_keys, std::uint64_t n, Flips<Bits> flips, unsigned begin_bit,
                               unsigned end_bit, std::uint32_t* d_starts) {
  //@solution Count the digits of all passes, reading each key once.
  //@how For every pass, there is a row of kDigits counters in shared memory. Set them to 0. After a
  //@how barrier, each thread of the grid takes its keys, with a stride of one grid, and counts each key
  //@how once in every pass's row. After another barrier, add the counters that are not 0 to d_starts
  //@how with atomicAdd.
  __shared__ std::uint32_t s_counts[kMaxPasses][kDigits];
  for (unsigned pass = 0; pass < kMaxPasses; ++pass) s_counts[pass][threadIdx.x] = 0;
  __syncthreads();  // counters are 0 before any thread counts
  const std::uint64_t n_threads = std::uint64_t{gridDim.x} * kBlock;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x; i < n; i += n_threads) {
    const Bits key = d_keys[i];
    for (unsigned pass = 0, bit = begin_bit; bit < end_bit; ++pass, bit += kDigitBits) {
      const unsigned n_bits = end_bit - bit < kDigitBits ? end_bit - bit : kDigitBits;
      atomicAdd(&s_counts[pass][DigitOf<Bits>{flips, bit, n_bits}(key)], 1u);
    }
  }
  __syncthreads();  // all keys are counted before the counts are read
  for (unsigned pass = 0, bit = begin_bit; bit < end_bit; ++pass, bit += kDigitBits) {
    const std::uint32_t count = s_counts[pass][threadIdx.x];
    if (count != 0) atomicAdd(&d_starts[pass * kDigits + threadIdx.x], count);
  }
  //@end
}

// Turns each pass's counts into starts. One block per pass.
__global__ void k06_starts(std::uint32_t* d_starts) {
  //@solution Replace the pass's counts by their block_exclusive_sum.
  std::uint32_t& count = d_starts[blockIdx.x * kDigits + threadIdx.x];
  std::uint32_t total;
  count = block_exclusive_sum(count, total);
  //@end
}

// Returns the number of keys of the calling thread's digit in the tiles before `tile`; `own` is the number in
// the tile itself. d_words[tile * kDigits + digit] are the words of this pass. The tile's own count must have
// been published before the call. Publishes the sum of both.
__device__ std::uint32_t look_back(std::uint32_t* d_words, unsigned tile, std::uint32_t own) {
  //@solution Add up what the tiles before have published for this digit, then publish the prefix.
  //@how Go back over the tiles, starting at tile - 1. For each tile, load the digit's word
  //@how (lab::load_relaxed) until it is not 0, and add its count. Stop if the word was a kAll. Then
  //@how publish kAll | the sum plus own.
  //@instead return own;
  const unsigned digit = threadIdx.x;
  std::uint32_t before = 0;
  for (std::uint64_t look = tile; look > 0;) {
    const std::uint32_t word = lab::load_relaxed(&d_words[(look - 1) * kDigits + digit]);
    if (word == 0) continue;  // not published yet; that tile has taken its ticket, so it is running
    before += word & kCountMask;
    if ((word & kAll) != 0) break;
    --look;
  }
  lab::store_relaxed(&d_words[std::uint64_t{tile} * kDigits + digit], kAll | (before + own));
  return before;
  //@end
}

// One pass. d_starts and d_words: this pass's; d_ticket: its counter.
template <typename Bits, typename Value>
__global__ void k06_sweep(Items<const Bits, const Value> from, std::uint64_t n, DigitOf<Bits> digit_of,
                          const std::uint32_t* d_starts, std::uint32_t* d_ticket, std::uint32_t* d_words,
                          Items<Bits, Value> to) {
  //@solution Do the same as in k04_scatter for the tile that the ticket gives, with look_back instead of
  //@hint scanned counts.
  //@how Thread 0 takes the tile's number from the ticket: blocks need not start in the order of
  //@how blockIdx, but the tiles before this one must be running when it waits for them. Continue as in
  //@how k04_scatter. In rank_in_tile's counts, positions past n are not keys, so subtract them from the
  //@how last digit's count. Publish kOwn | count, then call look_back. s_offset[d] is the digit's start
  //@how + the number in the tiles before - the digit's first rank in this tile.
  __shared__ RankSpace s;
  __shared__ std::uint32_t s_offset[kDigits];
  __shared__ unsigned s_tile;
  if (threadIdx.x == 0) s_tile = atomicAdd(d_ticket, 1u);
  __syncthreads();  // the tile's number is stored before the others read it
  const unsigned tile = s_tile;
  const std::uint64_t tile_first = std::uint64_t{tile} * kPassTile<Bits>;
  const std::uint64_t n_here = n - tile_first < kPassTile<Bits> ? n - tile_first : kPassTile<Bits>;
  const unsigned own = first_place(kRows<Bits>);

  Bits key[kRows<Bits>];
  unsigned digit[kRows<Bits>];
  for (unsigned row = 0; row < kRows<Bits>; ++row) {
    const unsigned i = own + row * kWarp;
    key[row] = i < n_here ? from.d_keys[tile_first + i] : Bits{0};
    digit[row] = i < n_here ? digit_of(key[row]) : digit_of.last();
  }
  std::uint32_t rank[kRows<Bits>];
  std::uint32_t count = rank_in_tile(digit, digit_of.n_bits, s, rank);
  if (threadIdx.x == digit_of.last()) count -= static_cast<std::uint32_t>(kPassTile<Bits> - n_here);

  lab::store_relaxed(&d_words[std::uint64_t{tile} * kDigits + threadIdx.x], kOwn | count);
  const std::uint32_t before = look_back(d_words, tile, count);
  s_offset[threadIdx.x] = d_starts[threadIdx.x] + before - s.start[threadIdx.x];
  __syncthreads();  // offsets are stored before they are read
  exchange_and_store(key, rank, n_here, digit_of, s_offset,
                     from.d_values + (kHasValues<Value> ? tile_first : 0), to);
  //@end
}

inline constexpr unsigned kBlocksPerProcessor = 8;  // fills a multiprocessor with blocks of 256 threads

// Counts the digits of all passes, then runs the passes over tiles of tile_items items. Each pass calls
// launch(n_tiles, from, n, digit_of, d_starts, d_ticket, d_words, to).
template <typename Bits, typename Value, typename Launch>
Status sweep_by_digits(const Job<Bits, Value>& job, unsigned tile_items, Launch launch) {
  //@solution Prepare the sweep's memory, launch the kernels that count and scan, then do the passes.
  //@how If n is 0, there is nothing to do. Call sweep_in and set its words to 0 with cudaMemsetAsync on
  //@how job.stream. Launch k06_histograms with at most as many blocks as fill the device, then
  //@how k06_starts. Then call by_passes; each pass calls `launch` with this pass's parts of the sweep.
  //@instead return not_implemented(job);
  if (job.n == 0) return Status::ok;
  if (job.n > kCountMask) return Status::unsupported;
  const Flips<Bits> flips = flips_for<Bits>(job.kind, job.descending);
  const unsigned n_tiles = blocks_for(job.n, tile_items);
  const unsigned n_bits = job.end_bit - job.begin_bit;
  const unsigned n_passes = n_bits == 0 ? 1 : (n_bits + kDigitBits - 1) / kDigitBits;
  const Sweep sweep = sweep_in(job.d_counts, n_passes, n_tiles);
  cudaMemsetAsync(sweep.d_starts, 0, sweep.n_words * sizeof(std::uint32_t), job.stream);
  const unsigned most = kBlocksPerProcessor * static_cast<unsigned>(job.multiprocessors);
  const unsigned n_counting = n_tiles < most ? n_tiles : most;
  k06_histograms<<<n_counting, kBlock, 0, job.stream>>>(job.in.d_keys, job.n, flips, job.begin_bit,
                                                        job.end_bit, sweep.d_starts);
  k06_starts<<<n_passes, kBlock, 0, job.stream>>>(sweep.d_starts);
  unsigned pass = 0;
  return by_passes(job, kDigitBits,
                   [&](const auto& from, const auto& to, unsigned first_bit, unsigned digit_bits) {
                     launch(n_tiles, from, job.n, DigitOf<Bits>{flips, first_bit, digit_bits},
                            sweep.d_starts + pass * kDigits, sweep.d_tickets + pass,
                            sweep.d_words + std::uint64_t{pass} * n_tiles * kDigits, to);
                     ++pass;
                   });
  //@end
}

template <typename Bits, typename Value>
Status onesweep(const Job<Bits, Value>& job) {
  //@solution Call sweep_by_digits with kPassTile<Bits> and a lambda that launches k06_sweep.
  //@instead return not_implemented(job);
  return sweep_by_digits(job, kPassTile<Bits>, [&](unsigned n_tiles, auto... arguments) {
    k06_sweep<Bits, Value><<<n_tiles, kBlock, 0, job.stream>>>(arguments...);
  });
  //@end
}

//@reference
#include "radix_sort/state_of_the_art.cuh"  // rungs 7 and 8
//@end
// --- Given: which function implements which task.
template <typename Bits, typename Value>
Status solve(Rung rung, const Job<Bits, Value>& job) {
  switch (rung) {
    case Rung::digits: return digits(job);
    case Rung::any_key: return any_key(job);
    case Rung::onesweep: return onesweep(job);
    //@reference
    case Rung::counts_first: return counts_first(job);
    case Rung::state_of_the_art: return state_of_the_art(job);
    //@end
    default: return Status::unsupported;
  }
}
Status solve(Rung rung, const KeyJob& job) {
  switch (rung) {
    case Rung::split: return split(job);
    case Rung::tile_sort: return tile_sort(job);
    case Rung::merge: return merge(job);
    //@reference
    case Rung::merge_path: return merge_path(job);
    //@end
    default: return solve<std::uint32_t, NoValue>(rung, job);
  }
}

Status run(const lab::Request& request) {
  return dispatch(request, [&](const auto& job) { return solve(static_cast<Rung>(request.task), job); });
}

}  // namespace course::radix_sort
