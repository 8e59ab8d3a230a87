// SPDX-License-Identifier: MIT
// The CPU's part of blur(), and the same filter without a device.
#include <algorithm>
#include <cmath>

#include "sat/app/blur.hpp"
#include "sat/baseline.hpp"

namespace course::sat::app {

std::vector<std::uint8_t> channel_of(const Image& image, std::size_t channel) {
  std::vector<std::uint8_t> items(image.width * image.height);
  for (std::size_t i = 0; i < items.size(); ++i) items[i] = image.bytes[i * image.channels + channel];
  return items;
}

std::uint8_t to_byte(float mean) {
  return static_cast<std::uint8_t>(std::clamp(std::floor(mean + 0.5f), 0.0f, 255.0f));
}

Image reference_blur(const Image& image, const BlurOptions& options) {
  Image blurred = image;
  const std::size_t n = image.width * image.height;
  std::vector<std::uint32_t> table(n);
  std::vector<float> means(n);
  for (std::size_t channel = 0; channel < image.channels; ++channel) {
    const auto items = channel_of(image, channel);
    table_one_thread<std::uint8_t>(items, image.width, image.height, options.corner, table);
    box_filter_rows<std::uint32_t>(table, image.width, image.height, options.corner, options.radius,
                                   options.radii, means, 0, image.height);
    for (std::size_t i = 0; i < n; ++i) blurred.bytes[i * image.channels + channel] = to_byte(means[i]);
  }
  return blurred;
}

std::vector<std::uint32_t> radii_for(const DepthMap& depth, float focal_distance, float strength) {
  std::vector<std::uint32_t> radii(depth.depths.size());
  std::transform(depth.depths.begin(), depth.depths.end(), radii.begin(), [&](float d) {
    const float radius = std::round(strength * std::abs(d - focal_distance));
    return static_cast<std::uint32_t>(std::clamp(radius, 0.0f, static_cast<float>(kMaxRadius)));
  });
  return radii;
}

Image with_reflection(Image image, const Image& reflection, const DepthMap& distance, float share) {
  for (std::size_t i = 0; i < image.bytes.size(); ++i) {
    if (!(distance.depths[i / image.channels] > 0)) continue;
    image.bytes[i] = to_byte((1 - share) * static_cast<float>(image.bytes[i]) +
                             share * static_cast<float>(reflection.bytes[i]));
  }
  return image;
}

}  // namespace course::sat::app
