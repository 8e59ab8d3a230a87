// SPDX-License-Identifier: MIT
// Summed area table: the given code, which yours calls. The lab's file includes it inside of its namespace,
// behind its constants.

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

// --- For a single pass: the order in which tiles are taken, and how a tile passes a carry to the next
// one.

// The position of a tile among the tiles of an image.
struct TilePosition {
  unsigned x, y;
};

// The position of the t-th tile, if tiles are taken along the diagonals, from the corner on: (0, 0), then (1,
// 0) and (0, 1), then the three of the next diagonal … Every tile comes after the one to its left and the one
// before it in its column, and the tiles of a diagonal do not depend on each other.
__device__ TilePosition diagonal_position(std::uint64_t t, std::uint64_t tiles_x, std::uint64_t tiles_y) {
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

__global__ void k05_clear(std::uint32_t* d_flags, std::uint64_t n) {
  const std::uint64_t gid = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (gid < n) d_flags[gid] = 0;
}
