// SPDX-License-Identifier: MIT
//@student // Summed area table: your file. Read labs/sat/lab.hpp (Corner, TableJob, BoxJob), then
//@student // handouts/06-sat.md.
//@student // given.cuh in the same folder has functions that your code calls.
//@student // Work from the top down: each task is one or two kernels and the host function that launches
//@student // them.
//@student // Grade one task with
//@student //   ./lab grade sat --task serial
//@student // Until you write it, a task returns "not implemented". Do not change the given lines at the end.
//@reference
// Summed area table: all rungs of the ladder, from one thread per row to one pass over the image near the
// memory's speed, and the box filter that uses the table.
// Read from the top. Each rung says what changed, why that should be faster, and what drawbacks remain.
// The lines "Predicted (…)" are for images of floats.
// Lines that start with //@ control the generator of the students' file (make_skeleton.py).
// Invariant: every rung gives the same table (floats: up to rounding, and the same bits in every run) for any
// width, height and corner, and no rung writes its input.
// Source: F. Crow, "Summed-Area Tables for Texture Mapping" (1984) for the table and the four look-ups; J.
// Hensley et al., "Fast Summed-Area Table Generation and its Applications" (2005) for the applications; A.
// Kasagi, K. Nakano, Y. Ito, "Parallel Algorithms for the Summed Area Table on the Asynchronous Hierarchical
// Memory Machine" (2014) for passes over tiles; D. Merrill, M. Garland, "Single-pass Parallel Prefix Scan
// with Decoupled Look-back" (2016) for the last rungs.
//@end
#include "lab/atomic_access.cuh"
#include "sat/lab.hpp"
//@reference
#include "device/launch.hpp"
#include "device/look_back.cuh"
//@end

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
  //@solution Return the rows from either corner. Consider height = 0.
  //@how From the top left, the first row is d_data, and the next one is `width` items later. From the
  //@how lower left, the first row is the last one in memory, and the pitch is negative. Consider height
  //@how = 0.
  //@instead return {d_data, static_cast<std::int64_t>(width)};
  const auto pitch = static_cast<std::int64_t>(width);
  if (corner == Corner::top_left || height == 0) return {d_data, pitch};
  return {d_data + (height - 1) * width, -pitch};
  //@end
}

// --- Task 1, "serial": each thread scans a row by itself; then each thread scans a column.
// Limits: instructions per item ≤ 14, launches ≤ 2.
// It does 2 width * height - width - height additions in width + height - 2 steps.
//@reference
// Why: rows do not depend on each other, and neither do columns. So `height` threads, then `width` threads
// can work without barriers and shared memory.
// Drawback: the lanes of a warp in the first kernel are in 32 different rows, so each request touches 32
// sectors and uses 4 bytes of each: 8 times the traffic. Besides, a few thousand threads with one load in
// flight each cannot keep the memory busy.
//@end

// Each row of the table becomes the inclusive scan of the image's row. One thread per row.
template <typename T, typename Sum>
__global__ void k01_rows(Rows<const T> in, Rows<Sum> table, std::uint64_t width, std::uint64_t height) {
  //@solution Scan one row per thread.
  //@how Thread gid (in 64 bits) takes row gid, if it exists. Keep the running sum in a register, as a
  //@how Sum. Convert each item to Sum before you add it: wrapping_add needs two operands of the same
  //@how type.
  const std::uint64_t row = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (row >= height) return;
  Sum sum{0};
  for (std::uint64_t c = 0; c < width; ++c) {
    sum = wrapping_add(sum, static_cast<Sum>(in[row][c]));
    table[row][c] = sum;
  }
  //@end
}

// Scans every column of the table, in place. One thread per column: neighbouring lanes read neighbouring
// addresses.
template <typename Sum>
__global__ void k01_columns(Rows<Sum> table, std::uint64_t width, std::uint64_t height) {
  //@solution Scan one column per thread, in place.
  //@how Thread gid takes column gid. It adds up the entries, row by row, and replaces each of them by
  //@how the running sum.
  const std::uint64_t column = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (column >= width) return;
  Sum sum{0};
  for (std::uint64_t r = 0; r < height; ++r) {
    sum = wrapping_add(sum, table[r][column]);
    table[r][column] = sum;
  }
  //@end
}

template <typename T>
Status serial(const TableJob<T>& job) {
  //@solution Scan the rows, then the columns, from the job's corner. The image may be empty.
  //@how If the image is empty, there is nothing to do. Otherwise launch k01_rows with parts_of(height,
  //@how kBlock) blocks, then k01_columns with parts_of(width, kBlock), both on job.stream, with
  //@how rows_from(job.corner, …) of d_in and of d_out.
  //@instead return not_implemented(job);
  if (job.width == 0 || job.height == 0) return Status::ok;
  const auto in = rows_from(job.corner, job.d_in, job.width, job.height);
  const auto table = rows_from(job.corner, job.d_out, job.width, job.height);
  const auto row_blocks = static_cast<unsigned>(parts_of(job.height, kBlock));
  const auto column_blocks = static_cast<unsigned>(parts_of(job.width, kBlock));
  k01_rows<<<row_blocks, kBlock, 0, job.stream>>>(in, table, job.width, job.height);
  k01_columns<<<column_blocks, kBlock, 0, job.stream>>>(table, job.width, job.height);
  return Status::ok;
  //@end
}

// Inclusive scan of the 32 values of a warp, with shuffles, in 5 steps. All 32 lanes must call it; every lane
// gets its own sum.
template <typename Sum>
__device__ Sum warp_scan(Sum value) {
  //@solution Use shuffles (__shfl_up_sync).
  //@how For offset 1, 2, 4, 8, 16, read the value of the lane `offset` below (__shfl_up_sync(kFullMask,
  //@how value, offset)), and add it if there is such a lane.
  const unsigned lane = threadIdx.x % kWarp;
  for (unsigned offset = 1; offset < kWarp; offset *= 2) {
    const Sum below = __shfl_up_sync(kFullMask, value, offset);
    if (lane >= offset) value = wrapping_add(value, below);
  }
  //@end
  return value;
}

// Inclusive scan of one value per thread over the block; `total` is the sum of all values. Every thread must
// call it and gets both results. It uses kWarps Sums of shared memory, three barriers and 11 steps. No other
// barrier is needed between two calls.
template <typename Sum>
__device__ Sum block_scan(Sum value, Sum& total) {
  //@solution Use warp_scan, and shared memory between the warps.
  //@how Each warp scans its own values, and its last lane stores the warp's sum in shared memory. After
  //@how a barrier, warp 0 scans those sums (lanes past the number of warps use 0). After another
  //@how barrier, every thread adds the sum of the warps before its own. A third barrier at the end
  //@how allows the next call to overwrite the shared sums.
  //@instead total = value;
  //@instead return value;
  __shared__ Sum s_warp[kWarps];  // the sums of the warps, then their scan
  const unsigned lane = threadIdx.x % kWarp;
  const unsigned warp = threadIdx.x / kWarp;
  value = warp_scan(value);
  if (lane == kWarp - 1) s_warp[warp] = value;
  __syncthreads();  // every warp's sum is stored before warp 0 scans them
  if (warp == 0) {
    const Sum sums = warp_scan(lane < kWarps ? s_warp[lane] : Sum{0});
    if (lane < kWarps) s_warp[lane] = sums;
  }
  __syncthreads();  // the scan of the sums is stored before the warps add it
  if (warp > 0) value = wrapping_add(value, s_warp[warp - 1]);
  total = s_warp[kWarps - 1];
  __syncthreads();  // these reads come before the next call's writes
  return value;
  //@end
}

// --- Task 2, "rows_columns": a block scans a row, kBlock items at a time; columns as before, but with
// more loads in flight.
// Limits: bytes_ratio ≤ 2.1, instructions per item ≤ 120.
//@reference
// Changed: the lanes of a warp are neighbours in one row, and the sum of each tile of the row is carried to
// the next tile. A column's thread loads kAhead items before it adds the first.
// Why: a request touches 4 sectors instead of 32, and there are `height` blocks instead of `height` threads.
// Predicted (rows_columns, against serial, 2^28 items): 7×. Measured: 5.2× (H200, 2026-11-26).
// Drawback: the table is written, read and written again: twice as many bytes as necessary. Columns have
// only `width` threads, and each still needs `height` steps.
//@end

// Like k01_rows, but with one block per row.
template <typename T, typename Sum>
__global__ void k02_scan_rows(Rows<const T> in, Rows<Sum> table, std::uint64_t width, std::uint64_t height) {
  //@solution Scan one row per block, kBlock items at a time. There may be more rows than blocks.
  //@how A block handles the rows blockIdx.x, blockIdx.x + gridDim.x … Take kBlock items at a time, one
  //@how per thread (0 past the end of the row). Call block_scan, add the sum of the items before, store
  //@how the results inside the row, and carry the total to the next items. All threads of the block must
  //@how call every block_scan.
  for (std::uint64_t row = blockIdx.x; row < height; row += gridDim.x) {
    Sum carry{0};  // the sum of the row's items before this tile
    for (std::uint64_t first = 0; first < width; first += kBlock) {
      const std::uint64_t column = first + threadIdx.x;
      Sum total;
      const Sum item = column < width ? static_cast<Sum>(in[row][column]) : Sum{0};
      const Sum sum = wrapping_add(carry, block_scan(item, total));
      if (column < width) table[row][column] = sum;
      carry = wrapping_add(carry, total);
    }
  }
  //@end
}

inline constexpr unsigned kColumnBlock = 64;  // threads: with small blocks, more multiprocessors take part
inline constexpr unsigned kAhead = 16;        // items of a column that are loaded before the first is added

// Like k01_columns, but with kAhead loads in flight.
template <typename Sum>
__global__ void k02_scan_columns(Rows<Sum> table, std::uint64_t width, std::uint64_t height) {
  //@solution Do the same as in k01_columns, with kAhead loads in flight. The height may be any number.
  //@how Do the same as in k01_columns, but take kAhead rows at a time. First load them all into an array
  //@how of registers (unrolled), then add and store one after the other. Handle the remaining rows one
  //@how at a time.
  const std::uint64_t column = std::uint64_t{blockIdx.x} * kColumnBlock + threadIdx.x;
  if (column >= width) return;
  Sum sum{0};
  std::uint64_t r = 0;
  for (; r + kAhead <= height; r += kAhead) {
    Sum items[kAhead];
#pragma unroll
    for (unsigned k = 0; k < kAhead; ++k) items[k] = table[r + k][column];
#pragma unroll
    for (unsigned k = 0; k < kAhead; ++k) {
      sum = wrapping_add(sum, items[k]);
      table[r + k][column] = sum;
    }
  }
  for (; r < height; ++r) {
    sum = wrapping_add(sum, table[r][column]);
    table[r][column] = sum;
  }
  //@end
}

// Number of blocks of a grid with one block for each of n parts, up to the largest possible grid.
constexpr unsigned grid_for(std::uint64_t n) {
  constexpr std::uint64_t kMax = 0x7fffffff;
  return static_cast<unsigned>(n < kMax ? n : kMax);
}

template <typename T>
Status rows_columns(const TableJob<T>& job) {
  //@solution Do the same as for serial, but use one block per row (grid_for) for the rows, and kColumnBlock
  //@hint threads for kColumnBlock columns.
  //@instead return not_implemented(job);
  if (job.width == 0 || job.height == 0) return Status::ok;
  const auto in = rows_from(job.corner, job.d_in, job.width, job.height);
  const auto table = rows_from(job.corner, job.d_out, job.width, job.height);
  const auto column_blocks = static_cast<unsigned>(parts_of(job.width, kColumnBlock));
  k02_scan_rows<<<grid_for(job.height), kBlock, 0, job.stream>>>(in, table, job.width, job.height);
  k02_scan_columns<<<column_blocks, kColumnBlock, 0, job.stream>>>(table, job.width, job.height);
  return Status::ok;
  //@end
}

// --- Task 3, "transpose": columns become rows, are scanned as rows, and become columns again.
// Limits: bank_conflicts per 1,024 items ≤ 20 (none is needed), bytes_ratio ≤ 4.2.
//@reference
// Changed: the second scan also scans rows. A transpose through tiles in shared memory comes before it, and
// another one after it.
// Why: the second scan has `width` blocks with trees, too: steps fall from height + log width to log height +
// log width.
// It should be faster than rung 2 if `width` threads cannot fill the device (up to about 4096), and slower
// for larger images.
// Predicted (transpose, against rows_columns, 2^24 items): faster. Measured: 1.4× (H200, 2026-11-26).
// Predicted (transpose, against rows_columns, 2^28 items): slower. Measured: 0.64× (H200, 2026-11-26).
// Drawback: the image or the table is read or written eight times: 4 times as many bytes as necessary.
//@end

inline constexpr unsigned kTile = 32;                  // rows and columns of a tile
inline constexpr unsigned kTileRows = kBlock / kTile;  // rows of a tile that a block handles at once

// to[c][r] = from[r][c], for `height` rows of `width` sums. One block per tile. All loads and stores are
// coalesced, and there are no bank conflicts, because a row of the tile is one word longer than necessary.
template <typename Sum>
__global__ void k03_transpose(Rows<const Sum> from, Rows<Sum> to, std::uint64_t width, std::uint64_t height) {
  //@solution Transpose one tile per block through shared memory. The last tiles are incomplete.
  //@how Tile number blockIdx.x is in tile row blockIdx.x / tiles_across and tile column blockIdx.x %
  //@how tiles_across. The lanes are along a row of the tile, with kTileRows rows at once. Load the tile
  //@how into s_tile[row][lane]. After a barrier, store s_tile[lane][row] so that the lanes are along a
  //@how row of `to`. Check both bounds, because the last tiles are incomplete.
  __shared__ Sum s_tile[kTile][kTile + 1];
  const unsigned lane = threadIdx.x % kTile;
  const unsigned warp = threadIdx.x / kTile;
  const auto tiles_across = static_cast<unsigned>(parts_of(width, kTile));  // 64-bit divisions are far slower
  const std::uint64_t first_row = std::uint64_t{blockIdx.x / tiles_across} * kTile;
  const std::uint64_t first_column = std::uint64_t{blockIdx.x % tiles_across} * kTile;

  for (unsigned r = warp; r < kTile; r += kTileRows) {
    if (first_row + r < height && first_column + lane < width)
      s_tile[r][lane] = from[first_row + r][first_column + lane];
  }
  __syncthreads();  // the tile is loaded before its columns are read
  for (unsigned c = warp; c < kTile; c += kTileRows) {
    if (first_row + lane < height && first_column + c < width)
      to[first_column + c][first_row + lane] = s_tile[lane][c];
  }
  //@end
}

template <typename T>
Status transpose(const TableJob<T>& job) {
  //@solution Scan the rows, transpose, scan the rows, and transpose back. Only d_in and d_out depend on the
  //@hint corner.
  //@how There are four launches: k02_scan_rows from d_in to d_out, k03_transpose from d_out to d_scratch
  //@how (`width` rows of `height` sums), k02_scan_rows of d_scratch in place, and k03_transpose back.
  //@how Only d_in and d_out depend on the corner.
  //@instead return not_implemented(job);
  using Sum = typename TableJob<T>::Sum;
  if (job.width == 0 || job.height == 0) return Status::ok;
  const auto in = rows_from(job.corner, job.d_in, job.width, job.height);
  const auto table = rows_from(job.corner, job.d_out, job.width, job.height);
  const Rows<Sum> turned{job.d_scratch, static_cast<std::int64_t>(job.height)};
  const auto constant = [](Rows<Sum> rows) { return Rows<const Sum>{rows.d_first, rows.pitch}; };
  const auto n_tiles = static_cast<unsigned>(tiles_of_32(job.width, job.height));
  k02_scan_rows<<<grid_for(job.height), kBlock, 0, job.stream>>>(in, table, job.width, job.height);
  k03_transpose<<<n_tiles, kBlock, 0, job.stream>>>(constant(table), turned, job.width, job.height);
  k02_scan_rows<<<grid_for(job.width), kBlock, 0, job.stream>>>(constant(turned), turned, job.height,
                                                                job.width);
  k03_transpose<<<n_tiles, kBlock, 0, job.stream>>>(constant(turned), table, job.height, job.width);
  return Status::ok;
  //@end
}

//@reference
// --- Rung 3b: each scan writes its result transposed, so only two launches are left.
// Changed: a block takes a strip of 32 rows, tile by tile from left to right. It scans the tile's rows with
// shuffles, carries their sums to the next tile, and stores the tile's columns as rows. The second launch
// does the same with the result of the first one, which transposes it back.
// Why: it moves half of rung 3's bytes (twice as many as necessary), with as many steps as rung 3's scans.
// Predicted (fused, against transpose, 2^28 items): 1.7×, if the device were full. Measured: 1.2× (H200,
//   2026-11-26).
// Drawback: the device is not full. An image has only height / 32 strips (512 of 16384 rows, for 132
// multiprocessors), and each is a chain of tiles that wait for each other's carry.
template <typename T, typename Sum>
__global__ void k03b_scan_and_turn(Rows<const T> in, Rows<Sum> turned, std::uint64_t width,
                                   std::uint64_t height) {
  __shared__ Sum s_tile[kTile][kTile + 1];
  constexpr unsigned kRowsOfWarp = kTile / kWarps;
  const unsigned lane = threadIdx.x % kWarp;
  const unsigned warp = threadIdx.x / kWarp;
  const std::uint64_t first_row = std::uint64_t{blockIdx.x} * kTile;
  Sum carry[kRowsOfWarp] = {};  // per row of this warp: the sum of the items before this tile

  for (std::uint64_t first_column = 0; first_column < width; first_column += kTile) {
#pragma unroll
    for (unsigned k = 0; k < kRowsOfWarp; ++k) {
      const unsigned r = warp + k * kWarps;
      const bool inside = first_row + r < height && first_column + lane < width;
      const Sum item = inside ? static_cast<Sum>(in[first_row + r][first_column + lane]) : Sum{0};
      const Sum sum = wrapping_add(carry[k], warp_scan(item));
      s_tile[r][lane] = sum;
      carry[k] = __shfl_sync(kFullMask, sum, kWarp - 1);
    }
    __syncthreads();  // the tile is scanned before its columns are read
    for (unsigned c = warp; c < kTile; c += kWarps) {
      if (first_row + lane < height && first_column + c < width)
        turned[first_column + c][first_row + lane] = s_tile[lane][c];
    }
    __syncthreads();  // these reads come before the next tile's writes
  }
}

template <typename T>
Status fused(const TableJob<T>& job) {
  using Sum = typename TableJob<T>::Sum;
  if (job.width == 0 || job.height == 0) return Status::ok;
  const auto in = rows_from(job.corner, job.d_in, job.width, job.height);
  const auto table = rows_from(job.corner, job.d_out, job.width, job.height);
  const auto pitch = static_cast<std::int64_t>(job.height);
  const auto strips = [](std::uint64_t rows) { return static_cast<unsigned>(parts_of(rows, kTile)); };
  k03b_scan_and_turn<<<strips(job.height), kBlock, 0, job.stream>>>(in, Rows<Sum>{job.d_scratch, pitch},
                                                                    job.width, job.height);
  k03b_scan_and_turn<<<strips(job.width), kBlock, 0, job.stream>>>(Rows<const Sum>{job.d_scratch, pitch},
                                                                   table, job.height, job.width);
  return Status::ok;
}

//@end
// --- Task 4, "box": the box filter uses the table. The sum of any box takes four look-ups: the rectangle
// that ends at the box's far corner, minus the one that ends before its rows, minus the one that ends before
// its columns, plus the part that was subtracted twice.
// Limits: instructions per item ≤ 115, bytes_ratio ≤ 1.3, launches ≤ 1.
// 3 additions, 4 loads and 1 store per item, for any radius. One thread per item, one block per tile of 32 x
// 8 items.
//@reference
// Why tiles: the four look-ups of a warp are in two rows of the table. Those of the block's next row are one
// row below, so most of them hit the cache.
// Drawback: four loads per item; a thread that goes along the row would need only two new ones.
//@end
template <typename Sum>
__global__ void k04_box(Rows<const Sum> table, Rows<MeanOf<Sum>> means, Rows<const std::uint32_t> radii,
                        std::uint64_t radius, std::uint64_t width, std::uint64_t height) {
  //@solution Compute one mean per thread from four look-ups. A box may reach over every edge, and its radius
  //@hint may be almost 2^32. If radii.d_first is not nullptr, each item has its own radius.
  //@how Rows count from the corner, as in the table. The box's first row is row - radius, or 0 if that
  //@how is before the image. Its last row is row + radius, or height - 1 if that is past the image.
  //@how Compute the columns in the same way. The radius may be almost 2^32, and larger than the image.
  //@how Look up the entry at (last row, last column). Subtract those at (before the first row, last
  //@how column) and (last row, before the first column), and add the one at (before the first row,
  //@how before the first column), each only if it exists. Use wrapping_add and wrapping_subtract, in
  //@how Sum. Divide, as a MeanOf<Sum>, by the number of items in the box. If radii.d_first is not
  //@how nullptr, radii[row][column] is the radius.
  using Mean = MeanOf<Sum>;
  const auto tiles_across = static_cast<unsigned>(parts_of(width, kTile));
  const std::uint64_t row = std::uint64_t{blockIdx.x / tiles_across} * kTileRows + threadIdx.x / kTile;
  const std::uint64_t column = std::uint64_t{blockIdx.x % tiles_across} * kTile + threadIdx.x % kTile;
  if (row >= height || column >= width) return;
  if (radii.d_first != nullptr) radius = radii[row][column];

  const std::uint64_t first_row = row > radius ? row - radius : 0;
  const std::uint64_t last_row = height - 1 - row > radius ? row + radius : height - 1;
  const std::uint64_t first_column = column > radius ? column - radius : 0;
  const std::uint64_t last_column = width - 1 - column > radius ? column + radius : width - 1;

  Sum sum = table[last_row][last_column];
  if (first_row > 0) sum = wrapping_subtract(sum, table[first_row - 1][last_column]);
  if (first_column > 0) sum = wrapping_subtract(sum, table[last_row][first_column - 1]);
  if (first_row > 0 && first_column > 0) sum = wrapping_add(sum, table[first_row - 1][first_column - 1]);
  const std::uint64_t area = (last_row - first_row + 1) * (last_column - first_column + 1);
  means[row][column] = static_cast<Mean>(sum) / static_cast<Mean>(area);
  //@end
}

template <typename Sum>
Status box(const BoxJob<Sum>& job) {
  //@solution Launch the kernel once, with one block per tile of kTile columns and kTileRows rows. If
  //@hint job.d_radii is nullptr, radii.d_first must be nullptr, too.
  //@instead return not_implemented(job);
  if (job.width == 0 || job.height == 0) return Status::ok;
  const auto table = rows_from(job.corner, job.d_table, job.width, job.height);
  const auto means = rows_from(job.corner, job.d_out, job.width, job.height);
  Rows<const std::uint32_t> radii{nullptr, 0};
  if (job.d_radii != nullptr) radii = rows_from(job.corner, job.d_radii, job.width, job.height);
  const auto n_tiles = static_cast<unsigned>(parts_of(job.width, kTile) * parts_of(job.height, kTileRows));
  k04_box<<<n_tiles, kBlock, 0, job.stream>>>(table, means, radii, job.radius, job.width, job.height);
  return Status::ok;
  //@end
}

// --- Task 5, "single_pass" (bonus): one block per tile of 64 x 64, and each tile adds the sums of its
// neighbours.
// Limits: bytes_ratio ≤ 1.2, launches ≤ 2.
// A tile reads the sums of its rows so far from the tile to its left, and the table's entries above it from
// the tile before it in its column; it publishes the same for the tiles to the right and below. A block takes
// its tile by a ticket, so every tile for which it waits has been started before.
//@reference
// Changed: the rows and columns of a tile are scanned in shared memory; only 64 sums to the right and 64
// downwards pass between tiles.
// Why: the image is read once and the table is written once, half of rung 2's traffic. With diagonals, the
// longest chain has tiles_x + tiles_y - 1 tiles instead of tiles_x * tiles_y.
// Predicted (single_pass, against rows_columns, 2^28 items): 1.2×. Measured: 1.7× (H200, 2026-11-26).
// The limiter is the chain, not the memory: 255 tiles that wait for each other, if the image has 8192 x 8192
// items.
// Drawback: the tiles wait for each other; a lane loads only 4 bytes at a time.
//@end
inline constexpr unsigned kSide = 64;               // rows and columns of such a tile
inline constexpr unsigned kHalves = kSide / kWarp;  // warps that publish an edge together, 32 sums each
inline constexpr unsigned kStates = 2 * kHalves;    // words per tile that say which of its sums are available

template <typename T, typename Sum>
__global__ void k05_single_pass(Rows<const T> in, Rows<Sum> table, std::uint64_t width, std::uint64_t height,
                                Sum* d_right, Sum* d_below, std::uint32_t* d_ticket,
                                std::uint32_t* d_states) {
  //@solution Compute the table of one tile per block, in the order of the tickets: get the sums from the left
  //@hint and from above, and hand on your own. Write at each barrier which hazard it prevents.
  //@how Take a ticket, store it in shared memory for the block, and get the position from
  //@how diagonal_position. Scan the tile's rows with warp_scan into s_tile (0 outside the image, one column
  //@how of padding), 32 items and then 32 more. Warps 0 and 1 handle one row per lane: they wait for the
  //@how left tile's right edge (if there is such a tile), store it in s_left, and publish left + own row
  //@how sums. Scan the columns (lane = row), with s_left added to each item. Warps 0 and 1 now handle
  //@how one column per lane: they do the same with the tile above, whose lower edge goes to s_above.
  //@how Store s_tile + s_above. Write at each barrier which hazard it prevents. Use publish and
  //@how wait_for.
  __shared__ Sum s_tile[kSide][kSide + 1];
  __shared__ Sum s_left[kSide];   // for each row: the sum of its items left of the tile
  __shared__ Sum s_above[kSide];  // for each column: the table's entry just above the tile
  __shared__ std::uint32_t s_ticket;
  const unsigned tid = threadIdx.x;
  const unsigned lane = tid % kWarp;
  const unsigned warp = tid / kWarp;
  if (tid == 0) s_ticket = atomicAdd(d_ticket, 1u);
  __syncthreads();  // the ticket is stored before any thread reads it
  const std::uint64_t tiles_x = parts_of(width, kSide);
  const TilePosition place = diagonal_position(s_ticket, tiles_x, parts_of(height, kSide));
  const std::uint64_t tile = place.y * tiles_x + place.x;
  const std::uint64_t first_row = std::uint64_t{place.y} * kSide;
  const std::uint64_t first_column = std::uint64_t{place.x} * kSide;

  for (unsigned r = warp; r < kSide; r += kWarps) {
    Sum carry{0};
    for (unsigned c = lane; c < kSide; c += kWarp) {
      const bool inside = first_row + r < height && first_column + c < width;
      const Sum item = inside ? static_cast<Sum>(in[first_row + r][first_column + c]) : Sum{0};
      s_tile[r][c] = wrapping_add(carry, warp_scan(item));
      carry = __shfl_sync(kFullMask, s_tile[r][c], kWarp - 1);
    }
  }
  __syncthreads();  // the rows are scanned before their sums are published
  if (warp < kHalves) {
    Sum left{0};
    if (place.x > 0) {
      wait_for(&d_states[(tile - 1) * kStates + warp]);
      left = d_right[(tile - 1) * kSide + tid];
    }
    s_left[tid] = left;
    d_right[tile * kSide + tid] = wrapping_add(left, s_tile[tid][kSide - 1]);
    publish(&d_states[tile * kStates + warp], 1);
  }
  __syncthreads();  // s_left is stored before the columns use it; the row sums are read before they change
  for (unsigned c = warp; c < kSide; c += kWarps) {
    Sum carry{0};
    for (unsigned r = lane; r < kSide; r += kWarp) {
      const Sum item = wrapping_add(s_tile[r][c], s_left[r]);
      s_tile[r][c] = wrapping_add(carry, warp_scan(item));
      carry = __shfl_sync(kFullMask, s_tile[r][c], kWarp - 1);
    }
  }
  __syncthreads();  // the columns are scanned before their sums are published
  if (warp < kHalves) {
    Sum above{0};
    if (place.y > 0) {
      wait_for(&d_states[(tile - tiles_x) * kStates + kHalves + warp]);
      above = d_below[(tile - tiles_x) * kSide + tid];
    }
    s_above[tid] = above;
    d_below[tile * kSide + tid] = wrapping_add(above, s_tile[kSide - 1][tid]);
    publish(&d_states[tile * kStates + kHalves + warp], 1);
  }
  __syncthreads();  // s_above is stored before the rows use it
  for (unsigned r = warp; r < kSide; r += kWarps) {
    for (unsigned c = lane; c < kSide; c += kWarp) {
      if (first_row + r < height && first_column + c < width)
        table[first_row + r][first_column + c] = wrapping_add(s_tile[r][c], s_above[c]);
    }
  }
  //@end
}

template <typename T>
Status single_pass(const TableJob<T>& job) {
  //@solution Launch k05_clear, then k05_single_pass. The ticket and the states are in d_flags, the edges in
  //@hint d_scratch.
  //@how There are two launches. k05_clear sets the ticket and kStates words per tile to 0.
  //@how k05_single_pass has one block per tile. d_flags starts with the ticket. d_scratch holds kSide
  //@how sums per tile for the right edges, then as many for the lower ones.
  //@instead return not_implemented(job);
  if (job.width == 0 || job.height == 0) return Status::ok;
  const auto in = rows_from(job.corner, job.d_in, job.width, job.height);
  const auto table = rows_from(job.corner, job.d_out, job.width, job.height);
  const std::uint64_t n_tiles = parts_of(job.width, kSide) * parts_of(job.height, kSide);
  const std::uint64_t n_flags = 1 + kStates * n_tiles;
  k05_clear<<<static_cast<unsigned>(parts_of(n_flags, kBlock)), kBlock, 0, job.stream>>>(job.d_flags,
                                                                                         n_flags);
  k05_single_pass<<<static_cast<unsigned>(n_tiles), kBlock, 0, job.stream>>>(
      in, table, job.width, job.height, job.d_scratch, job.d_scratch + n_tiles * kSide, job.d_flags,
      job.d_flags + 1);
  return Status::ok;
  //@end
}

//@reference
// --- Rung 6: tiles in registers, and look-back.
// Changed: tiles of 128 x 64 are in registers. A lane has 4 neighbouring columns of 8 rows: one 16-byte load
// per row, all 8 in flight at once. Rows are scanned by 5 shuffles for 4 items, columns by plain additions in
// the lane; shared memory holds only the sums of rows and of each warp's columns. A tile first publishes its
// own sums (its aggregate), so that the next tile need not wait for the tiles before: it adds up aggregates
// back to the nearest available prefix.
// Why: each block has 32 KB in flight, with 3 blocks per multiprocessor. 8192 x 8192 items have 191 diagonals
// instead of 255, and no tile waits for a chain.
// Predicted (look_back, against single_pass, 2^28 items): 3×. Measured: 1.8× (H200, 2026-11-26).
// Drawback: edges are more bytes to move; a separate launch sets the flags to 0.
inline constexpr unsigned kLaneItems = 4;                  // neighbouring columns of a lane
inline constexpr unsigned kLaneRows = 8;                   // rows of a lane, and of its warp
inline constexpr unsigned kWideTile = kWarp * kLaneItems;  // columns of a tile
inline constexpr unsigned kTallTile = kWarps * kLaneRows;  // rows of a tile
// A strand: 32 carries that one warp publishes together.
inline constexpr unsigned kRowStrands = kTallTile / kWarp;
inline constexpr unsigned kColumnStrands = kWideTile / kWarp;
inline constexpr unsigned kStrands = kRowStrands + kColumnStrands;

// The status of a strand of a tile.
enum StrandState : std::uint32_t { kNothing, kAggregate, kInclusive };

// The neighbouring items of a lane: one load or store of up to 16 bytes, if the address allows it.
template <typename T>
struct alignas(sizeof(T) * kLaneItems < 16 ? sizeof(T) * kLaneItems : 16) LanePack {
  T item[kLaneItems];
};
// Loads a vector from an aligned address. kOnce: it may leave the cache first, because no thread reads it
// again (__ldcs).
template <bool kOnce, typename T>
__device__ LanePack<T> load_pack(const T* d) {
  if constexpr (!kOnce) {
    return *reinterpret_cast<const LanePack<T>*>(d);
  } else {
    using Word = std::conditional_t<sizeof(LanePack<T>) % sizeof(uint4) == 0, uint4, unsigned>;
    Word words[sizeof(LanePack<T>) / sizeof(Word)];
#pragma unroll
    for (unsigned k = 0; k < sizeof(words) / sizeof(Word); ++k)
      words[k] = __ldcs(reinterpret_cast<const Word*>(d) + k);
    LanePack<T> pack;
    memcpy(&pack, words, sizeof(words));
    return pack;
  }
}
// d points to `there` existing items (0 … kLaneItems or more); positions past them count as 0.
template <bool kOnce = false, typename T, typename Sum>
__device__ void load_lane(const T* d, std::int64_t there, Sum (&sums)[kLaneItems]) {
  if (there >= kLaneItems && reinterpret_cast<std::uintptr_t>(d) % alignof(LanePack<T>) == 0) {
    const LanePack<T> pack = load_pack<kOnce>(d);
#pragma unroll
    for (unsigned j = 0; j < kLaneItems; ++j) sums[j] = static_cast<Sum>(pack.item[j]);
  } else {
#pragma unroll
    for (unsigned j = 0; j < kLaneItems; ++j) sums[j] = j < there ? static_cast<Sum>(d[j]) : Sum{0};
  }
}
// Stores to global memory. No thread reads the table again soon, so it need not stay in the cache (__stcs).
// The intrinsic also keeps the vector store in one piece: nvcc splits the store of a struct if the other
// branch stores the same addresses one by one.
template <typename Sum>
__device__ void store_pack(Sum* d, const Sum (&sums)[kLaneItems]) {
  constexpr unsigned kWords = sizeof(Sum) * kLaneItems / sizeof(uint4);
  uint4 words[kWords];
  memcpy(words, sums, sizeof(words));
#pragma unroll
  for (unsigned k = 0; k < kWords; ++k) __stcs(reinterpret_cast<uint4*>(d) + k, words[k]);
}
template <typename Sum>
__device__ void store_lane(Sum* d, std::int64_t there, const Sum (&sums)[kLaneItems]) {
  if (there >= kLaneItems && reinterpret_cast<std::uintptr_t>(d) % sizeof(uint4) == 0) {
    store_pack(d, sums);
  } else {
#pragma unroll
    for (unsigned j = 0; j < kLaneItems; ++j) {
      if (j < there) d[j] = sums[j];
    }
  }
}

// Strands in memory: for each a status, 32 aggregates and 32 inclusive sums. Strands that follow each other,
// along a row of tiles or down a column, are neighbours, so one load reads the statuses of 32 of them.
template <typename Sum>
struct Strands {
  std::uint32_t* d_states;
  Sum* d_aggregates;
  Sum* d_inclusives;
};

// Publishes strand `self` of this tile and returns, in each lane, the sum of the `total`s of its n_before
// predecessors self - 1, self - 2 … All 32 lanes of one warp must call it. Totals are always added from the
// first tile on, whichever are available, so float sums are the same in every run.
template <typename Sum>
__device__ Sum look_back(const Strands<Sum>& strands, std::uint64_t self, unsigned n_before, Sum total) {
  const unsigned lane = threadIdx.x % kWarp;
  Sum before{0};
  if (n_before > 0) {
    strands.d_aggregates[self * kWarp + lane] = total;
    publish(&strands.d_states[self], kAggregate);
    // Lane k reads the status of the strand k + 1 tiles back. The loop ends when one of them has its
    // inclusive sum and all nearer ones at least their aggregates. That happens because the first tiles in
    // the order of tickets do not wait.
    unsigned nearest;
    while (true) {
      const std::uint32_t* d_state = &strands.d_states[lane < n_before ? self - (lane + 1) : self];
      const std::uint32_t state = lane < n_before ? lab::load_relaxed(d_state) : kNothing;
      const unsigned nothing = __ballot_sync(kFullMask, state == kNothing);
      const unsigned inclusive = __ballot_sync(kFullMask, state == kInclusive);
      nearest = inclusive == 0 ? kWarp : static_cast<unsigned>(__ffs(static_cast<int>(inclusive))) - 1;
      if (nearest < kWarp && (nothing & ((1u << nearest) - 1)) == 0) break;
    }
    __threadfence();  // the published data is read after its status …
    __syncwarp();     // … by every lane, whichever lane read the status
    before = strands.d_inclusives[(self - (nearest + 1)) * kWarp + lane];
    for (unsigned k = nearest; k > 0; --k) {
      before = wrapping_add(before, strands.d_aggregates[(self - k) * kWarp + lane]);
    }
  }
  strands.d_inclusives[self * kWarp + lane] = wrapping_add(before, total);
  publish(&strands.d_states[self], kInclusive);
  return before;
}

template <typename T, typename Sum>
__global__ void __launch_bounds__(kBlock, sizeof(Sum) == 4 ? 3 : 2)
    k06_look_back(Rows<const T> in, Rows<Sum> table, std::uint64_t width, std::uint64_t height,
                  Strands<Sum> strands, std::uint32_t* d_ticket) {
  __shared__ Sum s_rows[kTallTile];  // the tile's row sums, then the sums left of the tile
  __shared__ alignas(16)
      Sum s_columns[kWarps][kWideTile];  // each warp's column sums, then the sums above its rows
  __shared__ std::uint32_t s_ticket;
  const unsigned lane = threadIdx.x % kWarp;
  const unsigned warp = threadIdx.x / kWarp;
  if (threadIdx.x == 0) s_ticket = atomicAdd(d_ticket, 1u);
  __syncthreads();  // the ticket is stored before any thread reads it
  const std::uint64_t tiles_x = parts_of(width, kWideTile);
  const std::uint64_t tiles_y = parts_of(height, kTallTile);
  const TilePosition place = diagonal_position(s_ticket, tiles_x, tiles_y);
  const std::uint64_t first_row = std::uint64_t{place.y} * kTallTile + warp * kLaneRows;
  const std::uint64_t first_column = std::uint64_t{place.x} * kWideTile + lane * kLaneItems;
  const std::int64_t there = static_cast<std::int64_t>(width) - static_cast<std::int64_t>(first_column);

  // Load: all rows of the warp are in flight before the first is used.
  Sum sums[kLaneRows][kLaneItems];
#pragma unroll
  for (unsigned r = 0; r < kLaneRows; ++r) {
    const bool inside = first_row + r < height && there > 0;
    load_lane(inside ? in[first_row + r] + first_column : in.d_first, inside ? there : 0, sums[r]);
  }

  // Rows: inside the lane, then over the warp.
#pragma unroll
  for (unsigned r = 0; r < kLaneRows; ++r) {
#pragma unroll
    for (unsigned j = 1; j < kLaneItems; ++j) sums[r][j] = wrapping_add(sums[r][j], sums[r][j - 1]);
    const Sum scanned = warp_scan(sums[r][kLaneItems - 1]);
    if (lane == kWarp - 1) s_rows[warp * kLaneRows + r] = scanned;
    Sum before = __shfl_up_sync(kFullMask, scanned, 1);
    if (lane == 0) before = Sum{0};
#pragma unroll
    for (unsigned j = 0; j < kLaneItems; ++j) sums[r][j] = wrapping_add(sums[r][j], before);
  }
  __syncthreads();  // the row sums are stored before they are published
  if (warp < kRowStrands) {
    const std::uint64_t strand = (warp * tiles_y + place.y) * tiles_x + place.x;
    s_rows[threadIdx.x] = look_back(strands, strand, place.x, s_rows[threadIdx.x]);
  }
  __syncthreads();  // the sums left of the tile are stored before the rows use them

  // Columns: inside the lane, then over the warps.
#pragma unroll
  for (unsigned r = 0; r < kLaneRows; ++r) {
    const Sum left = s_rows[warp * kLaneRows + r];
#pragma unroll
    for (unsigned j = 0; j < kLaneItems; ++j) {
      sums[r][j] = wrapping_add(sums[r][j], left);
      if (r > 0) sums[r][j] = wrapping_add(sums[r][j], sums[r - 1][j]);
    }
  }
#pragma unroll
  for (unsigned j = 0; j < kLaneItems; ++j) s_columns[warp][lane * kLaneItems + j] = sums[kLaneRows - 1][j];
  __syncthreads();  // the warps' column sums are stored before they are added
  if (warp < kColumnStrands) {
    Sum total{0};
#pragma unroll
    for (unsigned w = 0; w < kWarps; ++w) total = wrapping_add(total, s_columns[w][threadIdx.x]);
    const std::uint64_t strand =
        kRowStrands * tiles_x * tiles_y + (warp * tiles_x + place.x) * tiles_y + place.y;
    Sum above = look_back(strands, strand, place.y, total);
#pragma unroll
    for (unsigned w = 0; w < kWarps; ++w) {
      const Sum own = s_columns[w][threadIdx.x];
      s_columns[w][threadIdx.x] = above;
      above = wrapping_add(above, own);
    }
  }
  __syncthreads();  // the sums above each warp's rows are stored before they are used

  Sum above[kLaneItems];
#pragma unroll
  for (unsigned j = 0; j < kLaneItems; ++j) above[j] = s_columns[warp][lane * kLaneItems + j];
#pragma unroll
  for (unsigned r = 0; r < kLaneRows; ++r) {
#pragma unroll
    for (unsigned j = 0; j < kLaneItems; ++j) sums[r][j] = wrapping_add(sums[r][j], above[j]);
    if (first_row + r < height && there > 0) store_lane(table[first_row + r] + first_column, there, sums[r]);
  }
}

template <typename T>
Status look_back(const TableJob<T>& job) {
  using Sum = typename TableJob<T>::Sum;
  if (job.width == 0 || job.height == 0) return Status::ok;
  const auto in = rows_from(job.corner, job.d_in, job.width, job.height);
  const auto table = rows_from(job.corner, job.d_out, job.width, job.height);
  const std::uint64_t n_tiles = parts_of(job.width, kWideTile) * parts_of(job.height, kTallTile);
  const std::uint64_t n_strands = n_tiles * kStrands;
  const Strands<Sum> strands{job.d_flags + 1, job.d_scratch, job.d_scratch + n_strands * kWarp};
  k05_clear<<<static_cast<unsigned>(parts_of(n_strands + 1, kBlock)), kBlock, 0, job.stream>>>(job.d_flags,
                                                                                               n_strands + 1);
  k06_look_back<<<static_cast<unsigned>(n_tiles), kBlock, 0, job.stream>>>(in, table, job.width, job.height,
                                                                           strands, job.d_flags);
  return Status::ok;
}

// --- Rung 7: as fast as the memory.
// Changed: rows and columns do not wait for each other. With L, the table of the tile alone, an entry is
//   table(r, c) = L(r, c) + left(r) + above(c) + corner
//   left(r)   the sum of L(r, last column) over the tiles to the left,
//   above(c)  the sum of L(last row, c) over the tiles above,
//   corner    the sum of `above` in the last column over the tiles to the left: all items above and left.
// All three are sums of values that each tile can compute by itself, so three groups of warps look back at
// the same time, right after the scan of the tile. A sum and its status share one word
// (device/look_back.cuh): no fence, and one round trip to the L2 cache instead of two. Each thread reads the
// nearest few tiles at once. Two blocks with tiles of 128 x 128 items of 4 bytes fit on a multiprocessor, so
// 128 KB are in flight.
// Why: rung 6 has 96 KB in flight for a longer time, half of which are two look-backs of two round trips
// each, one after the other.
// Predicted (state_of_the_art, 2^28 items): the time of a copy. Measured: 617.9 µs (H200, 2026-11-26).
// Why it is slower than predicted: leaving out parts of the kernel showed two reasons. The edges must be
// cleared, published and read, and a copy by tiles along the diagonals is slower than one row by row. While
// the edges are cleared, the first tiles are loaded already.
// Loads and stores must say that an item is used once (__ldcs, __stcs). Otherwise lines that are not needed
// again evict lines that wait to be written, which makes the copy along the diagonals much slower.
// Tried and slower: clearing by a memset before the kernel; the next tile on its way to shared memory while
// this one looks back (the loads are not what a tile waits for); groups of 4 or 8 neighbouring tiles along
// the diagonals, because they wait for each other; a state per warp instead of one in each word, because of
// two round trips; 2, 3 or 6 entries at once; row by row, not diagonally.
// A tile of 8-byte sums needs twice the registers, so only one block fits on a multiprocessor. Rung 6 is
// faster there, so this rung calls it.
// Small images: if all tiles run at once, each adds up the totals of the tiles before it, so it waits for one
// round trip instead of up to four, one after the other.
// Drawback: edges are published twice, in words of twice their size, which must be cleared.
inline constexpr unsigned kTopWarps = 16;
inline constexpr unsigned kTopBlock = kTopWarps * kWarp;
inline constexpr unsigned kAskedAtOnce = 4;  // entries that a thread reads at once
inline constexpr unsigned kMaxAtOnce = 256;  // tiles of a small image
// Rows of a lane, and of a tile. In a small image (at_once), tiles are smaller, so that more multiprocessors
// have one, and all run at once.
COURSE_HD constexpr unsigned top_rows(bool at_once) {
  return at_once ? kLaneRows / 2 : kLaneRows;
}
COURSE_HD constexpr unsigned top_tile(bool at_once) {
  return kTopWarps * top_rows(at_once);
}

// What tiles publish: one entry for each row of a tile, each column, and its corner; the entries of a tile
// are neighbours.
template <typename Sum, bool kAtOnce>
struct Edges {
  static_assert(device::TileStatuses<Sum>::kWords == 1);
  static constexpr unsigned kWords = top_tile(kAtOnce) + kWideTile + 1;  // of a tile
  device::TileStatuses<Sum> left, above, corner;
  __host__ __device__ Edges(device::Word* d_words, std::uint64_t n_tiles)
      : left{d_words},
        above{left.d_words + n_tiles * top_tile(kAtOnce)},
        corner{above.d_words + n_tiles * kWideTile} {}
};

// The sum of the totals of the n_before predecessors of entry `index`; they are `stride` apart. Waits until
// one of the nearest kAskedAtOnce entries has its prefix, and all nearer ones at least their totals. Any
// thread may call it. The totals are added from the first tile on, whichever prefix is found, so float sums
// are the same in every run.
template <typename Sum>
__device__ Sum sum_before(const device::TileStatuses<Sum>& statuses, std::uint64_t index,
                          std::uint64_t stride, unsigned n_before) {
  if (n_before == 0) return Sum{0};
  while (true) {
    device::Entry<Sum> entry[kAskedAtOnce];
#pragma unroll
    for (unsigned k = 0; k < kAskedAtOnce; ++k)
      entry[k] = statuses.read(index - stride * (k < n_before ? k + 1 : n_before));
    unsigned nearest = kAskedAtOnce;  // the nearest entry whose prefix is available
#pragma unroll
    for (unsigned k = kAskedAtOnce; k-- > 0;) {
      if (entry[k].state == device::kPrefix) nearest = k;
    }
    bool known = nearest < kAskedAtOnce;
    Sum sum{0};
#pragma unroll
    for (unsigned k = kAskedAtOnce; k-- > 0;) {
      if (k > nearest) continue;
      known = known && entry[k].state != device::kEmpty;
      sum = k == nearest ? entry[k].value : wrapping_add(sum, entry[k].value);
    }
    if (known) return sum;
  }
}

// The same if all tiles run at once: then none waits for a prefix, and each publishes its totals alone, with
// the launch's tag.
template <typename Sum>
__device__ Sum sum_of_all(const device::TileStatuses<Sum>& statuses, std::uint64_t index,
                          std::uint64_t stride, unsigned n_before, unsigned tag) {
  constexpr unsigned kAsked = 16;
  Sum sum{0};
  for (unsigned first = 0; first < n_before; first += kAsked) {
    device::Entry<Sum> entry[kAsked];
    bool known = false;
    while (!known) {
      known = true;
#pragma unroll
      for (unsigned k = 0; k < kAsked; ++k) {
        entry[k] = {tag, Sum{0}};
        if (first + k < n_before) entry[k] = statuses.read(index - stride * (first + k + 1));
        known = known && entry[k].state == tag;
      }
    }
#pragma unroll
    for (unsigned k = 0; k < kAsked; ++k) sum = wrapping_add(sum, entry[k].value);
  }
  return sum;
}

// Clears the words of the edges. The next kernel starts at the same time; it waits for this one before it
// publishes.
__global__ void k07_clear(device::Word* d_words, std::uint64_t n) {
  device::let_next_kernel_start();
  const std::uint64_t first = std::uint64_t{blockIdx.x} * kTopBlock + threadIdx.x;
  for (std::uint64_t word = first; word < n; word += std::uint64_t{gridDim.x} * kTopBlock) d_words[word] = 0;
}

// Number of tiles that blocks of the running launch have taken. atomicInc sets it back to 0 with the last
// tile, so it is ready for the next launch. Two launches that use it must not overlap.
__device__ unsigned d_ticket;

// The words of tiles that all run at once; no launch clears them.
__device__ device::Word d_edges[kMaxAtOnce * Edges<float, true>::kWords];

template <bool kAtOnce, typename T, typename Sum>
__global__ void __launch_bounds__(kTopBlock, kAtOnce ? 1 : 2)
    k07_state_of_the_art(Rows<const T> in, Rows<Sum> table, std::uint64_t width, std::uint64_t height,
                         Edges<Sum, kAtOnce> edges) {
  constexpr unsigned kRows = top_rows(kAtOnce), kTileRows = top_tile(kAtOnce);
  __shared__ Sum s_right[kTileRows];  // each row's last entry in the table of its warp
  __shared__ Sum s_left[kTileRows];   // the sum left of each row
  __shared__ alignas(16)
      Sum s_columns[kTopWarps][kWideTile];  // each warp's last row, then the sums above its rows
  __shared__ Sum s_corner;
  __shared__ TilePosition s_place;
  __shared__ unsigned s_launch;
  const unsigned lane = threadIdx.x % kWarp;
  const unsigned warp = threadIdx.x / kWarp;
  const std::uint64_t tiles_x = parts_of(width, kWideTile);
  if constexpr (kAtOnce) edges = Edges<Sum, kAtOnce>(d_edges, gridDim.x);
  if (threadIdx.x == 0) {
    if constexpr (kAtOnce)
      s_launch = lab::load_relaxed(&device::d_launch);
    else
      s_place = diagonal_position(atomicInc(&d_ticket, gridDim.x - 1), tiles_x, parts_of(height, kTileRows));
  }
  if constexpr (!kAtOnce) __syncthreads();  // the tile's position is stored before other threads read it
  const TilePosition place = kAtOnce ? TilePosition{static_cast<unsigned>(blockIdx.x % tiles_x),
                                                    static_cast<unsigned>(blockIdx.x / tiles_x)}
                                     : s_place;
  // An image has at most 2^20 rows and columns, so 32 bits are enough, and leave more registers.
  const std::uint64_t tile = place.y * tiles_x + place.x;
  const unsigned first_row = place.y * kTileRows + warp * kRows;
  const unsigned first_column = place.x * kWideTile + lane * kLaneItems;
  const int there = static_cast<int>(width) - static_cast<int>(first_column);

  // Whether the tile is completely inside the image and its rows begin at aligned vectors. Then nothing else
  // is tested.
  const bool whole = (std::uint64_t{place.x} + 1) * kWideTile <= width &&
                     (std::uint64_t{place.y} + 1) * kTileRows <= height && width % kLaneItems == 0 &&
                     reinterpret_cast<std::uintptr_t>(in.d_first) % alignof(LanePack<T>) == 0 &&
                     reinterpret_cast<std::uintptr_t>(table.d_first) % sizeof(uint4) == 0;

  // Load: all rows of the warp are in flight before the first is used.
  Sum sums[kRows][kLaneItems];
#pragma unroll
  for (unsigned r = 0; r < kRows; ++r) {
    if (whole) {
      const LanePack<T> pack = load_pack<true>(in[first_row + r] + first_column);
#pragma unroll
      for (unsigned j = 0; j < kLaneItems; ++j) sums[r][j] = static_cast<Sum>(pack.item[j]);
    } else {
      const bool inside = first_row + r < height && there > 0;
      load_lane<true>(inside ? in[first_row + r] + first_column : in.d_first, inside ? there : 0, sums[r]);
    }
  }

  // Scan: the table of the warp's rows alone.
#pragma unroll
  for (unsigned r = 0; r < kRows; ++r) {
#pragma unroll
    for (unsigned j = 1; j < kLaneItems; ++j) sums[r][j] = wrapping_add(sums[r][j], sums[r][j - 1]);
    Sum before = __shfl_up_sync(kFullMask, warp_scan(sums[r][kLaneItems - 1]), 1);
    if (lane == 0) before = Sum{0};
#pragma unroll
    for (unsigned j = 0; j < kLaneItems; ++j) {
      sums[r][j] = wrapping_add(sums[r][j], before);
      if (r > 0) sums[r][j] = wrapping_add(sums[r][j], sums[r - 1][j]);
    }
    if (lane == kWarp - 1) s_right[warp * kRows + r] = sums[r][kLaneItems - 1];
  }
#pragma unroll
  for (unsigned j = 0; j < kLaneItems; ++j) s_columns[warp][lane * kLaneItems + j] = sums[kRows - 1][j];
  if constexpr (!kAtOnce) device::wait_for_previous_kernel();
  __syncthreads();  // the warps' edges, and the launch's number, are stored before others read them
  const unsigned total_state = kAtOnce ? device::tag_of(s_launch) : device::kTotal;

  // Look back: one thread per column, one thread per row, one for the corner.
  constexpr unsigned kColumnWarps = kWideTile / kWarp, kRowWarps = kTileRows / kWarp;
  static_assert(kColumnWarps + kRowWarps < kTopWarps, "a warp is left for the corner");
  if (warp < kColumnWarps) {
    const unsigned column = threadIdx.x;
    const std::uint64_t entry = tile * kWideTile + column;
    Sum total{0};
#pragma unroll
    for (unsigned w = 0; w < kTopWarps; ++w) total = wrapping_add(total, s_columns[w][column]);
    if (kAtOnce || place.y > 0) edges.above.publish(entry, total_state, total);
    Sum above{0};
    if constexpr (kAtOnce) {
      if (column == kWideTile - 1) edges.corner.publish(tile, total_state, total);
      above = sum_of_all(edges.above, entry, tiles_x * kWideTile, place.y, total_state);
    } else {
      above = sum_before(edges.above, entry, tiles_x * kWideTile, place.y);
      edges.above.publish(entry, device::kPrefix, wrapping_add(above, total));
      if (column == kWideTile - 1 && place.x > 0) edges.corner.publish(tile, device::kTotal, above);
    }
#pragma unroll
    for (unsigned w = 0; w < kTopWarps; ++w) {
      const Sum own = s_columns[w][column];
      s_columns[w][column] = above;
      above = wrapping_add(above, own);
    }
  } else if (warp < kColumnWarps + kRowWarps) {
    const unsigned row = threadIdx.x - kColumnWarps * kWarp;
    const std::uint64_t entry = tile * kTileRows + row;
    Sum total = s_right[row];
    for (unsigned w = 0; w < row / kRows; ++w) total = wrapping_add(total, s_right[w * kRows + kRows - 1]);
    if (kAtOnce || place.x > 0) edges.left.publish(entry, total_state, total);
    if constexpr (kAtOnce) {
      s_left[row] = sum_of_all(edges.left, entry, kTileRows, place.x, total_state);
    } else {
      const Sum left = sum_before(edges.left, entry, kTileRows, place.x);
      edges.left.publish(entry, device::kPrefix, wrapping_add(left, total));
      s_left[row] = left;
    }
  } else if (warp == kColumnWarps + kRowWarps) {
    if constexpr (kAtOnce) {
      // A corner's total is its whole tile's. Each lane adds up those of some rows of tiles.
      Sum corner{0};
      for (std::uint64_t y = lane; y < place.y; y += kWarp)
        corner =
            wrapping_add(corner, sum_of_all(edges.corner, y * tiles_x + place.x, 1, place.x, total_state));
      corner = warp_scan(corner);
      if (lane == kWarp - 1) s_corner = corner;
    } else if (lane == 0) {
      s_corner = sum_before(edges.corner, tile, 1, place.x);
    }
  }
  __syncthreads();  // the sums around the tile are stored before they are added
  const Sum corner = s_corner;
  if constexpr (kAtOnce) {
    // The last tile has the totals of all others, so they have read the launch's number.
    if (threadIdx.x == 0 && blockIdx.x + 1 == gridDim.x) lab::store_relaxed(&device::d_launch, s_launch + 1);
  } else if (threadIdx.x == 0) {
    edges.corner.publish(tile, device::kPrefix, wrapping_add(corner, s_columns[0][kWideTile - 1]));
  }

  Sum above[kLaneItems];
#pragma unroll
  for (unsigned j = 0; j < kLaneItems; ++j) above[j] = s_columns[warp][lane * kLaneItems + j];
#pragma unroll
  for (unsigned r = 0; r < kRows; ++r) {
    const Sum left = wrapping_add(s_left[warp * kRows + r], corner);
#pragma unroll
    for (unsigned j = 0; j < kLaneItems; ++j)
      sums[r][j] = wrapping_add(wrapping_add(sums[r][j], above[j]), left);
    Sum* const d_lane = table[first_row + r] + first_column;
    if (whole) {
      store_pack(d_lane, sums[r]);
    } else if (first_row + r < height && there > 0) {
      store_lane(d_lane, there, sums[r]);
    }
  }
}

template <typename T>
Status state_of_the_art(const TableJob<T>& job) {
  using Sum = typename TableJob<T>::Sum;
  if constexpr (sizeof(Sum) > 4) {
    return look_back(job);
  } else {
    if (job.width == 0 || job.height == 0) return Status::ok;
    const auto in = rows_from(job.corner, job.d_in, job.width, job.height);
    const auto table = rows_from(job.corner, job.d_out, job.width, job.height);
    const auto tiles = [&](unsigned rows) {
      return parts_of(job.width, kWideTile) * parts_of(job.height, rows);
    };
    const auto multiprocessors = static_cast<std::uint64_t>(job.multiprocessors), most = 2 * multiprocessors;
    if (const std::uint64_t n_tiles = tiles(top_tile(true));
        n_tiles <= kMaxAtOnce && n_tiles <= multiprocessors) {
      device::launch_together<0>(k07_state_of_the_art<true, T, Sum>, static_cast<unsigned>(n_tiles),
                                 kTopBlock, job.stream, in, table, job.width, job.height,
                                 Edges<Sum, true>(nullptr, 0));
      return Status::ok;
    }
    // At most 514 Sums per tile; d_scratch has 256 per tile of 32 x 32, and 512 more.
    auto* const d_words = reinterpret_cast<device::Word*>(job.d_scratch);
    const std::uint64_t n_tiles = tiles(top_tile(false)), n_words = n_tiles * Edges<Sum, false>::kWords,
                        wanted = parts_of(n_words, 2 * kTopBlock);
    k07_clear<<<static_cast<unsigned>(wanted < most ? wanted : most), kTopBlock, 0, job.stream>>>(d_words,
                                                                                                  n_words);
    device::launch_early(k07_state_of_the_art<false, T, Sum>, static_cast<unsigned>(n_tiles), kTopBlock, 0,
                         job.stream, in, table, job.width, job.height, Edges<Sum, false>(d_words, n_tiles));
    return Status::ok;
  }
}

//@end
// --- Given: which function implements which task.
template <typename T>
Status solve(Rung rung, const TableJob<T>& job) {
  switch (rung) {
    case Rung::serial: return serial(job);
    case Rung::rows_columns: return rows_columns(job);
    case Rung::transpose: return transpose(job);
    case Rung::single_pass: return single_pass(job);
    //@reference
    case Rung::fused: return fused(job);
    case Rung::look_back: return look_back(job);
    case Rung::state_of_the_art: return state_of_the_art(job);
    //@end
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
