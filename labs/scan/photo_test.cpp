// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lab/testing/photo_on_cpu.hpp"

namespace course::scan {

extern const lab::PhotoStage kPhotoStage;

// The share of a tile's pixels that are at most as bright, counted one by one.
float share_of(const lab::Photo& photo, std::size_t row, std::size_t column, std::uint32_t level) {
  std::vector<int> counts(256);
  for (std::size_t i = 0; i < photo.n_pixels(); ++i)
    if (i / photo.width * 8 / photo.height == row && i % photo.width * 8 / photo.width == column)
      ++counts[lab::level_of(lab::tone_of(luminance(photo, i)), 256)];
  const int most = 3 * static_cast<int>(photo.n_pixels() / (64 * 256) + 1);
  int cut = 0, sum = 0;
  for (const int count : counts) cut += std::max(0, count - most);
  for (std::uint32_t k = 0; k <= level; ++k) sum += std::min(counts[k], most) + cut / 256;
  return static_cast<float>(sum) / (static_cast<float>(photo.n_pixels()) / 64);
}

TEST(ScanStage, EqualisesTilesAndBlendsBetweenTheirMiddles) {
  const lab::Photo photo = lab::photo_for_tests();
  const lab::Photo after = developed(kPhotoStage, photo);
  for (std::size_t i = 0; i < photo.n_pixels(); i += 97) {
    const float tone = lab::tone_of(luminance(photo, i));
    float equal = 0;
    for (std::size_t row = 0; row < 8; ++row) {
      for (std::size_t column = 0; column < 8; ++column) {
        const auto weight = [](std::size_t at, std::size_t size, std::size_t tile) {
          const float where =
              std::clamp((static_cast<float>(at) + 0.5f) * 8 / static_cast<float>(size) - 0.5f, 0.0f, 7.0f);
          return std::max(0.0f, 1 - std::abs(where - static_cast<float>(tile)));
        };
        const float part =
            weight(i / photo.width, photo.height, row) * weight(i % photo.width, photo.width, column);
        if (part > 0) equal += part * share_of(photo, row, column, lab::level_of(tone, 256));
      }
    }
    ASSERT_NEAR(lab::tone_of(luminance(after, i)), (tone + std::min(equal, 1.0f)) / 2, 1e-3f) << i;
  }
}

}  // namespace course::scan
