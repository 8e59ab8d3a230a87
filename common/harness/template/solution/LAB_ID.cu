// SPDX-License-Identifier: MIT
//@student // LAB_TITLE: your file. Read labs/LAB_ID/lab.hpp first, then handouts/LAB_HANDOUT.
//@student // Until you write it, a task is "not implemented". Do not change the given lines at the end.
//@reference
// LAB_TITLE: the ladder. Each rung says what changed, why that should be faster, what drawbacks remain.
//@end
#include "LAB_ID/lab.hpp"

namespace course::LAB_ID {

// Number of tiles; the last one may have fewer items than kTile.
constexpr std::uint64_t tiles_of(std::uint64_t n) {
  return (n + kTile - 1) / kTile;
}
__host__ __device__ constexpr unsigned items_in_tile(std::uint64_t first, std::uint64_t n) {
  return n - first < kTile ? static_cast<unsigned>(n - first) : kTile;
}

// --- Task 1, "serial": each thread reverses a tile by itself.
//@reference
// Right, but slow: neighbouring lanes access addresses that are kTile items apart.
//@end
__global__ void k01_serial(const std::int32_t* d_in, std::uint64_t n, std::int32_t* d_out) {
  //@solution Compute the index of the first item of the thread's tile. If it is below n, reverse the tile.
  const std::uint64_t first = (std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x) * kTile;
  if (first >= n) return;
  const unsigned length = items_in_tile(first, n);
  for (unsigned k = 0; k < length; ++k) d_out[first + k] = d_in[first + (length - 1 - k)];
  //@end
}

Status serial(const Job& job) {
  //@solution Launch enough blocks for a thread per tile, and nothing if n is 0.
  //@instead return not_implemented(job);
  constexpr unsigned kThreads = 32;
  if (job.n == 0) return Status::ok;
  const std::uint64_t n_blocks = (tiles_of(job.n) + kThreads - 1) / kThreads;
  k01_serial<<<static_cast<unsigned>(n_blocks), kThreads, 0, job.stream>>>(job.d_in, job.n, job.d_out);
  return Status::ok;
  //@end
}

// --- Task 2, "shared": a block reverses a tile. Thread t stores item t in shared memory; after the barrier
// it reads the item that another thread has stored.
//@reference
// Why: neighbouring lanes access neighbouring addresses. Drawback: each thread has only one load in flight.
//@end
__global__ void k02_shared(const std::int32_t* d_in, std::uint64_t n, std::int32_t* d_out) {
  //@solution Store the tile's items in shared memory, pass the barrier, and write them in reverse order.
  __shared__ std::int32_t s_tile[kTile];
  const std::uint64_t first = std::uint64_t{blockIdx.x} * kTile;
  const unsigned length = items_in_tile(first, n);
  if (threadIdx.x < length) s_tile[threadIdx.x] = d_in[first + threadIdx.x];
  __syncthreads();  // every item is stored before another thread reads it: without this line there is a race
  if (threadIdx.x < length) d_out[first + threadIdx.x] = s_tile[length - 1 - threadIdx.x];
  //@end
}

Status shared(const Job& job) {
  //@solution Launch a block of kTile threads per tile, and nothing if n is 0.
  //@instead return not_implemented(job);
  if (job.n == 0) return Status::ok;
  const auto n_blocks = static_cast<unsigned>(tiles_of(job.n));
  k02_shared<<<n_blocks, kTile, 0, job.stream>>>(job.d_in, job.n, job.d_out);
  return Status::ok;
  //@end
}

// --- Given: the function of each task.
Status run(const lab::Request& request) {
  const Job job = job_of(request);
  switch (static_cast<Rung>(request.task)) {
    case Rung::serial: return serial(job);
    case Rung::shared: return shared(job);
    default: return Status::unsupported;
  }
}

}  // namespace course::LAB_ID
