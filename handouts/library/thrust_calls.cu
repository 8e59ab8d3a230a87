// SPDX-License-Identifier: MIT
// The labs' jobs by Thrust, with vectors and algorithms like those of the C++ library. A call that returns a
// value waits for it. Run it with
//   ./lab sanitize handouts/library/thrust_calls.cu
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "check.cuh"

// --- all labs
struct IsOdd {
  __host__ __device__ bool operator()(int x) const { return x % 2 != 0; }
};

int sum_of(const thrust::device_vector<int>& items) {
  return thrust::reduce(items.begin(), items.end(), 0);
}

void scan(const thrust::device_vector<int>& items, thrust::device_vector<int>& out) {
  thrust::exclusive_scan(items.begin(), items.end(), out.begin());
}

std::size_t compact(const thrust::device_vector<int>& items, thrust::device_vector<int>& out) {
  return static_cast<std::size_t>(thrust::copy_if(items.begin(), items.end(), out.begin(), IsOdd{}) -
                                  out.begin());
}

// Sort, then reduce each run of equal keys: a histogram of values that occur, without atomics.
std::size_t histogram(thrust::device_vector<int>& items, thrust::device_vector<int>& keys,
                      thrust::device_vector<int>& counts) {
  thrust::sort(items.begin(), items.end());
  const auto ends = thrust::reduce_by_key(items.begin(), items.end(), thrust::constant_iterator<int>(1),
                                          keys.begin(), counts.begin());
  return static_cast<std::size_t>(ends.first - keys.begin());
}

// --- end
std::vector<int> on_host(const thrust::device_vector<int>& d, std::size_t n) {
  std::vector<int> h(n);
  thrust::copy(d.begin(), d.begin() + static_cast<std::ptrdiff_t>(n), h.begin());
  return h;
}

int main() {
  constexpr std::size_t kItems = 10'000;
  std::vector<int> items(kItems);
  std::uint32_t state = 1;
  for (int& item : items) item = static_cast<int>((state = state * 1664525u + 1013904223u) >> 24);
  thrust::device_vector<int> in(items.begin(), items.end()), out(kItems), counts(kItems);

  expect(sum_of(in) == std::accumulate(items.begin(), items.end(), 0), "thrust::reduce");

  std::vector<int> wanted(kItems);
  std::exclusive_scan(items.begin(), items.end(), wanted.begin(), 0);
  scan(in, out);
  expect(on_host(out, kItems) == wanted, "thrust::exclusive_scan");

  std::vector<int> kept;
  std::copy_if(items.begin(), items.end(), std::back_inserter(kept), IsOdd{});
  expect(on_host(out, compact(in, out)) == kept, "thrust::copy_if");

  std::vector<int> of_value(256);
  for (const int item : items) ++of_value[item];
  of_value.erase(std::remove(of_value.begin(), of_value.end(), 0), of_value.end());
  expect(on_host(counts, histogram(in, out, counts)) == of_value, "thrust::sort, thrust::reduce_by_key");
  std::sort(items.begin(), items.end());
  expect(on_host(in, kItems) == items, "the sorted items");
}
