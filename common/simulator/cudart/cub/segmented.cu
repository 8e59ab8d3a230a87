// SPDX-License-Identifier: MIT
// cub::DeviceSegmentedReduce, DeviceSegmentedRadixSort and DeviceSegmentedSort: empty, short and long
// segments.
#include <algorithm>
#include <cub/device/device_segmented_radix_sort.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <cub/device/device_segmented_sort.cuh>
#include <numeric>

#include "cub.hpp"

namespace {

// Segment boundaries: segment s is offsets[s] … offsets[s + 1].
std::vector<int> segments(int n) {
  Numbers r(9);
  std::vector<int> offsets = {0};
  while (offsets.back() < n) {
    const auto kind = r.below(10);
    const auto length = kind == 0 ? 0 : kind < 6 ? r.below(20) : kind < 9 ? r.below(500) : r.below(20000);
    offsets.push_back(std::min(n, offsets.back() + static_cast<int>(length)));
  }
  return offsets;
}

void check(int n) {
  const auto offsets = segments(n);
  const int n_segments = static_cast<int>(offsets.size()) - 1;
  const auto keys = random_bits<std::uint32_t>(n, 1);
  std::vector<std::uint32_t> sums, sorted = keys;
  for (int s = 0; s < n_segments; ++s) {
    const auto first = sorted.begin() + offsets[s], last = sorted.begin() + offsets[s + 1];
    sums.push_back(std::accumulate(first, last, 0u));
    std::sort(first, last);
  }
  const Array<int> d_offsets(offsets);
  const Array<std::uint32_t> d_keys(keys), d_out(keys.size()), d_sums(sums.size());
  with_temporary([&](void* t, std::size_t& b) {
    return cub::DeviceSegmentedReduce::Sum(t, b, d_keys.get(), d_sums.get(), n_segments, d_offsets.get(),
                                           d_offsets.get() + 1);
  });
  EXPECT(d_sums.values() == sums);
  with_temporary([&](void* t, std::size_t& b) {
    return cub::DeviceSegmentedRadixSort::SortKeys(t, b, d_keys.get(), d_out.get(), n, n_segments,
                                                   d_offsets.get(), d_offsets.get() + 1);
  });
  EXPECT(d_out.values() == sorted);
  with_temporary([&](void* t, std::size_t& b) {
    return cub::DeviceSegmentedSort::SortKeys(t, b, d_keys.get(), d_out.get(), n, n_segments, d_offsets.get(),
                                              d_offsets.get() + 1);
  });
  EXPECT(d_out.values() == sorted);
}

}  // namespace

int main() {
  for (const int n : kSizes) check(n == 1'000'003 ? 100'003 : n);
}
