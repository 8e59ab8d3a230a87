// SPDX-License-Identifier: MIT
// Demonstration: a lab that is solved. Try the commands of the README on it, change it, and see what the
// grader says. It has no points that count; `git checkout labs/demo` brings it back.
// It reverses every tile of 256 items: read labs/demo/lab.hpp first.
#include "demo/lab.hpp"

namespace course::demo {

// Number of tiles; the last one may have fewer items than kTile.
constexpr std::uint64_t tiles_of(std::uint64_t n) {
  return (n + kTile - 1) / kTile;
}
__host__ __device__ constexpr unsigned items_in_tile(std::uint64_t first, std::uint64_t n) {
  return n - first < kTile ? static_cast<unsigned>(n - first) : kTile;
}

// --- Task "serial": each thread reverses a tile by itself. Right, but slow: neighbouring lanes access
// addresses that are kTile items apart.
__global__ void serial_kernel(const std::int32_t* d_in, std::uint64_t n, std::int32_t* d_out) {
  const std::uint64_t first = (std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x) * kTile;
  if (first >= n) return;
  const unsigned length = items_in_tile(first, n);
  for (unsigned k = 0; k < length; ++k) d_out[first + k] = d_in[first + (length - 1 - k)];
}

Status serial(const Job& job) {
  constexpr unsigned kThreads = 32;
  if (job.n == 0) return Status::ok;
  const std::uint64_t n_blocks = (tiles_of(job.n) + kThreads - 1) / kThreads;
  serial_kernel<<<static_cast<unsigned>(n_blocks), kThreads, 0, job.stream>>>(job.d_in, job.n, job.d_out);
  return Status::ok;
}

// --- Task "shared": a block reverses a tile. Thread t stores item t in shared memory; after the barrier it
// reads the item that another thread has stored. Neighbouring lanes access neighbouring addresses.
__global__ void shared_kernel(const std::int32_t* d_in, std::uint64_t n, std::int32_t* d_out) {
  __shared__ std::int32_t s_tile[kTile];
  const std::uint64_t first = std::uint64_t{blockIdx.x} * kTile;
  const unsigned length = items_in_tile(first, n);
  if (threadIdx.x < length) s_tile[threadIdx.x] = d_in[first + threadIdx.x];
  __syncthreads();  // every item is stored before another thread reads it: remove this line to see a race
  if (threadIdx.x < length) d_out[first + threadIdx.x] = s_tile[length - 1 - threadIdx.x];
}

Status shared(const Job& job) {
  if (job.n == 0) return Status::ok;
  const auto n_blocks = static_cast<unsigned>(tiles_of(job.n));
  shared_kernel<<<n_blocks, kTile, 0, job.stream>>>(job.d_in, job.n, job.d_out);
  return Status::ok;
}

// --- Which function implements which task.
Status run(const lab::Request& request) {
  const Job job = job_of(request);
  switch (static_cast<Rung>(request.task)) {
    case Rung::serial: return serial(job);
    case Rung::shared: return shared(job);
    default: return Status::unsupported;
  }
}

}  // namespace course::demo
