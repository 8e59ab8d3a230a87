// SPDX-License-Identifier: MIT
// Summed area table: your file. Read labs/sat/lab.hpp (Corner, TableJob, BoxJob), then
// handouts/06-sat.md.
// given.cuh in the same folder has functions that your code calls.
// Work from the top down: each task is one or two kernels and the host function that launches
// them.
// Grade one task with
//   ./lab grade sat --task serial
// Until you write it, a task returns "not implemented". Do not change the given lines at the end.
#include "lab/atomic_access.cuh"
#include "sat/lab.hpp"

namespace course::sat {

inline constexpr unsigned kBlock = 256;  // threads in a block
inline constexpr unsigned kWarp = 32;    // threads in a warp
inline constexpr unsigned kWarps = kBlock / kWarp;
inline constexpr unsigned kFullMask = ~0u;  // every lane of a warp takes part

#include "sat/given.cuh"

// The rows of an image in memory (row 0 on top, no gaps), counted from `corner`. With them, a kernel does not
// need to know the corner: in both cases rows go from left to right, and the rectangles start in row 0.
template <typename T>
Rows<T> rows_from(Corner corner, T* d_data, std::uint64_t width, std::uint64_t height) {
  // TODO(student): Return the rows from either corner. Consider height = 0. (roughly 3 lines)
  return {d_data, static_cast<std::int64_t>(width)};
}

// --- Task 1, "serial": each thread scans a row by itself; then each thread scans a column.
// Limits: instructions per item ≤ 14, launches ≤ 2.
// It does 2 width * height - width - height additions in width + height - 2 steps.

// Each row of the table becomes the inclusive scan of the image's row. One thread per row.
template <typename T, typename Sum>
__global__ void k01_rows(Rows<const T> in, Rows<Sum> table, std::uint64_t width, std::uint64_t height) {
  // TODO(student): Scan one row per thread. (roughly 7 lines)
}

// Scans every column of the table, in place. One thread per column: neighbouring lanes read neighbouring
// addresses.
template <typename Sum>
__global__ void k01_columns(Rows<Sum> table, std::uint64_t width, std::uint64_t height) {
  // TODO(student): Scan one column per thread, in place. (roughly 7 lines)
}

template <typename T>
Status serial(const TableJob<T>& job) {
  // TODO(student): Scan the rows, then the columns, from the job's corner. The image may be empty. (roughly 8
  // lines)
  return not_implemented(job);
}

// Inclusive scan of the 32 values of a warp, with shuffles, in 5 steps. All 32 lanes must call it; every lane
// gets its own sum.
template <typename Sum>
__device__ Sum warp_scan(Sum value) {
  // TODO(student): Use shuffles (__shfl_up_sync). (roughly 5 lines)
  return value;
}

// Inclusive scan of one value per thread over the block; `total` is the sum of all values. Every thread must
// call it and gets both results. It uses kWarps Sums of shared memory, three barriers and 11 steps. No other
// barrier is needed between two calls.
template <typename Sum>
__device__ Sum block_scan(Sum value, Sum& total) {
  // TODO(student): Use warp_scan, and shared memory between the warps. (roughly 15 lines)
  total = value;
  return value;
}

// --- Task 2, "rows_columns": a block scans a row, kBlock items at a time; columns as before, but with
// more loads in flight.
// Limits: bytes_ratio ≤ 2.1, instructions per item ≤ 120.

// Like k01_rows, but with one block per row.
template <typename T, typename Sum>
__global__ void k02_scan_rows(Rows<const T> in, Rows<Sum> table, std::uint64_t width, std::uint64_t height) {
  // TODO(student): Scan one row per block, kBlock items at a time. There may be more rows than blocks.
  // (roughly 10 lines)
}

inline constexpr unsigned kColumnBlock = 64;  // threads: with small blocks, more multiprocessors take part
inline constexpr unsigned kAhead = 16;        // items of a column that are loaded before the first is added

// Like k01_columns, but with kAhead loads in flight.
template <typename Sum>
__global__ void k02_scan_columns(Rows<Sum> table, std::uint64_t width, std::uint64_t height) {
  // TODO(student): Do the same as in k01_columns, with kAhead loads in flight. The height may be any number.
  // (roughly 20 lines)
}

// Number of blocks of a grid with one block for each of n parts, up to the largest possible grid.
constexpr unsigned grid_for(std::uint64_t n) {
  constexpr std::uint64_t kMax = 0x7fffffff;
  return static_cast<unsigned>(n < kMax ? n : kMax);
}

template <typename T>
Status rows_columns(const TableJob<T>& job) {
  // TODO(student): Do the same as for serial, but use one block per row (grid_for) for the rows, and
  // kColumnBlock threads for kColumnBlock columns. (roughly 7 lines)
  return not_implemented(job);
}

// --- Task 3, "transpose": columns become rows, are scanned as rows, and become columns again.
// Limits: bank_conflicts per 1,024 items ≤ 20 (none is needed), bytes_ratio ≤ 4.2.

inline constexpr unsigned kTile = 32;                  // rows and columns of a tile
inline constexpr unsigned kTileRows = kBlock / kTile;  // rows of a tile that a block handles at once

// to[c][r] = from[r][c], for `height` rows of `width` sums. One block per tile. All loads and stores are
// coalesced, and there are no bank conflicts, because a row of the tile is one word longer than necessary.
template <typename Sum>
__global__ void k03_transpose(Rows<const Sum> from, Rows<Sum> to, std::uint64_t width, std::uint64_t height) {
  // TODO(student): Transpose one tile per block through shared memory. The last tiles are incomplete.
  // (roughly 15 lines)
}

template <typename T>
Status transpose(const TableJob<T>& job) {
  // TODO(student): Scan the rows, transpose, scan the rows, and transpose back. Only d_in and d_out depend on
  // the corner. (roughly 15 lines)
  return not_implemented(job);
}

// --- Task 4, "box": the box filter uses the table. The sum of any box takes four look-ups: the rectangle
// that ends at the box's far corner, minus the one that ends before its rows, minus the one that ends before
// its columns, plus the part that was subtracted twice.
// Limits: instructions per item ≤ 115, bytes_ratio ≤ 1.3, launches ≤ 1.
// 3 additions, 4 loads and 1 store per item, for any radius. One thread per item, one block per tile of 32 x
// 8 items.
template <typename Sum>
__global__ void k04_box(Rows<const Sum> table, Rows<MeanOf<Sum>> means, Rows<const std::uint32_t> radii,
                        std::uint64_t radius, std::uint64_t width, std::uint64_t height) {
  // TODO(student): Compute one mean per thread from four look-ups. A box may reach over every edge, and its
  // radius may be almost 2^32. If radii.d_first is not nullptr, each item has its own radius. (roughly 15
  // lines)
}

template <typename Sum>
Status box(const BoxJob<Sum>& job) {
  // TODO(student): Launch the kernel once, with one block per tile of kTile columns and kTileRows rows. If
  // job.d_radii is nullptr, radii.d_first must be nullptr, too. (roughly 8 lines)
  return not_implemented(job);
}

// --- Task 5, "single_pass" (bonus): one block per tile of 64 x 64, and each tile adds the sums of its
// neighbours.
// Limits: bytes_ratio ≤ 1.2, launches ≤ 2.
// A tile reads the sums of its rows so far from the tile to its left, and the table's entries above it from
// the tile before it in its column; it publishes the same for the tiles to the right and below. A block takes
// its tile by a ticket, so every tile for which it waits has been started before.
inline constexpr unsigned kSide = 64;               // rows and columns of such a tile
inline constexpr unsigned kHalves = kSide / kWarp;  // warps that publish an edge together, 32 sums each
inline constexpr unsigned kStates = 2 * kHalves;    // words per tile that say which of its sums are available

template <typename T, typename Sum>
__global__ void k05_single_pass(Rows<const T> in, Rows<Sum> table, std::uint64_t width, std::uint64_t height,
                                Sum* d_right, Sum* d_below, std::uint32_t* d_ticket,
                                std::uint32_t* d_states) {
  // TODO(student): Compute the table of one tile per block, in the order of the tickets: get the sums from
  // the left and from above, and hand on your own. Write at each barrier which hazard it prevents. (roughly
  // 60 lines)
}

template <typename T>
Status single_pass(const TableJob<T>& job) {
  // TODO(student): Launch k05_clear, then k05_single_pass. The ticket and the states are in d_flags, the
  // edges in d_scratch. (roughly 10 lines)
  return not_implemented(job);
}

// --- Given: which function implements which task.
template <typename T>
Status solve(Rung rung, const TableJob<T>& job) {
  switch (rung) {
    case Rung::serial: return serial(job);
    case Rung::rows_columns: return rows_columns(job);
    case Rung::transpose: return transpose(job);
    case Rung::single_pass: return single_pass(job);
    default: return Status::unsupported;
  }
}

template <typename Sum>
Status solve(Rung rung, const BoxJob<Sum>& job) {
  switch (rung) {
    case Rung::box: return box(job);
    default: return Status::unsupported;
  }
}

Status run(const lab::Request& request) {
  return dispatch(request, [&](const auto& job) { return solve(static_cast<Rung>(request.task), job); });
}

}  // namespace course::sat
