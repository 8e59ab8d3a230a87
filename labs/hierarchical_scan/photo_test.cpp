// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lab/testing/photo_on_cpu.hpp"

namespace course::hierarchical_scan {

extern const lab::PhotoStage kPhotoStage;

TEST(HierarchicalScanStage, MovesTonesTowardsTheirRank) {
  const lab::Photo photo = lab::photo_for_tests();
  const lab::Photo after = developed(kPhotoStage, photo);
  std::vector<std::uint32_t> levels;
  for (std::size_t i = 0; i < photo.n_pixels(); ++i)
    levels.push_back(lab::level_of(lab::tone_of(luminance(photo, i)), 65536));
  std::vector<std::uint32_t> sorted = levels;
  std::ranges::sort(sorted);
  for (std::size_t i = 0; i < photo.n_pixels(); ++i) {
    const auto rank = std::ranges::upper_bound(sorted, levels[i]) - sorted.begin();
    const float share = static_cast<float>(rank) / static_cast<float>(sorted.size());
    ASSERT_NEAR(lab::tone_of(luminance(after, i)), 0.7f * lab::tone_of(luminance(photo, i)) + 0.3f * share,
                1e-4f);
  }
}

}  // namespace course::hierarchical_scan
