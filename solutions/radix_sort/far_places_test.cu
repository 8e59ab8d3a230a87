// SPDX-License-Identifier: MIT
// Tests rung 8 with output positions that do not fit beside the status bits. One pass runs with almost 2^32
// more keys of digit 0 than there are, into an array pointer that is moved back by the same distance. So the
// test needs no large array.
#include <algorithm>
#include <cstdio>
#include <vector>

#include "radix_sort.cu"

namespace course::radix_sort {
namespace {

using Key = std::uint32_t;
constexpr std::uint64_t kN = 100'003;

__global__ void add_to_first(std::uint32_t* d_counts, std::uint32_t by) {
  d_counts[0] += by;
}

bool is_right(const std::vector<Key>& keys, std::uint32_t by) {
  constexpr Shape kIts = kShape<Key, NoValue>;
  const unsigned n_tiles = blocks_for(kN, kIts.tile());
  Key *d_in = nullptr, *d_out = nullptr;
  std::uint32_t* d_words = nullptr;
  const std::uint64_t n_words = sweep_in(nullptr, kPassesOf<Key>, n_tiles).n_words;
  cudaMalloc(&d_in, kN * sizeof(Key));
  cudaMalloc(&d_out, kN * sizeof(Key));
  cudaMalloc(&d_words, n_words * sizeof(std::uint32_t));
  cudaMemcpy(d_in, keys.data(), kN * sizeof(Key), cudaMemcpyHostToDevice);
  cudaMemset(d_words, 0, n_words * sizeof(std::uint32_t));
  const Sweep sweep = sweep_in(d_words, kPassesOf<Key>, n_tiles);

  constexpr int kCounters = kCountersSpace<Key>;
  cudaFuncSetAttribute(k08_histograms<Key>, cudaFuncAttributeMaxDynamicSharedMemorySize, kCounters);
  k08_histograms<<<4, kCountingBlock, kCounters>>>(d_in, kN, flips_for<Key>(KeyKind::unsigned_number, false),
                                                   0, kDigitBits, sweep.d_starts);
  add_to_first<<<1, 1>>>(sweep.d_starts, by);
  constexpr int kSpace = sizeof(SweepSpace<Key, NoValue>);
  const auto kernel = k08_sweep<Key, NoValue, PlainDigit<Key>>;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSpace);
  Items<const Key, const NoValue> from{};
  from.d_keys = d_in;
  Items<Key, NoValue> to{};
  to.d_keys = d_out - std::uint64_t{by};
  kernel<<<n_tiles, kIts.threads, kSpace>>>(from, kN, kIts.rows, PlainDigit<Key>{0, kDigits - 1, 0},
                                            sweep.d_starts, sweep.d_tickets, sweep.d_words, to);

  std::vector<Key> sorted(kN), expected = keys;
  const cudaError_t error = cudaMemcpy(sorted.data(), d_out, kN * sizeof(Key), cudaMemcpyDeviceToHost);
  std::stable_sort(expected.begin(), expected.end(), [](Key a, Key b) { return a % kDigits < b % kDigits; });
  cudaFree(d_in);
  cudaFree(d_out);
  cudaFree(d_words);
  if (error != cudaSuccess) std::printf("%s\n", cudaGetErrorString(error));
  return error == cudaSuccess && sorted == expected;
}

}  // namespace
}  // namespace course::radix_sort

int main() {
  using namespace course::radix_sort;
  std::vector<Key> keys(kN);
  // A digit from 1 on that looks random, and a number that distinguishes equal digits.
  for (std::uint64_t i = 0; i < kN; ++i)
    keys[i] = static_cast<Key>(i << 8 | ((i * 2654435761u >> 24) % (kDigits - 1) + 1));
  int n_wrong = 0;
  for (const std::uint32_t by : {0u, 1u << 30, 1u << 31, static_cast<std::uint32_t>(kMaxPlacedKeys - kN)}) {
    const bool right = is_right(keys, by);
    std::printf("places from %u on: %s\n", by, right ? "right" : "WRONG");
    n_wrong += !right;
  }
  return n_wrong;
}
