// SPDX-License-Identifier: MIT
// cub::DeviceRadixSort of pairs: equal keys keep their order; double buffers.
#include <algorithm>
#include <cub/device/device_radix_sort.cuh>
#include <numeric>

#include "cub.hpp"

namespace {

template <typename Key>
void check(const std::vector<Key>& keys) {
  const int n = static_cast<int>(keys.size());
  std::vector<std::uint32_t> numbers(keys.size()), order(keys.size());
  std::iota(numbers.begin(), numbers.end(), 0u);
  order = numbers;
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return keys[a] < keys[b]; });
  std::vector<Key> sorted;
  for (const auto k : order) sorted.push_back(keys[k]);
  const Array<Key> d_keys(keys), d_keys_out(keys.size());
  const Array<std::uint32_t> d_values(numbers), d_values_out(keys.size());
  with_temporary([&](void* t, std::size_t& b) {
    return cub::DeviceRadixSort::SortPairs(t, b, d_keys.get(), d_keys_out.get(), d_values.get(),
                                           d_values_out.get(), n);
  });
  EXPECT(d_keys_out.values() == sorted && d_values_out.values() == order);

  cub::DoubleBuffer<Key> key_buffers(d_keys.get(), d_keys_out.get());
  cub::DoubleBuffer<std::uint32_t> value_buffers(d_values.get(), d_values_out.get());
  with_temporary([&](void* t, std::size_t& b) {
    return cub::DeviceRadixSort::SortPairs(t, b, key_buffers, value_buffers, n);
  });
  std::vector<std::uint32_t> result(keys.size());
  if (n > 0)
    CHECK(cudaMemcpy(result.data(), value_buffers.Current(), keys.size() * 4, cudaMemcpyDeviceToHost));
  EXPECT(result == order);
}

}  // namespace

int main() {
  for (const int n : kSizes) {
    check(random_bits<std::uint32_t>(n, 1));
    check(made<std::uint8_t>(n, 2, [](Numbers& r) { return static_cast<std::uint8_t>(r.below(7)); }));
    check(random_bits<std::uint64_t>(n, 3));
  }
}
