// SPDX-License-Identifier: MIT
// One kernel whose items take one of 32 paths. Which paths the lanes of a warp take depends on the data
// alone, so the same code runs with 1, 2, 4 … 32 paths in a warp.
#include "lessons/lessons.cuh"

namespace course::lessons {
namespace {

constexpr unsigned kBlock = 256;

// Each path has its own loop, with constants of its own, so the compiler cannot join two of them.
template <unsigned kPath>
__device__ float path(float x, unsigned rounds) {
  for (unsigned round = 0; round < rounds; ++round)
    x = x * (0.5f + kPath * 0x1p-10f) + (1.0f - kPath * 0x1p-10f);
  return x;
}

// Finds the item's path by halving the range: five branches for 32 paths.
template <unsigned kFirst, unsigned kEnd>
__device__ float chosen(unsigned which, float x, unsigned rounds) {
  if constexpr (kEnd - kFirst == 1) {
    return path<kFirst>(x, rounds);
  } else {
    constexpr unsigned kMiddle = (kFirst + kEnd) / 2;
    if (which < kMiddle) return chosen<kFirst, kMiddle>(which, x, rounds);
    return chosen<kMiddle, kEnd>(which, x, rounds);
  }
}

__global__ void k_along_paths(const float* d_in, const std::uint8_t* d_path, float* d_out, std::uint64_t n,
                              unsigned rounds) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (i < n) d_out[i] = chosen<0, kMaxPaths>(d_path[i], d_in[i], rounds);
}

}  // namespace

void along_paths(const float* d_in, const std::uint8_t* d_path, float* d_out, std::uint64_t n,
                 unsigned rounds, CUstream_st* stream) {
  const auto n_blocks = static_cast<unsigned>((n + kBlock - 1) / kBlock);
  k_along_paths<<<n_blocks, kBlock, 0, stream>>>(d_in, d_path, d_out, n, rounds);
}

}  // namespace course::lessons
