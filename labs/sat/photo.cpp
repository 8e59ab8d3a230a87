// SPDX-License-Identifier: MIT
// The depth of field of ./lab photo: each pixel becomes the mean of a box whose radius grows with the pixel's
// distance from the focus. The table gives each mean in four look-ups, whatever the radius. Approximate: a
// lens would not mix what is in front of the focus into what is behind it.
#include "lab/photo.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "sat/lab.hpp"

namespace course::sat {

const lab::Problem& problem();

namespace {

constexpr float kStrength = 1 / 28.0f;  // radius at the distance 1 from the focus, as a share of the width

void focus(lab::Photo& photo, lab::Kernels& kernels) {
  std::vector<std::uint32_t> radii(photo.n_pixels());
  for (std::size_t i = 0; i < radii.size(); ++i) {
    const float away = std::abs(photo.depth[i] - photo.focus);
    radii[i] = static_cast<std::uint32_t>(kStrength * away * static_cast<float>(photo.width) + 0.5f);
  }
  auto c =
      lab::make_case({"top_left_u8"}, Corner::top_left, lab::DType::u8, radii.size(), lab::Pattern::random);
  c.params[kWidth] = static_cast<std::int64_t>(photo.width);
  c.params[kHeight] = static_cast<std::int64_t>(photo.height);
  auto box = c;
  box.dtype = lab::DType::u32;
  box.params[kHasRadii] = 1;

  std::vector<std::uint8_t> levels(radii.size());
  for (std::size_t channel = 0; channel < 3; ++channel) {
    for (std::size_t i = 0; i < levels.size(); ++i)
      levels[i] = static_cast<std::uint8_t>(lab::level_of(lab::tone_of(photo.rgb[3 * i + channel]), 256));
    // Two tasks of the summed area table lab: one makes the table, the other looks up the boxes.
    const auto table = kernels.run({"single_pass", "transpose", "rows_columns", "serial"}, c,
                                   {std::as_bytes(std::span(levels))});
    const auto means = kernels.run({"box"}, box, {table[0].bytes, std::as_bytes(std::span(radii))});
    for (std::size_t i = 0; i < levels.size(); ++i)
      photo.rgb[3 * i + channel] = lab::light_of(std::clamp(means[0].as<float>()[i] / 255, 0.0f, 1.0f));
  }
}

}  // namespace

extern const lab::PhotoStage kPhotoStage{problem, 7, "blurs what is out of focus", focus};

}  // namespace course::sat
