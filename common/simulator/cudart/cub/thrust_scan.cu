// SPDX-License-Identifier: MIT
// thrust: scans, copy_if, reduce_by_key, transform_reduce, unique.
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/transform_reduce.h>
#include <thrust/unique.h>

#include <algorithm>
#include <numeric>

#include "cub.hpp"

namespace {

struct IsEven {
  __host__ __device__ bool operator()(int v) const { return v % 2 == 0; }
};
struct Twice {
  __host__ __device__ long long operator()(int v) const { return 2LL * v; }
};

template <typename T>
std::vector<T> on_host(const thrust::device_vector<T>& d, std::size_t n) {
  std::vector<T> h(n);
  thrust::copy(d.begin(), d.begin() + static_cast<std::ptrdiff_t>(n), h.begin());
  return h;
}

void check(int n) {
  const auto values = made<int>(n, 1, [](Numbers& r) { return static_cast<int>(r.below(1000)); });
  const auto keys = made<int>(n, 2, [key = 0](Numbers& r) mutable { return key += r.below(9) == 0 ? 1 : 0; });
  const thrust::device_vector<int> d(values.begin(), values.end()), d_keys(keys.begin(), keys.end());
  thrust::device_vector<int> d_out(values.size()), d_keys_out(values.size());

  thrust::inclusive_scan(d.begin(), d.end(), d_out.begin());
  std::vector<int> expected(values.size());
  std::partial_sum(values.begin(), values.end(), expected.begin());
  EXPECT(on_host(d_out, values.size()) == expected);

  const auto end = thrust::copy_if(d.begin(), d.end(), d_out.begin(), IsEven{});
  expected.clear();
  std::copy_if(values.begin(), values.end(), std::back_inserter(expected), IsEven{});
  EXPECT(end - d_out.begin() == static_cast<std::ptrdiff_t>(expected.size()));
  EXPECT(on_host(d_out, expected.size()) == expected);

  std::vector<int> unique, sums;
  for (std::size_t k = 0; k < keys.size(); ++k) {
    if (unique.empty() || unique.back() != keys[k]) {
      unique.push_back(keys[k]);
      sums.push_back(0);
    }
    sums.back() += values[k];
  }
  const auto ends =
      thrust::reduce_by_key(d_keys.begin(), d_keys.end(), d.begin(), d_keys_out.begin(), d_out.begin());
  EXPECT(ends.first - d_keys_out.begin() == static_cast<std::ptrdiff_t>(unique.size()));
  EXPECT(on_host(d_keys_out, unique.size()) == unique && on_host(d_out, sums.size()) == sums);

  const long long twice = thrust::transform_reduce(d.begin(), d.end(), Twice{}, 1LL, ::cuda::std::plus<>{});
  EXPECT(twice == 1 + 2 * std::accumulate(values.begin(), values.end(), 0LL));
}

}  // namespace

int main() {
  for (const int n : kSizes) check(n);
}
