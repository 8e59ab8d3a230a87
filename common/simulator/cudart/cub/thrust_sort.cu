// SPDX-License-Identifier: MIT
// thrust::sort: radix sort where possible, merge sort with a comparison; sort by key.
#include <thrust/device_vector.h>
#include <thrust/sort.h>

#include <algorithm>
#include <numeric>

#include "cub.hpp"

namespace {

struct ByLastDigits {
  __host__ __device__ bool operator()(int a, int b) const { return a % 1000 < b % 1000; }
};

template <typename T>
std::vector<T> on_host(const thrust::device_vector<T>& d) {
  std::vector<T> h(d.size());
  thrust::copy(d.begin(), d.end(), h.begin());
  return h;
}

void check(int n) {
  const auto values = made<int>(n, 1, [](Numbers& r) { return static_cast<int>(r.below(1'000'000)); });
  thrust::device_vector<int> d(values.begin(), values.end());
  std::vector<int> sorted = values;
  thrust::sort(d.begin(), d.end());
  std::sort(sorted.begin(), sorted.end());
  EXPECT(on_host(d) == sorted);

  thrust::copy(values.begin(), values.end(), d.begin());
  sorted = values;
  thrust::stable_sort(d.begin(), d.end(), ByLastDigits{});
  std::stable_sort(sorted.begin(), sorted.end(), ByLastDigits{});
  EXPECT(on_host(d) == sorted);
}

}  // namespace

int main() {
  for (const int n : kSizes) check(n);
}
