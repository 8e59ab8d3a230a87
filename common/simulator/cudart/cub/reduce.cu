// SPDX-License-Identifier: MIT
// cub::DeviceReduce compared with sequential loops.
#include <algorithm>
#include <cmath>
#include <cub/device/device_reduce.cuh>
#include <cub/iterator/arg_index_input_iterator.cuh>
#include <limits>
#include <numeric>

#include "cub.hpp"

namespace {

struct Xor {
  __host__ __device__ std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const { return a ^ b; }
};
struct Square {
  __host__ __device__ std::int64_t operator()(int a) const { return std::int64_t{a} * a; }
};

void sums(int n) {
  const auto ints = made<int>(n, 1, [](Numbers& r) { return static_cast<int>(r.below(2001)) - 1000; });
  const Array<int> d_ints(ints);
  const Array<int> d_sum(1);
  CUB(DeviceReduce::Sum, d_ints.get(), d_sum.get(), n);
  EXPECT(d_sum.front() == std::accumulate(ints.begin(), ints.end(), 0));

#if CUB_VERSION >= 200800  // the version of CUDA 12.9
  const Array<std::int64_t> d_squares(1);
  CUB(DeviceReduce::TransformReduce, d_ints.get(), d_squares.get(), n, ::cuda::std::plus<>{}, Square{},
      std::int64_t{7});
  std::int64_t squares = 7;
  for (const int v : ints) squares += Square{}(v);
  EXPECT(d_squares.front() == squares);
#endif

  const auto floats =
      made<float>(n, 2, [](Numbers& r) { return static_cast<float>(r.below(1000)) * 0.001f; });
  const Array<float> d_floats(floats), d_float_sum(1);
  CUB(DeviceReduce::Sum, d_floats.get(), d_float_sum.get(), n);
  const double exact = std::accumulate(floats.begin(), floats.end(), 0.0);
  EXPECT(std::abs(d_float_sum.front() - exact) <= 1e-5 * exact + 1e-9);
}

void extremes(int n) {
  const auto words = random_bits<std::uint64_t>(n, 3);
  const Array<std::uint64_t> d_words(words), d_out(1);
  CUB(DeviceReduce::Min, d_words.get(), d_out.get(), n);
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (const auto w : words) least = std::min(least, w);
  EXPECT(d_out.front() == least);
  CUB(DeviceReduce::Max, d_words.get(), d_out.get(), n);
  std::uint64_t most = 0;
  for (const auto w : words) most = std::max(most, w);
  EXPECT(d_out.front() == most);
  CUB(DeviceReduce::Reduce, d_words.get(), d_out.get(), n, Xor{}, std::uint64_t{5});
  std::uint64_t all = 5;
  for (const auto w : words) all ^= w;
  EXPECT(d_out.front() == all);
#if CUB_VERSION >= 200800
  if (n == 0) return;
  const Array<std::int64_t> d_index(1);
  CUB(DeviceReduce::ArgMin, d_words.get(), d_out.get(), d_index.get(), std::int64_t{n});
  EXPECT(d_index.front() == std::min_element(words.begin(), words.end()) - words.begin());
  EXPECT(d_out.front() == least);
#endif
}

void by_key(int n) {
  const auto keys = made<int>(n, 4, [run = 0, left = 0](Numbers& r) mutable {
    if (left-- == 0) {
      ++run;
      left = static_cast<int>(r.below(40));
    }
    return run;
  });
  const auto values = random_bits<std::uint32_t>(n, 5);
  std::vector<int> unique;
  std::vector<std::uint32_t> sums;
  for (std::size_t k = 0; k < keys.size(); ++k) {
    if (unique.empty() || unique.back() != keys[k]) {
      unique.push_back(keys[k]);
      sums.push_back(0);
    }
    sums.back() += values[k];
  }
  const Array<int> d_keys(keys), d_unique(keys.size()), d_runs(1);
  const Array<std::uint32_t> d_values(values), d_sums(keys.size());
  CUB(DeviceReduce::ReduceByKey, d_keys.get(), d_unique.get(), d_values.get(), d_sums.get(), d_runs.get(),
      ::cuda::std::plus<>{}, n);
  EXPECT(d_runs.front() == static_cast<int>(unique.size()));
  EXPECT(d_unique.first(unique.size()) == unique);
  EXPECT(d_sums.first(sums.size()) == sums);
}

}  // namespace

int main() {
  for (const int n : kSizes) {
    sums(n);
    extremes(n);
    by_key(n);
  }
}
