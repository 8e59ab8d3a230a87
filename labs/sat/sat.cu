// SPDX-License-Identifier: MIT
// Summed area table: your file. Read labs/sat/lab.hpp (Corner, TableJob, BoxJob), then
// handouts/06-sat.md.
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

// Number of parts of `part` items that n items fill; the last one may be partly empty.
COURSE_HD constexpr std::uint64_t parts_of(std::uint64_t n, std::uint64_t part) {
  return (n + part - 1) / part;
}

// The rows of an image, counted from the corner: rows[0] is the row at the corner, rows[0][c] its item in
// column c.
template <typename T>
struct Rows {
  T* d_first;          // the row at the corner
  std::int64_t pitch;  // items from a row to the next one: negative from the lower left
  COURSE_HD T* operator[](std::uint64_t row) const {
    return d_first + static_cast<std::int64_t>(row) * pitch;
  }
};

// The rows of an image in memory (row 0 on top, no gaps), counted from `corner`. With them, a kernel does not
// need to know the corner: in both cases rows go from left to right, and the rectangles start in row 0.
template <typename T>
Rows<T> rows_from(Corner corner, T* d_data, std::uint64_t width, std::uint64_t height) {
  // TODO(student): From the top left, the first row is d_data, and the next one is `width` items later. From
  // the lower left, the first row is the last one in memory, and the pitch is negative. Consider height = 0.
  // (roughly 3 lines)
  static_cast<void>(corner);
  static_cast<void>(height);
  return {d_data, static_cast<std::int64_t>(width)};
}

// --- Rung 1, task "serial": each thread scans a row by itself; then each thread scans a column.
// It does 2 width * height - width - height additions in width + height - 2 steps.

// Each row of the table becomes the inclusive scan of the image's row. One thread per row.
template <typename T, typename Sum>
__global__ void k01_rows(Rows<const T> in, Rows<Sum> table, std::uint64_t width, std::uint64_t height) {
  // TODO(student): Thread gid (in 64 bits) takes row gid, if it exists. Keep the running sum in a register,
  // as a Sum. Convert each item to Sum before you add it: wrapping_add needs two operands of the same type.
  // (roughly 7 lines)
}

// Scans every column of the table, in place. One thread per column: neighbouring lanes read neighbouring
// addresses.
template <typename Sum>
__global__ void k01_columns(Rows<Sum> table, std::uint64_t width, std::uint64_t height) {
  // TODO(student): Thread gid takes column gid. It adds up the entries, row by row, and replaces each of them
  // by the running sum. (roughly 7 lines)
}

template <typename T>
Status serial(const TableJob<T>& job) {
  // TODO(student): If the image is empty, there is nothing to do. Otherwise launch k01_rows with
  // parts_of(height, kBlock) blocks, then k01_columns with parts_of(width, kBlock), both on job.stream, with
  // rows_from(job.corner, …) of d_in and of d_out. (roughly 8 lines)
  return not_implemented(job);
}

// Inclusive scan of the 32 values of a warp, with shuffles, in 5 steps. All 32 lanes must call it; every lane
// gets its own sum.
template <typename Sum>
__device__ Sum warp_scan(Sum value) {
  // TODO(student): For offset 1, 2, 4, 8, 16, read the value of the lane `offset` below
  // (__shfl_up_sync(kFullMask, value, offset)), and add it if there is such a lane. (roughly 5 lines)
  return value;
}

// Inclusive scan of one value per thread over the block; `total` is the sum of all values. Every thread must
// call it and gets both results. It uses kWarps Sums of shared memory, three barriers and 9 steps. No other
// barrier is needed between two calls.
template <typename Sum>
__device__ Sum block_scan(Sum value, Sum& total) {
  // TODO(student): Each warp scans its own values, and its last lane stores the warp's sum in shared memory.
  // After a barrier, warp 0 scans those sums (lanes past the number of warps use 0). After another barrier,
  // every thread adds the sum of the warps before its own. A third barrier at the end allows the next call to
  // overwrite the shared sums. (roughly 15 lines)
  total = value;
  return value;
}

// --- Rung 2, task "rows_columns": a block scans a row, kBlock items at a time; columns as before, but with
// more loads in flight.

// Like k01_rows, but with one block per row.
template <typename T, typename Sum>
__global__ void k02_scan_rows(Rows<const T> in, Rows<Sum> table, std::uint64_t width, std::uint64_t height) {
  // TODO(student): A block handles the rows blockIdx.x, blockIdx.x + gridDim.x … Take kBlock items at a time,
  // one per thread (0 past the end of the row). Call block_scan, add the sum of the items before, store the
  // results inside the row, and carry the total to the next items. All threads of the block must call every
  // block_scan. (roughly 10 lines)
}

inline constexpr unsigned kColumnBlock = 64;  // threads: with small blocks, more multiprocessors take part
inline constexpr unsigned kAhead = 16;        // items of a column that are loaded before the first is added

// Like k01_columns, but with kAhead loads in flight.
template <typename Sum>
__global__ void k02_scan_columns(Rows<Sum> table, std::uint64_t width, std::uint64_t height) {
  // TODO(student): Do the same as in k01_columns, but take kAhead rows at a time. First load them all into an
  // array of registers (unrolled), then add and store one after the other. Handle the remaining rows one at a
  // time. (roughly 20 lines)
}

// Number of blocks of a grid with one block for each of n parts, up to the largest possible grid.
constexpr unsigned grid_for(std::uint64_t n) {
  constexpr std::uint64_t kMost = 0x7fffffff;
  return static_cast<unsigned>(n < kMost ? n : kMost);
}

template <typename T>
Status rows_columns(const TableJob<T>& job) {
  // TODO(student): Do the same as for serial, but use one block per row (grid_for) for the rows, and
  // kColumnBlock threads for kColumnBlock columns. (roughly 7 lines)
  return not_implemented(job);
}

// --- Rung 3, task "transpose": columns become rows, are scanned as rows, and become columns again.

inline constexpr unsigned kTile = 32;                  // rows and columns of a tile
inline constexpr unsigned kTileRows = kBlock / kTile;  // rows of a tile that a block handles at once

// to[c][r] = from[r][c], for `height` rows of `width` sums. One block per tile. All loads and stores are
// coalesced, and there are no bank conflicts, because a row of the tile is one word longer than necessary.
template <typename Sum>
__global__ void k03_transpose(Rows<const Sum> from, Rows<Sum> to, std::uint64_t width, std::uint64_t height) {
  // TODO(student): Tile number blockIdx.x is in tile row blockIdx.x / tiles_across and tile column blockIdx.x
  // % tiles_across. The lanes are along a row of the tile, with kTileRows rows at once. Load the tile into
  // s_tile[row][lane]. After a barrier, store s_tile[lane][row] so that the lanes are along a row of `to`.
  // Check both bounds, because the last tiles are incomplete. (roughly 15 lines)
}

template <typename T>
Status transpose(const TableJob<T>& job) {
  // TODO(student): There are four launches: k02_scan_rows from d_in to d_out, k03_transpose from d_out to
  // d_scratch (`width` rows of `height` sums), k02_scan_rows of d_scratch in place, and k03_transpose back.
  // Only d_in and d_out depend on the corner. (roughly 15 lines)
  return not_implemented(job);
}

// --- Task "box": the box filter uses the table. The sum of any box takes four look-ups: the rectangle that
// ends at the box's far corner, minus the one that ends before its rows, minus the one that ends before its
// columns, plus the part that was subtracted twice.
// 3 additions, 4 loads and 1 store per item, for any radius. One thread per item, one block per tile of 32 x
// 8 items.
template <typename Sum>
__global__ void k05_box(Rows<const Sum> table, Rows<MeanOf<Sum>> means, Rows<const std::uint32_t> radii,
                        std::uint64_t radius, std::uint64_t width, std::uint64_t height) {
  // TODO(student): Rows count from the corner, as in the table. The box's first row is row - radius, or 0 if
  // that is before the image. Its last row is row + radius, or height - 1 if that is past the image. Compute
  // the columns in the same way. The radius may be almost 2^32, and larger than the image. Look up the entry
  // at (last row, last column). Subtract those at (before the first row, last column) and (last row, before
  // the first column), and add the one at (before the first row, before the first column), each only if it
  // exists. Use wrapping_add and wrapping_subtract, in Sum. Divide, as a MeanOf<Sum>, by the number of items
  // in the box. If radii.d_first is not nullptr, radii[row][column] is the radius. (roughly 15 lines)
}

template <typename Sum>
Status box(const BoxJob<Sum>& job) {
  // TODO(student): Launch the kernel once, with one block per tile of kTile columns and kTileRows rows. If
  // job.d_radii is nullptr, radii.d_first must be nullptr, too. (roughly 8 lines)
  return not_implemented(job);
}

// --- Given, for a single pass: the order in which tiles are taken, and how a tile passes a carry to the next
// one.

// The position of a tile among the tiles of an image.
struct Place {
  unsigned x, y;
};

// The position of the t-th tile, if tiles are taken along the diagonals, from the corner on: (0, 0), then (1,
// 0) and (0, 1), then the three of the next diagonal … Every tile comes after the one to its left and the one
// before it in its column, and the tiles of a diagonal do not depend on each other.
__device__ Place diagonal_place(std::uint64_t t, std::uint64_t tiles_x, std::uint64_t tiles_y) {
  const std::uint64_t shorter = tiles_x < tiles_y ? tiles_x : tiles_y;
  const std::uint64_t longer = tiles_x < tiles_y ? tiles_y : tiles_x;
  const std::uint64_t growing = shorter * (shorter - 1) / 2;  // tiles on diagonals shorter than `shorter`
  const std::uint64_t n_tiles = tiles_x * tiles_y;

  // The index of the diagonal among those of growing length (1 tile, 2 tiles …), and the position on it.
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
    // The diagonals of falling length are the growing ones, counted from the last tile.
    along = n_tiles - 1 - t;
    const std::uint64_t from_last = in_triangle(along);
    diagonal = tiles_x + tiles_y - 2 - from_last;
    along = from_last - along;
  }
  const std::uint64_t least_y = diagonal < tiles_x ? 0 : diagonal - (tiles_x - 1);
  const std::uint64_t y = least_y + along;
  return {static_cast<unsigned>(diagonal - y), static_cast<unsigned>(y)};
}

// Publishes what the lanes of this warp wrote: sets *d_state. All 32 lanes must call it.
__device__ void publish(std::uint32_t* d_state, std::uint32_t state) {
  __syncwarp();  // the lanes' writes come before lane 0's release
  if (threadIdx.x % kWarp == 0) lab::store_release(d_state, state);  // the writes come before the state
}

// Waits until *d_state is set; afterwards this lane sees everything that was written before that.
__device__ void wait_for(const std::uint32_t* d_state) {
  while (lab::load_acquire(d_state) == 0) {  // acquire: the published data is read after its state
  }
}

__global__ void k06_clear(std::uint32_t* d_flags, std::uint64_t n) {
  const std::uint64_t gid = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (gid < n) d_flags[gid] = 0;
}

// --- Rung 5, task "single_pass" (bonus): one block per tile of 64 x 64, and each tile adds the sums of its
// neighbours.
// A tile reads the sums of its rows so far from the tile to its left, and the table's entries above it from
// the tile before it in its column; it publishes the same for the tiles to the right and below. A block takes
// its tile by a ticket, so every tile for which it waits has been started before. (The kernel is k06, because
// the box filter is k05.)
inline constexpr unsigned kSide = 64;               // rows and columns of such a tile
inline constexpr unsigned kHalves = kSide / kWarp;  // warps that publish an edge together, 32 sums each
inline constexpr unsigned kStates = 2 * kHalves;    // words per tile that say which of its sums are available

template <typename T, typename Sum>
__global__ void k06_single_pass(Rows<const T> in, Rows<Sum> table, std::uint64_t width, std::uint64_t height,
                                Sum* d_right, Sum* d_below, std::uint32_t* d_ticket,
                                std::uint32_t* d_states) {
  // TODO(student): Take a ticket, store it in shared memory for the block, and get the position from
  // diagonal_place. Scan the tile's rows with warp_scan into s_tile (0 outside the image, one column of
  // padding), 32 items and then 32 more. Warps 0 and 1 handle one row per lane: they wait for the left tile's
  // right edge (if there is such a tile), store it in s_left, and publish left + own row sums. Scan the
  // columns (lane = row), with s_left added to each item. Warps 0 and 1 now handle one column per lane: they
  // do the same with the tile above, whose lower edge goes to s_above. Store s_tile + s_above. Write at each
  // barrier which hazard it prevents. Use publish and wait_for. (roughly 60 lines)
}

template <typename T>
Status single_pass(const TableJob<T>& job) {
  // TODO(student): There are two launches. k06_clear sets the ticket and kStates words per tile to 0.
  // k06_single_pass has one block per tile. d_flags starts with the ticket. d_scratch holds kSide sums per
  // tile for the right edges, then as many for the lower ones. (roughly 10 lines)
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
