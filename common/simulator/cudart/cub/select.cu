// SPDX-License-Identifier: MIT
// cub::DeviceSelect, DevicePartition and DeviceRunLengthEncode compared with sequential loops.
#include <cub/device/device_partition.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_select.cuh>

#include "cub.hpp"

namespace {

struct IsSmall {
  __host__ __device__ bool operator()(int v) const { return v < 300; }
};

void select(int n) {
  const auto values = made<int>(n, 1, [](Numbers& r) { return static_cast<int>(r.below(1000)); });
  const auto flags = made<char>(n, 2, [](Numbers& r) { return static_cast<char>(r.below(2)); });
  std::vector<int> flagged, small, other, unique;
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (flags[k] != 0) flagged.push_back(values[k]);
    (IsSmall{}(values[k]) ? small : other).push_back(values[k]);
  }
  const Array<int> d_in(values), d_out(values.size()), d_count(1);
  const Array<char> d_flags(flags);
  CUB(DeviceSelect::Flagged, d_in.get(), d_flags.get(), d_out.get(), d_count.get(), n);
  EXPECT(d_count.front() == static_cast<int>(flagged.size()) && d_out.first(flagged.size()) == flagged);
  CUB(DeviceSelect::If, d_in.get(), d_out.get(), d_count.get(), n, IsSmall{});
  EXPECT(d_count.front() == static_cast<int>(small.size()) && d_out.first(small.size()) == small);
  const Array<int> d_in_place(values);
  CUB(DeviceSelect::If, d_in_place.get(), d_count.get(), n, IsSmall{});
  EXPECT(d_count.front() == static_cast<int>(small.size()) && d_in_place.first(small.size()) == small);
  // Selected items first, in order; the others at the end, in reverse order.
  CUB(DevicePartition::If, d_in.get(), d_out.get(), d_count.get(), n, IsSmall{});
  std::vector<int> parted = small;
  parted.insert(parted.end(), other.rbegin(), other.rend());
  EXPECT(d_count.front() == static_cast<int>(small.size()) && d_out.values() == parted);
}

void runs(int n) {
  const auto values = made<std::uint8_t>(n, 3, [v = 0](Numbers& r) mutable {
    if (r.below(7) == 0) v = static_cast<int>(r.below(5));
    return static_cast<std::uint8_t>(v);
  });
  std::vector<std::uint8_t> unique;
  std::vector<int> lengths;
  for (const auto v : values) {
    if (unique.empty() || unique.back() != v) {
      unique.push_back(v);
      lengths.push_back(0);
    }
    ++lengths.back();
  }
  const Array<std::uint8_t> d_in(values), d_out(values.size());
  const Array<int> d_lengths(values.size()), d_count(1);
  CUB(DeviceSelect::Unique, d_in.get(), d_out.get(), d_count.get(), n);
  EXPECT(d_count.front() == static_cast<int>(unique.size()) && d_out.first(unique.size()) == unique);
  CUB(DeviceRunLengthEncode::Encode, d_in.get(), d_out.get(), d_lengths.get(), d_count.get(), n);
  EXPECT(d_count.front() == static_cast<int>(unique.size()) && d_out.first(unique.size()) == unique);
  EXPECT(d_lengths.first(lengths.size()) == lengths);
}

}  // namespace

int main() {
  for (const int n : kSizes) {
    select(n);
    runs(n);
  }
}
