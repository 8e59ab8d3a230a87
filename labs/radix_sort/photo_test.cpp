// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lab/testing/photo_on_cpu.hpp"

namespace course::radix_sort {

extern const lab::PhotoStage kPhotoStage;

// The photo without red around every pixel whose score is close to the best.
lab::Photo plainly_corrected(lab::Photo photo) {
  const std::vector<float> scores = red_eye_scores(photo);
  const float best = *std::ranges::max_element(scores);
  const auto radius = static_cast<int>(pupil_radius(photo));
  for (std::size_t middle = 0; middle < scores.size(); ++middle) {
    if (scores[middle] < 0.75f * best) continue;
    for (int y = -radius; y <= radius; ++y) {
      for (int x = -radius; x <= radius; ++x) {
        const std::size_t at = middle + static_cast<std::size_t>(y * static_cast<int>(photo.width) + x);
        if (x * x + y * y <= radius * radius && at < photo.n_pixels() && redness(photo, at) > 0.3f)
          photo.rgb[3 * at] = (photo.rgb[3 * at + 1] + photo.rgb[3 * at + 2]) / 2;
      }
    }
  }
  return photo;
}

TEST(RadixSortStage, CorrectsTheBestSuspects) {
  lab::Photo photo = lab::photo_for_tests();
  const lab::Photo expected = plainly_corrected(photo);
  EXPECT_EQ(developed(kPhotoStage, photo).rgb, expected.rgb) << "all pixels are suspects";
  EXPECT_LT(redness(expected, 40 * photo.width + 50), 0.1f);
  EXPECT_LT(redness(expected, 42 * photo.width + 90), 0.1f);

  const std::vector<float> scores = red_eye_scores(photo);
  photo.suspects.emplace();
  for (std::uint32_t i = 0; i < scores.size(); ++i)
    if (scores[i] > 0.1f) photo.suspects->push_back(i);
  EXPECT_EQ(developed(kPhotoStage, photo).rgb, expected.rgb) << "as are the best of some";
  photo.suspects->clear();
  EXPECT_EQ(developed(kPhotoStage, photo).rgb, photo.rgb) << "nothing is suspect";
}

}  // namespace course::radix_sort
