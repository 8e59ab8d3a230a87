// SPDX-License-Identifier: MIT
// cub::DeviceRadixSort of keys: widths, signs, floats, descending, a range of bits.
#include <algorithm>
#include <cub/device/device_radix_sort.cuh>
#include <functional>

#include "cub.hpp"

namespace {

template <typename T>
void check(const std::vector<T>& keys) {
  const int n = static_cast<int>(keys.size());
  const Array<T> d_in(keys), d_out(keys.size());
  std::vector<T> sorted = keys;
  std::sort(sorted.begin(), sorted.end());
  CUB(DeviceRadixSort::SortKeys, d_in.get(), d_out.get(), n);
  EXPECT(d_out.values() == sorted);
  EXPECT(d_in.values() == keys);
}

void descending(int n) {
  const auto keys = random_bits<int>(n, 11);
  const Array<int> d_in(keys), d_out(keys.size());
  std::vector<int> sorted = keys;
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  CUB(DeviceRadixSort::SortKeysDescending, d_in.get(), d_out.get(), n);
  EXPECT(d_out.values() == sorted);
}

// Sorts by bits 5 to 16; items with equal bits keep their order.
void some_bits(int n) {
  const auto keys = random_bits<std::uint32_t>(n, 12);
  const Array<std::uint32_t> d_in(keys), d_out(keys.size());
  std::vector<std::uint32_t> sorted = keys;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](auto a, auto b) { return (a >> 5 & 0xfff) < (b >> 5 & 0xfff); });
  CUB(DeviceRadixSort::SortKeys, d_in.get(), d_out.get(), n, 5, 17);
  EXPECT(d_out.values() == sorted);
}

}  // namespace

int main() {
  for (const int n : kSizes) {
    check(random_bits<std::uint32_t>(n, 1));
    check(random_bits<std::int64_t>(n, 2));
    check(made<float>(n, 3,
                      [](Numbers& r) { return (static_cast<float>(r.below(1 << 20)) - 500000.5f) * 0.37f; }));
    descending(n);
    some_bits(n);
  }
}
