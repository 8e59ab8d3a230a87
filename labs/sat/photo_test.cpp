// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "lab/testing/photo_on_cpu.hpp"

namespace course::sat {

extern const lab::PhotoStage kPhotoStage;

TEST(SatStage, BlursByTheDistanceFromTheFocus) {
  lab::Photo photo = lab::photo_for_tests();
  photo.focus = 0.25f;
  const lab::Photo after = developed(kPhotoStage, photo);
  const auto width = static_cast<std::int64_t>(photo.width), height = static_cast<std::int64_t>(photo.height);
  for (std::int64_t i = 0; i < width * height; i += 11) {
    const auto at = static_cast<std::size_t>(i);
    const auto radius = std::lround(std::abs(photo.depth[at] - photo.focus) * static_cast<float>(width) / 28);
    double sum = 0, n = 0;
    for (std::int64_t y = std::max<std::int64_t>(0, i / width - radius);
         y <= std::min(height - 1, i / width + radius); ++y)
      for (std::int64_t x = std::max<std::int64_t>(0, i % width - radius);
           x <= std::min(width - 1, i % width + radius); ++x, ++n)
        sum += lab::level_of(lab::tone_of(photo.rgb[3 * static_cast<std::size_t>(y * width + x) + 1]), 256);
    ASSERT_NEAR(255 * static_cast<double>(lab::tone_of(after.rgb[3 * at + 1])), sum / n, 1e-2) << i;
  }
}

}  // namespace course::sat
