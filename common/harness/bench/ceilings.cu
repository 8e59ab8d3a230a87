// SPDX-License-Identifier: MIT
#include "bench/ceilings.hpp"

namespace course::lab {
namespace {

// The fastest of 16 copy kernels and 22 read kernels measured on an H200: many short blocks are fastest for
// copies, a full grid with many loads in flight for reads.
constexpr unsigned kCopyThreads = 256, kCopyPacks = 2;
constexpr unsigned kThreads = 512, kBlocksEach = 2, kInFlight = 8;

__global__ void __launch_bounds__(kCopyThreads) copy(const uint4* d_from, uint4* d_to, std::uint64_t n) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * (kCopyThreads * kCopyPacks) + threadIdx.x;
  uint4 pack[kCopyPacks];
#pragma unroll
  for (unsigned k = 0; k < kCopyPacks; ++k) {
    if (i + k * kCopyThreads < n) pack[k] = d_from[i + k * kCopyThreads];
  }
#pragma unroll
  for (unsigned k = 0; k < kCopyPacks; ++k) {
    if (i + k * kCopyThreads < n) d_to[i + k * kCopyThreads] = pack[k];
  }
}

__global__ void __launch_bounds__(kThreads, kBlocksEach)
    read(const uint4* d_from, unsigned* d_sink, std::uint64_t n) {
  const std::uint64_t n_threads = std::uint64_t{gridDim.x} * kThreads;
  std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
  unsigned sum = 0;
  for (; i + (kInFlight - 1) * n_threads < n; i += kInFlight * n_threads) {
    uint4 pack[kInFlight];
#pragma unroll
    for (unsigned k = 0; k < kInFlight; ++k) pack[k] = d_from[i + k * n_threads];
#pragma unroll
    for (unsigned k = 0; k < kInFlight; ++k) sum += pack[k].x ^ pack[k].y ^ pack[k].z ^ pack[k].w;
  }
  for (; i < n; i += n_threads) sum += d_from[i].x ^ d_from[i].y ^ d_from[i].z ^ d_from[i].w;
  if (sum == 0x9e3779b9u) *d_sink = sum;
}

unsigned grid(std::uint64_t n, int multiprocessors) {
  const std::uint64_t wanted = (n + kThreads - 1) / kThreads,
                      most = std::uint64_t{kBlocksEach} * static_cast<unsigned>(multiprocessors);
  return static_cast<unsigned>(wanted < most ? (wanted == 0 ? 1 : wanted) : most);
}

}  // namespace

void ceiling_copy(const void* d_from, void* d_to, std::uint64_t n_bytes, int, CUstream_st* stream) {
  const std::uint64_t n = n_bytes / sizeof(uint4), tile = kCopyThreads * kCopyPacks;
  const auto n_blocks = static_cast<unsigned>((n + tile - 1) / tile);
  copy<<<n_blocks, kCopyThreads, 0, stream>>>(static_cast<const uint4*>(d_from), static_cast<uint4*>(d_to),
                                              n);
}

void ceiling_read(const void* d_from, void* d_sink, std::uint64_t n_bytes, int multiprocessors,
                  CUstream_st* stream) {
  const std::uint64_t n = n_bytes / sizeof(uint4);
  read<<<grid(n, multiprocessors), kThreads, 0, stream>>>(static_cast<const uint4*>(d_from),
                                                          static_cast<unsigned*>(d_sink), n);
}

}  // namespace course::lab
