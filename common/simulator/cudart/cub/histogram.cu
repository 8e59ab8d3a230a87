// SPDX-License-Identifier: MIT
// cub::DeviceHistogram compared with sequential loops: even bins, bins of any width, several channels.
#include <algorithm>
#include <cub/device/device_histogram.cuh>

#include "cub.hpp"

namespace {

void even(int n) {
  const auto samples = made<std::uint8_t>(n, 1, [](Numbers& r) {
    return static_cast<std::uint8_t>(r.below(4) == 0 ? 7 : r.below(256));  // one bin is frequent
  });
  std::vector<int> counts(256);
  for (const auto s : samples) ++counts[s];
  const Array<std::uint8_t> d_samples(samples);
  const Array<int> d_counts(std::vector<int>(256));  // CUB does not write them if there are no samples
  CUB(DeviceHistogram::HistogramEven, d_samples.get(), d_counts.get(), 257, 0, 256, n);
  EXPECT(d_counts.values() == counts);
}

void ranges(int n) {
  const std::vector<float> levels = {-10.0f, -1.0f, 0.0f, 0.5f, 8.0f, 9.0f, 100.0f};
  const auto samples =
      made<float>(n, 2, [](Numbers& r) { return static_cast<float>(r.below(40000)) * 0.005f - 50.0f; });
  std::vector<int> counts(levels.size() - 1);
  for (const float s : samples) {
    const auto above = std::upper_bound(levels.begin(), levels.end(), s);
    if (above != levels.begin() && above != levels.end())
      ++counts[static_cast<std::size_t>(above - levels.begin() - 1)];
  }
  const Array<float> d_samples(samples), d_levels(levels);
  const Array<int> d_counts(std::vector<int>(counts.size()));
  CUB(DeviceHistogram::HistogramRange, d_samples.get(), d_counts.get(), static_cast<int>(levels.size()),
      d_levels.get(), n);
  EXPECT(d_counts.values() == counts);
}

// Pixels with four channels, three of which are counted.
void channels(int n_pixels) {
  const auto samples = random_bits<std::uint8_t>(4 * n_pixels, 3);
  std::vector<int> counts[3] = {std::vector<int>(64), std::vector<int>(64), std::vector<int>(64)};
  for (std::size_t k = 0; k < samples.size(); ++k)
    if (k % 4 < 3) ++counts[k % 4][samples[k] / 4];
  const Array<std::uint8_t> d_samples(samples);
  const std::vector<int> none(64);
  const Array<int> d_red(none), d_green(none), d_blue(none);
  int* d_counts[3] = {d_red.get(), d_green.get(), d_blue.get()};
  int n_levels[3] = {65, 65, 65}, low[3] = {0, 0, 0}, high[3] = {256, 256, 256};
  with_temporary([&](void* t, std::size_t& b) {
    return cub::DeviceHistogram::MultiHistogramEven<4, 3>(t, b, d_samples.get(), d_counts, n_levels, low,
                                                          high, n_pixels);
  });
  EXPECT(d_red.values() == counts[0] && d_green.values() == counts[1] && d_blue.values() == counts[2]);
}

}  // namespace

int main() {
  for (const int n : kSizes) {
    even(n);
    ranges(n);
    channels(n / 4);
  }
}
