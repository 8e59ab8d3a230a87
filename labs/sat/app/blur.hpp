// SPDX-License-Identifier: MIT
// Filters images with the lab's tasks: for each channel a table, then a box filter by four look-ups. The
// tasks are those of the sat.cu with which the program is linked: the solution's, or a student's.
// blur.cpp runs them on the device (or on the simulator, if its library is found first). reference.cpp needs
// no device: radii_for() computes the radius of each pixel's box for a depth of field, reference_blur() the
// result that blur() must have.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "sat/app/image.hpp"
#include "sat/lab.hpp"

namespace course::sat::app {

struct BlurOptions {
  std::uint64_t radius = 0;              // of every pixel's box, unless it has its own
  std::span<const std::uint32_t> radii;  // empty, or one for each pixel, row by row
  Corner corner = Corner::top_left;      // the table's; it does not change the image
  std::string task;                      // that makes the table; "": the last one that is written
};

struct Blurred {
  Image image;
  std::string task;  // that made the table
};

Result<Blurred> blur(const Image& image, const BlurOptions& options);

// The result that blur() must have: the same tables and look-ups on the CPU.
Image reference_blur(const Image& image, const BlurOptions& options);

// Approximate depth of field: radius 0 at the focal distance, and `strength` pixels for each unit of depth
// away from it; at most kMaxRadius.
inline constexpr std::uint32_t kMaxRadius = 4096;
std::vector<std::uint32_t> radii_for(const DepthMap& depth, float focal_distance, float strength);

// The image, of whose pixels `share` is the reflection where the distance to a mirrored object is not 0.
Image with_reflection(Image image, const Image& reflection, const DepthMap& distance, float share);

// One channel of an image.
std::vector<std::uint8_t> channel_of(const Image& image, std::size_t channel);
// A mean, rounded to the nearest byte.
std::uint8_t to_byte(float mean);

}  // namespace course::sat::app
