// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lab/testing/photo_on_cpu.hpp"

namespace course::histogram {

extern const lab::PhotoStage kPhotoStage;

TEST(HistogramStage, MakesTheDarkestBlackAndTheBrightestWhite) {
  const lab::Photo photo = lab::photo_for_tests();
  const lab::Photo after = developed(kPhotoStage, photo);
  std::vector<std::uint32_t> levels;
  for (std::size_t i = 0; i < photo.n_pixels(); ++i)
    levels.push_back(lab::level_of(lab::tone_of(luminance(photo, i)), 256));
  std::ranges::sort(levels);
  const auto black = static_cast<float>(levels[levels.size() / 200]);
  const auto white = static_cast<float>(levels[levels.size() - 1 - levels.size() / 200]);
  for (std::size_t i = 0; i < photo.n_pixels(); ++i) {
    const float tone = (255 * lab::tone_of(luminance(photo, i)) - black) / (white - black);
    ASSERT_NEAR(lab::tone_of(luminance(after, i)), std::clamp(tone, 0.0f, 1.0f), 1e-4f) << i;
  }
}

}  // namespace course::histogram
