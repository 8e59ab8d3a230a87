// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lab/testing/photo_on_cpu.hpp"

namespace course::compaction {

extern const lab::PhotoStage kPhotoStage;

TEST(CompactionStage, KeepsThePixelsWithHighScoresInOrder) {
  const lab::Photo photo = lab::photo_for_tests();
  const lab::Photo after = developed(kPhotoStage, photo);
  const std::vector<float> scores = red_eye_scores(photo);
  std::vector<std::uint32_t> expected;
  for (std::uint32_t i = 0; i < scores.size(); ++i)
    if (scores[i] > 0.1f) expected.push_back(i);
  EXPECT_EQ(after.suspects, expected);
  EXPECT_GT(expected.size(), 2u);
  EXPECT_LT(expected.size(), scores.size() / 10);
  EXPECT_EQ(after.rgb, photo.rgb);
}

}  // namespace course::compaction
