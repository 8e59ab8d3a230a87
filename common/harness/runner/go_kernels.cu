// SPDX-License-Identifier: MIT
#include "runner/go_kernels.hpp"

namespace course::lab {
namespace {

constexpr unsigned kBlock = 256, kBlocks = 2048;

// Loads word i; the last one may have fewer than 8 bytes.
__device__ std::uint64_t load(const std::uint64_t* words, std::uint64_t i, std::uint64_t n_bytes) {
  if (8 * i + 8 <= n_bytes) return words[i];
  std::uint64_t word = 0;
  const auto* bytes = reinterpret_cast<const unsigned char*>(words);
  for (std::uint64_t k = 8 * i; k < n_bytes; ++k) word |= std::uint64_t{bytes[k]} << (8 * (k - 8 * i));
  return word;
}

__global__ void __launch_bounds__(kBlock)
    unmask_words(std::uint64_t* words, std::uint64_t n_bytes, std::uint64_t key) {
  const std::uint64_t n_words = (n_bytes + 7) / 8;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x; i < n_words;
       i += std::uint64_t{gridDim.x} * kBlock) {
    const std::uint64_t word = load(words, i, n_bytes) ^ keyed(key, i);
    if (8 * i + 8 <= n_bytes) {
      words[i] = word;
    } else {
      auto* bytes = reinterpret_cast<unsigned char*>(words);
      for (std::uint64_t k = 8 * i; k < n_bytes; ++k)
        bytes[k] = static_cast<unsigned char>(word >> (8 * (k - 8 * i)));
    }
  }
}

__global__ void __launch_bounds__(kBlock)
    digest_words(const std::uint64_t* words, std::uint64_t n_bytes, std::uint64_t key, Digest* d_digest) {
  const std::uint64_t n_words = (n_bytes + 7) / 8;
  Digest sum;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x; i < n_words;
       i += std::uint64_t{gridDim.x} * kBlock) {
    const Digest part = part_of_digest(key, i, load(words, i, n_bytes));
    sum.a += part.a;
    sum.b += part.b;
  }
  for (int distance = 16; distance > 0; distance /= 2) {
    sum.a += __shfl_xor_sync(0xffffffffu, sum.a, distance);
    sum.b += __shfl_xor_sync(0xffffffffu, sum.b, distance);
  }
  if (threadIdx.x % 32 == 0) {
    atomicAdd(reinterpret_cast<unsigned long long*>(&d_digest->a), sum.a);
    atomicAdd(reinterpret_cast<unsigned long long*>(&d_digest->b), sum.b);
  }
}

unsigned blocks_for(std::uint64_t n_bytes) {
  const std::uint64_t needed = (n_bytes + 8 * kBlock - 1) / (8 * kBlock);
  return needed < kBlocks ? static_cast<unsigned>(needed) : kBlocks;
}

void unmask(void* data, std::uint64_t n_bytes, std::uint64_t key, CUstream_st* stream) {
  if (n_bytes == 0) return;
  unmask_words<<<blocks_for(n_bytes), kBlock, 0, stream>>>(static_cast<std::uint64_t*>(data), n_bytes, key);
}

void digest(const void* data, std::uint64_t n_bytes, std::uint64_t key, Digest* d_digest,
            CUstream_st* stream) {
  if (n_bytes == 0) return;
  digest_words<<<blocks_for(n_bytes), kBlock, 0, stream>>>(static_cast<const std::uint64_t*>(data), n_bytes,
                                                           key, d_digest);
}

}  // namespace

const GoKernels kGoKernels{&unmask, &digest};

}  // namespace course::lab
