// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "lab/testing/photo_on_cpu.hpp"

namespace course::reduction {

extern const lab::PhotoStage kPhotoStage;

TEST(ReductionStage, ExposesAsTheEquationsSay) {
  lab::Photo photo = lab::photo_for_tests();
  photo.rgb[0] = photo.rgb[1] = photo.rgb[2] = 500;  // a lamp
  const lab::Photo after = developed(kPhotoStage, photo);
  double sum = 0, most = 0;
  for (std::size_t i = 0; i < photo.n_pixels(); ++i) {
    sum += std::log(1e-6 + static_cast<double>(luminance(photo, i)));
    most = std::max(most, static_cast<double>(luminance(photo, i)));
  }
  const double key = 0.18 / std::exp(sum / static_cast<double>(photo.n_pixels())), white = key * most;
  for (std::size_t i = 0; i < photo.n_pixels(); ++i) {
    const double light = key * static_cast<double>(luminance(photo, i));
    const double expected = light * (1 + light / (white * white)) / (1 + light);
    ASSERT_NEAR(static_cast<double>(luminance(after, i)), expected, 1e-4) << i;
  }
  EXPECT_NEAR(luminance(after, 0), 1, 1e-4) << "the brightest is white";
}

}  // namespace course::reduction
