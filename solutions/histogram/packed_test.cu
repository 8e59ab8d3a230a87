// SPDX-License-Identifier: MIT
// Tests rung 6's counters of 16 bits, which state_of_the_art takes for arrays that are too long for the
// simulator.
#include <cstdio>
#include <vector>

#include "histogram.cu"

namespace course::histogram {
namespace {

enum class Samples { random, mostly_equal, equal };

template <typename T>
bool is_right(std::uint64_t n, std::uint64_t misalign, Samples kind) {
  constexpr std::uint32_t kBins = 65536, kRange = sizeof(T) == 1 ? 200 : 1 << 20;
  std::vector<T> samples(n + misalign);
  for (std::uint64_t i = 0; i < samples.size(); ++i) {
    const auto random = static_cast<std::uint32_t>((i + 1) * 0x9e3779b97f4a7c15u >> 32);
    const bool is_common = kind == Samples::equal || (kind == Samples::mostly_equal && random % 10 != 0);
    samples[i] = static_cast<T>(is_common ? kRange / 3 : random % (kRange + kRange / 8));  // some in no bin
  }
  const EvenBins<T> bins(kBins, 0, kRange);
  std::vector<Count> right(kBins + 1), got(kBins + 1, 17);
  for (std::uint64_t i = misalign; i < samples.size(); ++i) ++right[bin_of(bins, samples[i])];

  T* d_in = nullptr;
  Count* d_counts = nullptr;
  cudaMalloc(&d_in, samples.size() * sizeof(T) + 1);
  cudaMalloc(&d_counts, got.size() * sizeof(Count));
  cudaMemcpy(d_in, samples.data(), samples.size() * sizeof(T), cudaMemcpyHostToDevice);
  cudaMemcpy(d_counts, got.data(), got.size() * sizeof(Count), cudaMemcpyHostToDevice);
  const Job<T, EvenBins<T>> job{
      .d_in = d_in + misalign, .n = n, .bins = bins, .d_counts = d_counts, .multiprocessors = 2};
  if (count_packed(job) != Status::ok || cudaDeviceSynchronize() != cudaSuccess) return false;
  cudaMemcpy(got.data(), d_counts, got.size() * sizeof(Count), cudaMemcpyDeviceToHost);
  cudaFree(d_in);
  cudaFree(d_counts);
  return got == right;
}

// With 2 blocks, 250,000 equal samples fill a counter of 16 bits several times.
template <typename T>
int wrong_ones(const char* type) {
  int n_wrong = 0;
  for (const std::uint64_t n : {0, 5, 250001}) {
    for (const Samples kind : {Samples::random, Samples::mostly_equal, Samples::equal}) {
      for (const std::uint64_t misalign : {0, 1}) {
        const bool right = is_right<T>(n, misalign, kind);
        if (!right)
          std::printf("WRONG: %s, %llu samples, kind %d, %llu from an aligned address\n", type,
                      static_cast<unsigned long long>(n), static_cast<int>(kind),
                      static_cast<unsigned long long>(misalign));
        n_wrong += !right;
      }
    }
  }
  return n_wrong;
}

}  // namespace
}  // namespace course::histogram

int main() {
  using namespace course::histogram;
  return wrong_ones<std::int32_t>("i32") + wrong_ones<std::uint8_t>("u8") + wrong_ones<float>("f32");
}
