// SPDX-License-Identifier: MIT
// cub::DeviceScan compared with sequential loops: sums, a non-commutative operator, scans by key.
#include <cub/device/device_scan.cuh>

#include "cub.hpp"

namespace {

// x ↦ a·x + b, modulo 2^32. Composed left to right: associative, not commutative.
struct Affine {
  std::uint32_t a, b;
  bool operator==(const Affine&) const = default;
};
struct Compose {
  __host__ __device__ Affine operator()(const Affine& f, const Affine& g) const {
    return {f.a * g.a, g.a * f.b + g.b};
  }
};

void sums(int n) {
  const auto values = random_bits<std::uint32_t>(n, 1);
  std::vector<std::uint32_t> inclusive, exclusive;
  std::uint32_t sum = 0;
  for (const auto v : values) {
    exclusive.push_back(sum);
    sum += v;
    inclusive.push_back(sum);
  }
  const Array<std::uint32_t> d_in(values), d_out(values.size());
  CUB(DeviceScan::InclusiveSum, d_in.get(), d_out.get(), n);
  EXPECT(d_out.values() == inclusive);
  CUB(DeviceScan::ExclusiveSum, d_in.get(), d_out.get(), n);
  EXPECT(d_out.values() == exclusive);
  // In place.
  CUB(DeviceScan::InclusiveSum, d_in.get(), n);
  EXPECT(d_in.values() == inclusive);
}

void not_commutative(int n) {
  const auto maps = made<Affine>(n, 2, [](Numbers& r) {
    return Affine{static_cast<std::uint32_t>(r.next()) | 1, static_cast<std::uint32_t>(r.next())};
  });
  const Affine first{3, 4};
  std::vector<Affine> inclusive, exclusive;
  Affine before = first, so_far{1, 0};
  for (const Affine& f : maps) {
    exclusive.push_back(before);
    before = Compose{}(before, f);
    so_far = Compose{}(so_far, f);
    inclusive.push_back(so_far);
  }
  const Array<Affine> d_in(maps), d_out(maps.size());
  CUB(DeviceScan::InclusiveScan, d_in.get(), d_out.get(), Compose{}, n);
  EXPECT(d_out.values() == inclusive);
  CUB(DeviceScan::ExclusiveScan, d_in.get(), d_out.get(), Compose{}, first, n);
  EXPECT(d_out.values() == exclusive);
}

void by_key(int n) {
  const auto keys =
      made<int>(n, 3, [key = 0](Numbers& r) mutable { return key += r.below(50) == 0 ? 1 : 0; });
  const auto values = random_bits<std::uint64_t>(n, 4);
  std::vector<std::uint64_t> expected;
  for (std::size_t k = 0; k < keys.size(); ++k)
    expected.push_back(values[k] + (k > 0 && keys[k] == keys[k - 1] ? expected.back() : 0));
  const Array<int> d_keys(keys);
  const Array<std::uint64_t> d_values(values), d_out(values.size());
  CUB(DeviceScan::InclusiveSumByKey, d_keys.get(), d_values.get(), d_out.get(), n);
  EXPECT(d_out.values() == expected);
}

}  // namespace

int main() {
  for (const int n : kSizes) {
    sums(n);
    not_commutative(n);
    by_key(n);
  }
}
