// SPDX-License-Identifier: MIT
// thrust::stable_sort with a comparison: a merge sort.
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
  thrust::stable_sort(d.begin(), d.end(), ByLastDigits{});
  std::stable_sort(sorted.begin(), sorted.end(), ByLastDigits{});
  EXPECT(on_host(d) == sorted);
}

}  // namespace

int main() {
  for (const int n : kSizes) check(n);
}
