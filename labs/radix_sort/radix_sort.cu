// SPDX-License-Identifier: MIT
// Radix sort: your file. Read labs/radix_sort/lab.hpp (Job), then handouts/04-radix-sort.md.
// given.cuh in the same folder has functions that your code calls.
// Work from the top down: each task is one or two kernels and the host function that launches
// them.
// Grade one task with
//   ./lab grade radix_sort --task split
// Until you write it, a task returns "not implemented". Do not change the given lines.
#include "lab/atomic_access.cuh"
#include "radix_sort/lab.hpp"

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
  // TODO(student): Do the passes as described above, for every range of bits and every n, also n = 0.
  // (roughly 15 lines)
  return not_implemented(job);
}

// --- Task 1, "split": one bit per pass. Keys whose bit is 0 go to the front, the others behind them,
// both in order.
// Limits: bytes_ratio ≤ 120, launches ≤ 96.
// e marks the keys that go to the front, and its exclusive scan f gives their positions. Only the scan
// depends on the other keys.

// e[i] = 1 if the bit of key i is 0, otherwise 0.
__global__ void k01_flags(const std::uint32_t* d_keys, std::uint64_t n, unsigned bit, std::uint32_t* d_e) {
  // TODO(student): Mark the keys whose bit number `bit` is 0. (roughly 2 lines)
}

// f is the exclusive scan of e. Writes the rows t and d, and moves every key to its position: d_to[d[i]] =
// d_keys[i].
__global__ void k01_place(const std::uint32_t* d_keys, std::uint64_t n, const std::uint32_t* d_e,
                          const std::uint32_t* d_f, std::uint32_t* d_t, std::uint32_t* d_d,
                          std::uint32_t* d_to) {
  // TODO(student): Compute t and d, and move the keys. Which key's flag does the scan not contain? (roughly 9
  // lines)
}

Status split(const KeyJob& job) {
  // TODO(student): Sort with one bit per pass, through by_passes. (roughly 7 lines)
  return not_implemented(job);
}

// --- Task 2, "tile_sort" (bonus): every tile of kTile keys is sorted on its own, in shared memory.
// Limits: bytes_ratio ≤ 6, barriers per tile of 1,024 keys ≤ 256 (2 a bit are enough).
inline constexpr unsigned kTileRows = kTile / kBlock;  // rows of 32 keys per warp

__global__ void k02_tile_sort(const std::uint32_t* d_in, std::uint32_t* d_out, std::uint64_t n,
                              unsigned begin_bit, unsigned end_bit) {
  // TODO(student): Sort the tile bit by bit, with the keys in registers and in shared memory. The last tile
  // may have fewer keys. (roughly 35 lines)
}

Status tile_sort(const KeyJob& job) {
  // TODO(student): Launch the kernel once, with one block per tile. If n is 0, do not launch it. (roughly 4
  // lines)
  return not_implemented(job);
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
inline constexpr unsigned kMergeTile = 2 * kTile;  // keys that a block merges in shared memory

// The lower position of the c-th pair of a stage, c = 0, 1, 2 …; its partner is `stride` higher.
__device__ std::uint64_t lower_place(std::uint64_t c, std::uint64_t stride) {
  // TODO(student): Return the lower position of pair c if partners are `stride` apart. (roughly 1 line)
  return c * stride;
}

// One stage in global memory, in place: if `flip`, partners are mirrored in their pair of runs of `size` keys
// each; otherwise they are `size` apart. One thread per pair of keys.
__global__ void k03_stage(std::uint32_t* d_keys, std::uint64_t n, std::uint64_t size, bool flip) {
  // TODO(student): Compare and exchange one pair per thread. (roughly 9 lines)
}

// All stages of a level from stride `stride` down to 1 in shared memory, kMergeTile keys per block. If
// `flip`, they start with the flip of two runs of kTile keys. d_in may be d_out.
__global__ void k03_shared_stages(const std::uint32_t* d_in, std::uint32_t* d_out, std::uint64_t n,
                                  unsigned stride, bool flip) {
  // TODO(student): Do a level's stages that fit into a tile, in shared memory. (roughly 25 lines)
}

// job.in holds runs of kTile sorted keys; merges them into job.out, level by level.
Status merge(const KeyJob& job) {
  // TODO(student): Merge pairs of tiles, then pairs of runs, level by level, until one run is left. (roughly
  // 15 lines)
  return not_implemented(job);
}

// --- Task 4, "digits": 8 bits per pass. A pass has three steps: count the keys of each digit in each
// tile (histogram); compute where each tile's keys of each digit start (scan); move each key to its position
// (scatter). A pass is stable if the keys of a digit keep their order inside a tile, and the tiles keep
// theirs.
// Limits: bytes_ratio ≤ 11, launches ≤ 24.
// The shared memory that rank_in_tile needs.
struct RankSpace {
  std::uint32_t count[kWarps][kDigits];  // keys of each warp by digit; then the warp's first rank of it
  std::uint32_t start[kDigits];          // the tile's first rank of each digit
};

// The lanes whose `digit` equals that of the calling one. All 32 lanes must call it.
__device__ unsigned lanes_of_digit(unsigned digit, unsigned n_bits) {
  // TODO(student): Find the lanes that have the same digit as the calling one. (roughly 7 lines)
  return kFullMask & digit;
}

// The positions of the calling thread's keys in the tile after a stable sort by digit: digit[row] is the
// digit of the key in that row, and rank[row] becomes the position, 0 … kBlock * kKeys - 1. Every thread must
// call it; thread d gets the number of keys that have digit d. Afterwards s.start[d] is the first position of
// digit d. It uses 9 KB of shared memory and four barriers, so data that was written to shared memory before
// the call may be read after it.
template <unsigned kKeys>
__device__ std::uint32_t rank_in_tile(const unsigned (&digit)[kKeys], unsigned n_bits, RankSpace& s,
                                      std::uint32_t (&rank)[kKeys]) {
  // TODO(student): Rank the keys by digit, and keys with the same digit in the tile's order. (roughly 25
  // lines)
  return 0;
}

// d_starts[digit * n_tiles + tile]: where the tile's keys of the digit go. One block per tile.
template <typename Bits, typename Value>
__global__ void k04_scatter(Items<const Bits, const Value> from, std::uint64_t n, DigitOf<Bits> digit_of,
                            const std::uint32_t* d_starts, Items<Bits, Value> to) {
  // TODO(student): Move the keys of tile blockIdx.x to their positions. (roughly 20 lines)
}

// Sorts by digits of kDigitBits bits with the given flips.
template <typename Bits, typename Value>
Status sort_by_digits(const Job<Bits, Value>& job, Flips<Bits> flips) {
  // TODO(student): Sort with kDigitBits bits per pass, through by_passes. (roughly 9 lines)
  return not_implemented(job);
}

// 32-bit unsigned keys, alone or with values: no flips.
template <typename Bits, typename Value>
Status digits(const Job<Bits, Value>& job) {
  return sort_by_digits(job, Flips<Bits>{0, 0});
}

// --- Task 5, "any_key": signed and float keys, 64 bits, descending order, and sorting by a few bits
// only.
template <typename Bits>
Flips<Bits> flips_for(KeyKind kind, bool descending) {
  // TODO(student): Choose the bits to flip, so that the order as unsigned numbers is the order of this kind
  // of key. (roughly 8 lines)
  return {0, 0};
}

template <typename Bits, typename Value>
Status any_key(const Job<Bits, Value>& job) {
  // TODO(student): Call sort_by_digits with the flips for job.kind and job.descending. (roughly 1 line)
  return not_implemented(job);
}

// --- Task 6, "onesweep" (bonus): every pass reads the keys once. The digits of all passes are counted
// at the start, because these counts do not depend on the order of the keys. A tile still needs the number of
// keys of each digit in the tiles before it; it finds it by looking back at them.
// Limits: bytes_ratio ≤ 7.5, launches ≤ 8.
// Adds to d_starts[pass * kDigits + digit] the number of keys with that digit, for every pass of bits
// [begin_bit, end_bit). Works for any grid: a thread takes many keys.
template <typename Bits>
__global__ void k06_histograms(const Bits* d_keys, std::uint64_t n, Flips<Bits> flips, unsigned begin_bit,
                               unsigned end_bit, std::uint32_t* d_starts) {
  // TODO(student): Count the digits of all passes, reading each key once. (roughly 15 lines)
}

// Turns each pass's counts into starts. One block per pass.
__global__ void k06_starts(std::uint32_t* d_starts) {
  // TODO(student): Replace the pass's counts by their block_exclusive_sum. (roughly 3 lines)
}

// Returns the number of keys of the calling thread's digit in the tiles before `tile`; `own` is the number in
// the tile itself. d_words[tile * kDigits + digit] are the words of this pass. The tile's own count must have
// been published before the call. Publishes the sum of both.
__device__ std::uint32_t look_back(std::uint32_t* d_words, unsigned tile, std::uint32_t own) {
  // TODO(student): Add up what the tiles before have published for this digit, then publish the prefix.
  // (roughly 10 lines)
  return own;
}

// One pass. d_starts and d_words: this pass's; d_ticket: its counter.
template <typename Bits, typename Value>
__global__ void k06_sweep(Items<const Bits, const Value> from, std::uint64_t n, DigitOf<Bits> digit_of,
                          const std::uint32_t* d_starts, std::uint32_t* d_ticket, std::uint32_t* d_words,
                          Items<Bits, Value> to) {
  // TODO(student): Do the same as in k04_scatter for the tile that the ticket gives, with look_back instead
  // of scanned counts. (roughly 25 lines)
}

inline constexpr unsigned kBlocksPerProcessor = 8;  // fills a multiprocessor with blocks of 256 threads

// Counts the digits of all passes, then runs the passes over tiles of tile_items items. Each pass calls
// launch(n_tiles, from, n, digit_of, d_starts, d_ticket, d_words, to).
template <typename Bits, typename Value, typename Launch>
Status sweep_by_digits(const Job<Bits, Value>& job, unsigned tile_items, Launch launch) {
  // TODO(student): Prepare the sweep's memory, launch the kernels that count and scan, then do the passes.
  // (roughly 20 lines)
  return not_implemented(job);
}

template <typename Bits, typename Value>
Status onesweep(const Job<Bits, Value>& job) {
  // TODO(student): Call sweep_by_digits with kPassTile<Bits> and a lambda that launches k06_sweep. (roughly 3
  // lines)
  return not_implemented(job);
}

// --- Given: which function implements which task.
template <typename Bits, typename Value>
Status solve(Rung rung, const Job<Bits, Value>& job) {
  switch (rung) {
    case Rung::digits: return digits(job);
    case Rung::any_key: return any_key(job);
    case Rung::onesweep: return onesweep(job);
    default: return Status::unsupported;
  }
}
Status solve(Rung rung, const KeyJob& job) {
  switch (rung) {
    case Rung::split: return split(job);
    case Rung::tile_sort: return tile_sort(job);
    case Rung::merge: return merge(job);
    default: return solve<std::uint32_t, NoValue>(rung, job);
  }
}

Status run(const lab::Request& request) {
  return dispatch(request, [&](const auto& job) { return solve(static_cast<Rung>(request.task), job); });
}

}  // namespace course::radix_sort
