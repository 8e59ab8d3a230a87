// SPDX-License-Identifier: MIT
#include "lab/photo.hpp"

#include <algorithm>

namespace course::lab {

float redness(const Photo& photo, std::size_t pixel) {
  const float* rgb = &photo.rgb[3 * pixel];
  const float red = tone_of(rgb[0]), other = tone_of(std::max(rgb[1], rgb[2]));
  return red > other ? (red - other) / (red + 0.1f) : 0;
}

std::vector<float> red_eye_scores(const Photo& photo) {
  std::vector<float> red(photo.n_pixels()), scores(photo.n_pixels());
  for (std::size_t i = 0; i < red.size(); ++i) red[i] = redness(photo, i);
  const std::size_t frame = pupil_radius(photo), middle = frame / 4 + 1;
  for (std::size_t y = frame; y + frame < photo.height; ++y) {
    for (std::size_t x = frame; x + frame < photo.width; ++x) {
      const auto at = [&](std::size_t dx, std::size_t dy) { return red[(y + dy) * photo.width + x + dx]; };
      float inside = 0, around = 0;
      for (std::size_t dy = -middle; dy != middle + 1; ++dy)
        for (std::size_t dx = -middle; dx != middle + 1; ++dx) inside += at(dx, dy);
      for (std::size_t d = -frame; d != frame; ++d)
        around += at(d, -frame) + at(-d, frame) + at(-frame, -d) + at(frame, d);
      const auto size = static_cast<float>(2 * middle + 1);
      scores[y * photo.width + x] = inside / (size * size) - around / static_cast<float>(8 * frame);
    }
  }
  return scores;
}

}  // namespace course::lab
