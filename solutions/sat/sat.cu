// SPDX-License-Identifier: MIT
//@student // Summed area table: your file. Read labs/sat/lab.hpp first (Corner, TableJob, BoxJob), then handouts/06-sat.md.
//@student // Work from the top down: each task is one or two kernels and the host function that launches them. Grade one task with
//@student //   ./lab grade sat --task serial
//@student // Until you write it, a task answers "not implemented". Do not change the given lines at the end.
//@reference
// Summed area table: the whole ladder, from a thread per row to one pass over the image at the memory's speed, and the box
// filter that the table is for.
// Read from the top: each rung says what changed, why that should be faster, what it still wastes; predictions are for an image
// of 8192 x 8192 floats, which must move 0.54 GB: 0.13 ms at 4.2 TB/s.
// Lines that start with //@ steer the generator of the students' file (common/tools/make_skeleton.py).
// Invariant: every rung gives the same table (floats: up to rounding, and the same bits in every run) for any width, height and
// corner, and no rung writes its input.
// Source: F. Crow, "Summed-Area Tables for Texture Mapping" (1984) for the table and the four look-ups; J. Hensley et al., "Fast
// Summed-Area Table Generation and its Applications" (2005) for the applications; A. Kasagi, K. Nakano, Y. Ito, "Parallel
// Algorithms for the Summed Area Table on the Asynchronous Hierarchical Memory Machine" (2014) for passes over tiles; D. Merrill,
// M. Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back" (2016) for the last rung.
//@end
#include "sat/lab.hpp"
//@reference
#include "device/look_back.cuh"
//@end

namespace course::sat {

inline constexpr unsigned kBlock = 256;  // threads in a block
inline constexpr unsigned kWarp = 32;    // threads in a warp
inline constexpr unsigned kWarps = kBlock / kWarp;
inline constexpr unsigned kFullMask = ~0u;  // every lane of a warp takes part

// Parts of `part` that n items fall into.
COURSE_HD constexpr std::uint64_t parts_of(std::uint64_t n, std::uint64_t part) {
  return (n + part - 1) / part;
}

// An image as its rows come, counted away from the corner: rows[0] is the row at the corner, rows[0][c] its item in column c.
template <typename T>
struct Rows {
  T* d_first;          // the row at the corner
  std::int64_t pitch;  // items from a row to the next one away from the corner: may be negative
  COURSE_HD T* operator[](std::uint64_t row) const {
    return d_first + static_cast<std::int64_t>(row) * pitch;
  }
};

// The rows of an image in memory (row 0 on top, no gaps) as they come from `corner`. With it no kernel needs to know which corner
// it works from: along the rows both go from left to right, and row 0 is always the one where the rectangles start.
template <typename T>
Rows<T> rows_from(Corner corner, T* d_data, std::uint64_t width, std::uint64_t height) {
  //@solution From the top left the first row is d_data and the next one lies `width` items on. From the lower left the first one is
  //@hint the last in memory, and the way to the next one is negative. Mind height = 0.
  //@instead static_cast<void>(corner);
  //@instead static_cast<void>(height);
  //@instead return {d_data, static_cast<std::int64_t>(width)};
  const auto pitch = static_cast<std::int64_t>(width);
  if (corner == Corner::top_left || height == 0) return {d_data, pitch};
  return {d_data + (height - 1) * width, -pitch};
  //@end
}

// --- Rung 1, task "serial": every thread walks along a row of its own; then every thread walks along a column.
// 2 width * height - width - height additions, width + height - 2 steps.
//@reference
// Why: rows know nothing of each other, nor do columns: `height` threads, then `width` threads, no barrier, no shared memory.
// Wastes: lanes of the first kernel stand in 32 rows, width apart, so each of its requests touches 32 sectors and uses 4 bytes of
// each: 8 times the traffic. And a few thousand threads that wait for one load after the other are no load for a GPU: 4.3 ms.
//@end

// table's row = the inclusive scan of in's row. One thread per row.
template <typename T, typename Sum>
__global__ void k01_rows(Rows<const T> in, Rows<Sum> table, std::uint64_t width, std::uint64_t height) {
  //@solution Thread gid (in 64 bits) takes row gid, if there is one: keep the running sum in a register, as a Sum.
  const std::uint64_t row = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (row >= height) return;
  Sum sum{0};
  for (std::uint64_t c = 0; c < width; ++c) {
    sum = wrapping_add(sum, static_cast<Sum>(in[row][c]));
    table[row][c] = sum;
  }
  //@end
}

// Scans every column of the table, in place. One thread per column: neighbouring lanes read neighbouring addresses.
template <typename Sum>
__global__ void k01_columns(Rows<Sum> table, std::uint64_t width, std::uint64_t height) {
  //@solution Thread gid takes column gid: add up what it finds there, row by row, and leave the running sum.
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
  //@solution An empty image is done. Else launch k01_rows with parts_of(height, kBlock) blocks, then k01_columns with
  //@hint parts_of(width, kBlock), both on job.stream, with rows_from(job.corner, …) of d_in and of d_out.
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

// The inclusive scan of the 32 values of a warp, by shuffles. All 32 lanes must call it, every lane gets its own sum. 5 steps.
template <typename Sum>
__device__ Sum warp_scan(Sum value) {
  //@solution For offset 1, 2, 4, 8, 16: take the value of the lane `offset` below (__shfl_up_sync(kFullMask, value, offset)), and add
  //@hint it if there is such a lane.
  const unsigned lane = threadIdx.x % kWarp;
  for (unsigned offset = 1; offset < kWarp; offset *= 2) {
    const Sum below = __shfl_up_sync(kFullMask, value, offset);
    if (lane >= offset) value = wrapping_add(value, below);
  }
  //@end
  return value;
}

// The inclusive scan of one value per thread over the block, and in `total` the sum of all. Every thread must call it, each gets
// both. kWarps Sums of shared memory, three barriers: it may be called again at once. 9 steps.
template <typename Sum>
__device__ Sum block_scan(Sum value, Sum& total) {
  //@solution Each warp scans its own values; its last lane leaves the warp's sum in shared memory; barrier; warp 0 scans those sums
  //@hint (lanes beyond the number of warps bring 0); barrier; every thread adds the sum of the warps before its own. A barrier
  //@hint at the end lets the next call overwrite the shared sums.
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
  __syncthreads();  // these reads before the next call's writes
  return value;
  //@end
}

// --- Rung 2, task "rows_columns": a block scans a row, kBlock items at a time; columns as before, with more loads under way.
//@reference
// Changed: the lanes of a warp stand side by side in one row, and what a tile of the row adds up to is carried on to the next
// tile; a column's thread loads kAhead items before it adds the first. Why: 4 sectors a request instead of 32, `height` blocks
// instead of `height` threads: rows 8 to 10 times as fast, columns 3 times: 0.6 ms. Wastes: the table is written, read and
// written again (twice the bytes that must move); columns have `width` threads only, and each still takes `height` steps.
//@end

// As k01_rows, with a block per row.
template <typename T, typename Sum>
__global__ void k02_scan_rows(Rows<const T> in, Rows<Sum> table, std::uint64_t width, std::uint64_t height) {
  //@solution For the rows blockIdx.x, blockIdx.x + gridDim.x …: take kBlock items at a time, one per thread (0 past the row's end),
  //@hint block_scan them, add the sum of the items before, store what lies inside the row, and carry the total on. All
  //@hint threads of the block must go through every block_scan.
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

inline constexpr unsigned kColumnBlock = 64;  // threads: small blocks spread over more multiprocessors
inline constexpr unsigned kAhead = 16;        // items of a column that are loaded before the first is added

// As k01_columns, with kAhead loads under way.
template <typename Sum>
__global__ void k02_scan_columns(Rows<Sum> table, std::uint64_t width, std::uint64_t height) {
  //@solution Like k01_columns, but take kAhead rows at a time: first load them all into an array of registers (unrolled), then add and
  //@hint store one after the other. The rows that are left over come singly.
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

// Blocks of a grid that has one for each of n parts, as far as a grid goes.
constexpr unsigned grid_for(std::uint64_t n) {
  constexpr std::uint64_t kMost = 0x7fffffff;
  return static_cast<unsigned>(n < kMost ? n : kMost);
}

template <typename T>
Status rows_columns(const TableJob<T>& job) {
  //@solution As for serial, with a block per row (grid_for) and kColumnBlock threads for as many columns.
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

// --- Rung 3, task "transpose": columns become rows, are scanned as rows, and become columns again.
//@reference
// Changed: no column is ever walked; a transpose through tiles in shared memory stands on either side of the second scan. Why:
// the second scan has trees and `width` blocks, too: steps fall from height + log width to log height + log width. 0.6 ms as well:
// faster than rung 2 while width threads can't fill the device (up to 4096 or so), slower beyond, since the table crosses the
// memory seven times after its first row scan: 4 times the bytes that must move.
//@end

inline constexpr unsigned kTile = 32;                  // rows and columns of a tile
inline constexpr unsigned kTileRows = kBlock / kTile;  // rows of a tile that a block takes at once

// to[c][r] = from[r][c], for height rows of width sums. A block per tile; all loads and stores are coalesced, and no two lanes
// meet in a bank: a tile's row is one word longer than it needs to be.
template <typename Sum>
__global__ void k03_transpose(Rows<const Sum> from, Rows<Sum> to, std::uint64_t width, std::uint64_t height) {
  //@solution Tile number blockIdx.x stands in tile row blockIdx.x / tiles_across, tile column blockIdx.x % tiles_across. Lanes along a
  //@hint row of the tile, kTileRows rows at once: load into s_tile[row][lane]; barrier; store s_tile[lane][row] so that lanes run
  //@hint along a row of `to`. Guard both sides: the last tiles are cut off.
  __shared__ Sum s_tile[kTile][kTile + 1];
  const unsigned lane = threadIdx.x % kTile;
  const unsigned warp = threadIdx.x / kTile;
  const auto tiles_across = static_cast<unsigned>(parts_of(width, kTile));  // dividing 64 bits costs far more
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
  //@solution Four launches: k02_scan_rows from d_in to d_out, k03_transpose from d_out to d_scratch (`width` rows of `height` sums),
  //@hint k02_scan_rows of d_scratch in place, k03_transpose back. Only d_in and d_out know of corners.
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
// --- Rung 4: each scan writes its result transposed, so that two launches are left.
// Changed: a block takes a strip of 32 rows, tile by tile from left to right, scans the tile's rows by shuffles, carries what they
// add up to, and stores the tile's columns as rows. The second launch does the same with what the first one left, and so
// turns it back. Why: half of rung 3's traffic (2 times what must move) with the steps of its scans: 0.35 ms if the device
// were full. Wastes: it is not; an image has only height / 32 strips (256 here for 132 multiprocessors), each a chain of tiles
// that wait for each other's carry.
template <typename T, typename Sum>
__global__ void k04_scan_and_turn(Rows<const T> in, Rows<Sum> turned, std::uint64_t width,
                                  std::uint64_t height) {
  __shared__ Sum s_tile[kTile][kTile + 1];
  constexpr unsigned kRowsOfWarp = kTile / kWarps;
  const unsigned lane = threadIdx.x % kWarp;
  const unsigned warp = threadIdx.x / kWarp;
  const std::uint64_t first_row = std::uint64_t{blockIdx.x} * kTile;
  Sum carry[kRowsOfWarp] = {};  // for each of this warp's rows: the sum of the items before this tile

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
    __syncthreads();  // these reads before the next tile's writes
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
  k04_scan_and_turn<<<strips(job.height), kBlock, 0, job.stream>>>(in, Rows<Sum>{job.d_scratch, pitch},
                                                                   job.width, job.height);
  k04_scan_and_turn<<<strips(job.width), kBlock, 0, job.stream>>>(Rows<const Sum>{job.d_scratch, pitch},
                                                                  table, job.height, job.width);
  return Status::ok;
}

//@end
// --- Task "box": what the table is for. The sum of any box is four look-ups: take the rectangle that ends at its far corner, take
// away the one that ends before its rows and the one that ends before its columns, and give back what was taken away twice.
// 3 additions an item, 4 loads and 1 store, whatever the radius. A thread per item, a block per tile of 32 x 8 items.
//@reference
// Why tiles: the four look-ups of a warp lie in two rows of the table, and those of the block's next row 1 below, so the
// cache gives most of them a second time. Wastes: four loads where a walk along the row would need two new ones.
//@end
template <typename Sum>
__global__ void k05_box(Rows<const Sum> table, Rows<MeanOf<Sum>> means, Rows<const std::uint32_t> radii,
                        std::uint64_t radius, std::uint64_t width, std::uint64_t height) {
  //@solution Rows count from the corner, as in the table. The box's first row is row - radius, or 0 if that lies before the image; its
  //@hint last one row + radius, or height - 1; columns likewise; mind that radius may be nearly 2^32, and larger than the image.
  //@hint Look up (last row, last column), subtract (before the first row, last column) and (last row, before the first
  //@hint column), add (before both), each only if it exists, with wrapping_add and wrapping_subtract in Sum. Divide, as a
  //@hint MeanOf<Sum>, by the number of items inside. If radii.d_first is not nullptr, radii[row][column] is the radius.
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
  //@solution One launch, a block per tile of kTile columns and kTileRows rows. rows_from of a nullptr: keep the nullptr.
  //@instead return not_implemented(job);
  if (job.width == 0 || job.height == 0) return Status::ok;
  const auto table = rows_from(job.corner, job.d_table, job.width, job.height);
  const auto means = rows_from(job.corner, job.d_out, job.width, job.height);
  Rows<const std::uint32_t> radii{nullptr, 0};
  if (job.d_radii != nullptr) radii = rows_from(job.corner, job.d_radii, job.width, job.height);
  const auto n_tiles = static_cast<unsigned>(parts_of(job.width, kTile) * parts_of(job.height, kTileRows));
  k05_box<<<n_tiles, kBlock, 0, job.stream>>>(table, means, radii, job.radius, job.width, job.height);
  return Status::ok;
  //@end
}

// --- Given, for a single pass: in which order tiles are taken, and how one hands a carry to the next.

// A tile's place among the tiles of an image.
struct Place {
  unsigned x, y;
};

// The place of the tile that comes t-th when tiles are taken along the diagonals, from the corner on: (0, 0), then (1, 0) and
// (0, 1), then the three of the next diagonal … Every tile comes after the one at its left and the one before it in its
// column, and those of a diagonal need not wait for each other.
__device__ Place diagonal_place(std::uint64_t t, std::uint64_t tiles_x, std::uint64_t tiles_y) {
  const std::uint64_t shorter = tiles_x < tiles_y ? tiles_x : tiles_y;
  const std::uint64_t longer = tiles_x < tiles_y ? tiles_y : tiles_x;
  const std::uint64_t growing = shorter * (shorter - 1) / 2;  // tiles on diagonals shorter than `shorter`
  const std::uint64_t n_tiles = tiles_x * tiles_y;

  // The number of the diagonal among those that grow (1 tile, 2 tiles …), and the place t on it.
  const auto in_triangle = [](std::uint64_t& place) {
    auto diagonal = static_cast<std::uint64_t>((sqrt(8.0 * static_cast<double>(place) + 1) - 1) / 2);
    while (diagonal * (diagonal + 1) / 2 > place) --diagonal;
    while ((diagonal + 1) * (diagonal + 2) / 2 <= place) ++diagonal;
    place -= diagonal * (diagonal + 1) / 2;
    return diagonal;
  };
  std::uint64_t diagonal, along;  // along: counted from the end of the diagonal where y is smallest
  if (t < growing) {
    along = t;
    diagonal = in_triangle(along);
  } else if (t < growing + shorter * (longer - shorter + 1)) {
    diagonal = shorter - 1 + (t - growing) / shorter;
    along = (t - growing) % shorter;
  } else {
    // The shrinking end is the growing one, seen from the last tile.
    along = n_tiles - 1 - t;
    const std::uint64_t from_last = in_triangle(along);
    diagonal = tiles_x + tiles_y - 2 - from_last;
    along = from_last - along;
  }
  const std::uint64_t least_y = diagonal < tiles_x ? 0 : diagonal - (tiles_x - 1);
  const std::uint64_t y = least_y + along;
  return {static_cast<unsigned>(diagonal - y), static_cast<unsigned>(y)};
}

// Says to the device that what the lanes of this warp wrote is there: sets *d_state. All 32 lanes must call it.
__device__ void publish(std::uint32_t* d_state, std::uint32_t state) {
  __syncwarp();  // the lanes' writes before lane 0's fence
  if (threadIdx.x % kWarp == 0) {
    __threadfence();  // … and visible to the device before the state says so
    *static_cast<volatile std::uint32_t*>(d_state) = state;
  }
}

// Waits until somebody has set *d_state; afterwards this lane sees what was written before that.
__device__ void wait_for(const std::uint32_t* d_state) {
  while (*static_cast<const volatile std::uint32_t*>(d_state) == 0) {
  }
  __threadfence();  // what was published is read after its state
}

__global__ void k06_clear(std::uint32_t* d_flags, std::uint64_t n) {
  const std::uint64_t gid = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (gid < n) d_flags[gid] = 0;
}

// --- Rung 5, task "single_pass" (bonus): one block per tile of 64 x 64, and each tile adds what its neighbours hand on.
// A tile takes the sums of its rows so far from the tile at its left, and the table's entries above it from the tile before it
// in its column; it hands on the same to the right and below. A block takes its tile by drawing a ticket, so that whatever it
// waits for has been started before it.
//@reference
// Changed: rows and columns of a tile are scanned while it is in shared memory; 64 sums to the right and 64 below are all that
// crosses tiles. Why: the image is read once, the table written once: half of rung 2's traffic. Diagonals keep the chain short:
// tiles_x + tiles_y - 1 hand-overs, not tiles_x * tiles_y. 0.5 ms: it waits for 255 hand-overs of about 2 µs, not for the
// memory. Wastes: just that; and lanes that load 4 bytes each.
//@end
inline constexpr unsigned kSide = 64;               // rows and columns of such a tile
inline constexpr unsigned kHalves = kSide / kWarp;  // warps that hand on an edge together, 32 sums each
inline constexpr unsigned kStates = 2 * kHalves;    // words per tile that say which of its sums are there

template <typename T, typename Sum>
__global__ void k06_single_pass(Rows<const T> in, Rows<Sum> table, std::uint64_t width, std::uint64_t height,
                                Sum* d_right, Sum* d_below, std::uint32_t* d_ticket,
                                std::uint32_t* d_states) {
  //@solution Draw a ticket, tell the block through shared memory, diagonal_place. Scan the tile's rows with warp_scan into s_tile (0
  //@hint outside the image; one column of padding), 32 items and then 32 more. Warps 0 and 1, a row per lane: wait for the
  //@hint left tile's right edge (if there is such a tile), keep it in s_left, hand on left + own row sums. Scan the columns
  //@hint (lane = row), s_left added to each item. Warps 0 and 1, a column per lane: likewise with the tile above, whose lower
  //@hint edge goes to s_above. Store s_tile + s_above. Name the hazard of each barrier. Use publish and wait_for.
  __shared__ Sum s_tile[kSide][kSide + 1];
  __shared__ Sum s_left[kSide];   // for each row: the sum of its items left of the tile
  __shared__ Sum s_above[kSide];  // for each column: the table's entry just above the tile
  __shared__ std::uint32_t s_ticket;
  const unsigned tid = threadIdx.x;
  const unsigned lane = tid % kWarp;
  const unsigned warp = tid / kWarp;
  if (tid == 0) s_ticket = atomicAdd(d_ticket, 1u);
  __syncthreads();  // the ticket is drawn before anybody reads it
  const std::uint64_t tiles_x = parts_of(width, kSide);
  const Place place = diagonal_place(s_ticket, tiles_x, parts_of(height, kSide));
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
  __syncthreads();  // the rows are scanned before their sums are handed on
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
  __syncthreads();  // s_left is stored before the columns take it; the row sums are read before they change
  for (unsigned c = warp; c < kSide; c += kWarps) {
    Sum carry{0};
    for (unsigned r = lane; r < kSide; r += kWarp) {
      const Sum item = wrapping_add(s_tile[r][c], s_left[r]);
      s_tile[r][c] = wrapping_add(carry, warp_scan(item));
      carry = __shfl_sync(kFullMask, s_tile[r][c], kWarp - 1);
    }
  }
  __syncthreads();  // the columns are scanned before their sums are handed on
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
  __syncthreads();  // s_above is stored before the rows take it
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
  //@solution Two launches: k06_clear sets the ticket and kStates words per tile to 0, k06_single_pass has a block per tile. d_flags
  //@hint starts with the ticket; d_scratch holds kSide sums per tile for the right edges, then as many for the lower ones.
  //@instead return not_implemented(job);
  if (job.width == 0 || job.height == 0) return Status::ok;
  const auto in = rows_from(job.corner, job.d_in, job.width, job.height);
  const auto table = rows_from(job.corner, job.d_out, job.width, job.height);
  const std::uint64_t n_tiles = parts_of(job.width, kSide) * parts_of(job.height, kSide);
  const std::uint64_t n_flags = 1 + kStates * n_tiles;
  k06_clear<<<static_cast<unsigned>(parts_of(n_flags, kBlock)), kBlock, 0, job.stream>>>(job.d_flags,
                                                                                         n_flags);
  k06_single_pass<<<static_cast<unsigned>(n_tiles), kBlock, 0, job.stream>>>(
      in, table, job.width, job.height, job.d_scratch, job.d_scratch + n_tiles * kSide, job.d_flags,
      job.d_flags + 1);
  return Status::ok;
  //@end
}

//@reference
// --- Rung 6: tiles in registers, and look-back.
// Changed: tiles of 128 x 64 that live in registers (a lane has 4 neighbouring columns of 8 rows: one 16-byte load each, all 8 under
// way at once); rows are scanned by 5 shuffles for 4 items, columns by plain additions in the lane; shared memory holds only the
// sums of rows and of each warp's columns. And look-back: a tile first hands on what it adds by itself (its aggregate), so
// that its neighbour need not wait for the neighbour's neighbour: it walks back over aggregates to the nearest finished sum.
// Why: 32 KB in flight a block, 3 blocks a multiprocessor; 191 diagonals instead of 255, and none waits for a chain:
// 0.16 ms, 80 % of what a copy reaches. Wastes: 5 % of the bytes for edges; a launch that sets flags to 0.
inline constexpr unsigned kLaneItems = 4;                  // neighbouring columns of a lane
inline constexpr unsigned kLaneRows = 8;                   // rows of a lane, and of its warp
inline constexpr unsigned kWideTile = kWarp * kLaneItems;  // columns of a tile
inline constexpr unsigned kTallTile = kWarps * kLaneRows;  // rows of a tile
// A strand: 32 carries that one warp hands on together.
inline constexpr unsigned kRowStrands = kTallTile / kWarp;
inline constexpr unsigned kColumnStrands = kWideTile / kWarp;
inline constexpr unsigned kStrands = kRowStrands + kColumnStrands;

// What a strand of a tile has handed on so far.
enum StrandState : std::uint32_t { kNothing, kAggregate, kInclusive };

// The neighbouring items of a lane: one load or store of up to 16 bytes, where the address allows it.
template <typename T>
struct alignas(sizeof(T) * kLaneItems < 16 ? sizeof(T) * kLaneItems : 16) LanePack {
  T item[kLaneItems];
};
// A pack from an address that allows it. kOnce: marked as first to leave the cache, since nobody reads it again (__ldcs).
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
// d points to `there` items that exist (0 … kLaneItems or more); places beyond them count as 0.
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
// In global memory; nobody reads the table again soon, so it need not stay in the cache (__stcs). The intrinsic also keeps the wide
// store in one piece: nvcc tears that of a struct apart when the other branch stores the same places one by one.
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

// Strands in memory: for each a state, 32 aggregates and 32 inclusive sums. Those that come after each other, along a row of tiles
// or down a column, lie side by side, so that one load sees the states of 32 of them.
template <typename Sum>
struct Strands {
  std::uint32_t* d_states;
  Sum* d_aggregates;
  Sum* d_inclusives;
};

// Hands on strand `self` of this tile and gives each lane what comes before it: the sum of the `total`s of its n_before
// predecessors self - 1, self - 2 … All 32 lanes of one warp must call it. Totals are added from the first tile on, whatever is
// found ready, so floats come out the same in every run.
template <typename Sum>
__device__ Sum look_back(const Strands<Sum>& strands, std::uint64_t self, unsigned n_before, Sum total) {
  const unsigned lane = threadIdx.x % kWarp;
  Sum before{0};
  if (n_before > 0) {
    strands.d_aggregates[self * kWarp + lane] = total;
    publish(&strands.d_states[self], kAggregate);
    // Lane k watches the strand k + 1 tiles back. Ready: one of them is inclusive and all nearer ones are aggregates at least.
    // It comes to that, since the first tiles in the order of tickets wait for nobody.
    unsigned nearest;
    while (true) {
      const volatile std::uint32_t* d_state = &strands.d_states[lane < n_before ? self - (lane + 1) : self];
      const std::uint32_t state = lane < n_before ? *d_state : kNothing;
      const unsigned nothing = __ballot_sync(kFullMask, state == kNothing);
      const unsigned inclusive = __ballot_sync(kFullMask, state == kInclusive);
      nearest = inclusive == 0 ? kWarp : static_cast<unsigned>(__ffs(static_cast<int>(inclusive))) - 1;
      if (nearest < kWarp && (nothing & ((1u << nearest) - 1)) == 0) break;
    }
    __threadfence();  // what was published is read after its state …
    __syncwarp();     // … by every lane, whichever lane saw the state
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
    k07_look_back(Rows<const T> in, Rows<Sum> table, std::uint64_t width, std::uint64_t height,
                  Strands<Sum> strands, std::uint32_t* d_ticket) {
  __shared__ Sum s_rows[kTallTile];  // the tile's row sums, then the sums left of the tile
  __shared__ alignas(16)
      Sum s_columns[kWarps][kWideTile];  // each warp's column sums, then what stands above its rows
  __shared__ std::uint32_t s_ticket;
  const unsigned lane = threadIdx.x % kWarp;
  const unsigned warp = threadIdx.x / kWarp;
  if (threadIdx.x == 0) s_ticket = atomicAdd(d_ticket, 1u);
  __syncthreads();  // the ticket is drawn before anybody reads it
  const std::uint64_t tiles_x = parts_of(width, kWideTile);
  const std::uint64_t tiles_y = parts_of(height, kTallTile);
  const Place place = diagonal_place(s_ticket, tiles_x, tiles_y);
  const std::uint64_t first_row = std::uint64_t{place.y} * kTallTile + warp * kLaneRows;
  const std::uint64_t first_column = std::uint64_t{place.x} * kWideTile + lane * kLaneItems;
  const std::int64_t there = static_cast<std::int64_t>(width) - static_cast<std::int64_t>(first_column);

  // Load: every row of the warp is under way before the first is used.
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
  __syncthreads();  // the row sums are stored before they are handed on
  if (warp < kRowStrands) {
    const std::uint64_t strand = (warp * tiles_y + place.y) * tiles_x + place.x;
    s_rows[threadIdx.x] = look_back(strands, strand, place.x, s_rows[threadIdx.x]);
  }
  __syncthreads();  // what stands left of the tile is there before the rows take it

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
  __syncthreads();  // the warps' column sums are stored before they are added up
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
  __syncthreads();  // what stands above each warp's rows is there before they take it

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
  k06_clear<<<static_cast<unsigned>(parts_of(n_strands + 1, kBlock)), kBlock, 0, job.stream>>>(job.d_flags,
                                                                                               n_strands + 1);
  k07_look_back<<<static_cast<unsigned>(n_tiles), kBlock, 0, job.stream>>>(in, table, job.width, job.height,
                                                                           strands, job.d_flags);
  return Status::ok;
}

// --- Rung 7: as fast as the memory is.
// Changed: rows and columns no longer wait for each other. With L the table of the tile alone, an entry is
//   table(r, c) = L(r, c) + left(r) + above(c) + corner
//   left(r)   the sum of L(r, last column) over the tiles at the left,
//   above(c)  the sum of L(last row, c) over the tiles above,
//   corner    the sum of `above` in the last column over the tiles at the left: everything above and left of the tile.
// All three are sums of what tiles know by themselves, so three groups of warps look back at once, right after the tile has been
// scanned. And a sum travels with its state in one word (device/look_back.cuh): no fence, and one trip to the L2 cache instead
// of two; each thread asks the nearest few tiles at once. Tiles of 128 x 128 and 64 registers: 128 KB a multiprocessor on their way.
// Why: rung 6 has 96 KB on their way for 10 µs each, of which 5 are two look-backs of two trips each, one after the other.
// Expect 7 µs, so the memory's limit: 0.15 ms. Measured on an H200 (copy: 0.146 ms): 77 % of the copy's rate for 8192 x 8192, 79 % for
// 16384 x 16384 (rung 6: 69 %). The miss: a bare frame for aligned images that are whole tiles takes 0.163 ms, 89 % and 90 %. Each
// row asked about alignment and borders at first (76 and 77 %); a whole tile asks once now, so that is not what costs the rest, and
// what does is not known yet. What counted most in the frame was the hint that items are read once (__ldcs): 0.208 ms without it in tiles of 128 x 64 (0.171 ms with it); lines that wait for being written are not
// pushed out of the cache then by lines that nobody needs again. No better: row by row instead of diagonals (0.22 ms), 8 tiles
// at once (0.17 ms: registers). Sums of 8 bytes take twice the registers, so one block a multiprocessor, and f64 8192 x 8192
// 0.540 ms; rung 6 is faster there, 0.418 ms, 68 % of the copy's rate, and takes them.
// Wastes: 3 % of the bytes, since edges are published twice in words of twice their size, and have to be set to 0.
inline constexpr unsigned kTopWarps = 16;
inline constexpr unsigned kTopBlock = kTopWarps * kWarp;
inline constexpr unsigned kTopRows = kLaneRows;             // of a lane
inline constexpr unsigned kTopTile = kTopWarps * kTopRows;  // rows of a tile
inline constexpr unsigned kAskedAtOnce = 4;                 // entries that a thread reads at once

// What tiles tell: one entry for each row of a tile, each column, and its corner; those of a tile side by side.
template <typename Sum>
struct Edges {
  device::Ledger<Sum> left, above, corner;
  static constexpr std::uint64_t words(std::uint64_t n_tiles) {
    return device::Ledger<Sum>::words(n_tiles * (kTopTile + kWideTile + 1));
  }
  Edges(device::Word* d_words, std::uint64_t n_tiles)
      : left{d_words},
        above{left.d_words + device::Ledger<Sum>::words(n_tiles * kTopTile)},
        corner{above.d_words + device::Ledger<Sum>::words(n_tiles * kWideTile)} {}
};

// The sum of what the n_before predecessors of entry `index` have by themselves; they lie `stride` apart. Waits until one of the
// nearest kAskedAtOnce knows its prefix, and all that are nearer their totals. Any thread may call it. Summed up from the first tile on,
// whichever prefix is found, so floats come out the same in every run.
template <typename Sum>
__device__ Sum sum_before(const device::Ledger<Sum>& ledger, std::uint64_t index, std::uint64_t stride,
                          unsigned n_before) {
  if (n_before == 0) return Sum{0};
  while (true) {
    device::Entry<Sum> entry[kAskedAtOnce];
#pragma unroll
    for (unsigned k = 0; k < kAskedAtOnce; ++k)
      entry[k] = ledger.read(index - stride * (k < n_before ? k + 1 : n_before));
    unsigned nearest = kAskedAtOnce;  // that knows its prefix
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

template <typename T, typename Sum>
__global__ void __launch_bounds__(kTopBlock, 2)
    k08_state_of_the_art(Rows<const T> in, Rows<Sum> table, std::uint64_t width, std::uint64_t height,
                         Edges<Sum> edges, std::uint32_t* d_ticket) {
  __shared__ Sum s_right[kTopTile];  // each row's last entry in the table of its warp
  __shared__ Sum s_left[kTopTile];   // what stands left of each row
  __shared__ alignas(16)
      Sum s_columns[kTopWarps][kWideTile];  // each warp's last row, then what stands above its rows
  __shared__ Sum s_corner;
  __shared__ Place s_place;
  const unsigned lane = threadIdx.x % kWarp;
  const unsigned warp = threadIdx.x / kWarp;
  const std::uint64_t tiles_x = parts_of(width, kWideTile);
  if (threadIdx.x == 0)
    s_place = diagonal_place(atomicAdd(d_ticket, 1u), tiles_x, parts_of(height, kTopTile));
  __syncthreads();  // the tile's place is known to all
  const Place place = s_place;
  const std::uint64_t tile = place.y * tiles_x + place.x;
  const std::uint64_t first_row = std::uint64_t{place.y} * kTopTile + warp * kTopRows;
  const std::uint64_t first_column = std::uint64_t{place.x} * kWideTile + lane * kLaneItems;
  const std::int64_t there = static_cast<std::int64_t>(width) - static_cast<std::int64_t>(first_column);

  // Whether the tile is all inside and its rows begin at whole packs: then nobody asks again.
  const bool whole = (std::uint64_t{place.x} + 1) * kWideTile <= width &&
                     (std::uint64_t{place.y} + 1) * kTopTile <= height && width % kLaneItems == 0 &&
                     reinterpret_cast<std::uintptr_t>(in.d_first) % alignof(LanePack<T>) == 0 &&
                     reinterpret_cast<std::uintptr_t>(table.d_first) % sizeof(uint4) == 0;

  // Load: every row of the warp is under way before the first is used.
  Sum sums[kTopRows][kLaneItems];
#pragma unroll
  for (unsigned r = 0; r < kTopRows; ++r) {
    if (whole) {
      const LanePack<T> pack = load_pack<true>(in[first_row + r] + first_column);
#pragma unroll
      for (unsigned j = 0; j < kLaneItems; ++j) sums[r][j] = static_cast<Sum>(pack.item[j]);
    } else {
      const bool inside = first_row + r < height && there > 0;
      load_lane<true>(inside ? in[first_row + r] + first_column : in.d_first, inside ? there : 0, sums[r]);
    }
  }

  // Scan: the table of the warp's rows by themselves.
#pragma unroll
  for (unsigned r = 0; r < kTopRows; ++r) {
#pragma unroll
    for (unsigned j = 1; j < kLaneItems; ++j) sums[r][j] = wrapping_add(sums[r][j], sums[r][j - 1]);
    Sum before = __shfl_up_sync(kFullMask, warp_scan(sums[r][kLaneItems - 1]), 1);
    if (lane == 0) before = Sum{0};
#pragma unroll
    for (unsigned j = 0; j < kLaneItems; ++j) {
      sums[r][j] = wrapping_add(sums[r][j], before);
      if (r > 0) sums[r][j] = wrapping_add(sums[r][j], sums[r - 1][j]);
    }
    if (lane == kWarp - 1) s_right[warp * kTopRows + r] = sums[r][kLaneItems - 1];
  }
#pragma unroll
  for (unsigned j = 0; j < kLaneItems; ++j) s_columns[warp][lane * kLaneItems + j] = sums[kTopRows - 1][j];
  __syncthreads();  // the warps' edges are stored before they are put together

  // Look back: a thread per column, a thread per row, one for the corner.
  constexpr unsigned kColumnWarps = kWideTile / kWarp, kRowWarps = kTopTile / kWarp;
  static_assert(kColumnWarps + kRowWarps < kTopWarps, "a warp is left for the corner");
  if (warp < kColumnWarps) {
    const unsigned column = threadIdx.x;
    const std::uint64_t entry = tile * kWideTile + column;
    Sum total{0};
#pragma unroll
    for (unsigned w = 0; w < kTopWarps; ++w) total = wrapping_add(total, s_columns[w][column]);
    if (place.y > 0) edges.above.publish(entry, device::kTotal, total);
    Sum above = sum_before(edges.above, entry, tiles_x * kWideTile, place.y);
    edges.above.publish(entry, device::kPrefix, wrapping_add(above, total));
    if (column == kWideTile - 1 && place.x > 0) edges.corner.publish(tile, device::kTotal, above);
#pragma unroll
    for (unsigned w = 0; w < kTopWarps; ++w) {
      const Sum own = s_columns[w][column];
      s_columns[w][column] = above;
      above = wrapping_add(above, own);
    }
  } else if (warp < kColumnWarps + kRowWarps) {
    const unsigned row = threadIdx.x - kColumnWarps * kWarp;
    const std::uint64_t entry = tile * kTopTile + row;
    Sum total = s_right[row];
    for (unsigned w = 0; w < row / kTopRows; ++w)
      total = wrapping_add(total, s_right[w * kTopRows + kTopRows - 1]);
    if (place.x > 0) edges.left.publish(entry, device::kTotal, total);
    const Sum left = sum_before(edges.left, entry, kTopTile, place.x);
    edges.left.publish(entry, device::kPrefix, wrapping_add(left, total));
    s_left[row] = left;
  } else if (threadIdx.x == (kColumnWarps + kRowWarps) * kWarp) {
    s_corner = sum_before(edges.corner, tile, 1, place.x);
  }
  __syncthreads();  // what stands around the tile is known before it is added
  const Sum corner = s_corner;
  if (threadIdx.x == 0)
    edges.corner.publish(tile, device::kPrefix, wrapping_add(corner, s_columns[0][kWideTile - 1]));

  Sum above[kLaneItems];
#pragma unroll
  for (unsigned j = 0; j < kLaneItems; ++j) above[j] = s_columns[warp][lane * kLaneItems + j];
#pragma unroll
  for (unsigned r = 0; r < kTopRows; ++r) {
    const Sum left = wrapping_add(s_left[warp * kTopRows + r], corner);
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
    const std::uint64_t n_tiles = parts_of(job.width, kWideTile) * parts_of(job.height, kTopTile);
    // The ticket, then the edges: 514 Sums a tile at most. There are 256 for each tile of 32 x 32, and 512 more.
    auto* const d_words = reinterpret_cast<device::Word*>(job.d_scratch);
    const std::uint64_t n_words = 1 + Edges<Sum>::words(n_tiles);
    cudaMemsetAsync(d_words, 0, n_words * sizeof(device::Word), job.stream);
    k08_state_of_the_art<<<static_cast<unsigned>(n_tiles), kTopBlock, 0, job.stream>>>(
        in, table, job.width, job.height, Edges<Sum>(d_words + 1, n_tiles),
        reinterpret_cast<std::uint32_t*>(d_words));
    return Status::ok;
  }
}

//@end
// --- Given: which function answers which task.
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
