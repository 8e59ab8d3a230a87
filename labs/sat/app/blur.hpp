// SPDX-License-Identifier: MIT
// Filters pictures with the lab's tasks: for each channel a table, then a box filter by four look-ups. The
// tasks are those of whatever sat.cu the program is linked with: the solution's, or a student's.
// blur.cpp runs them on the device (or on the simulator, when its library is found first); reference.cpp
// needs no device: radii_for() says how large the box of each pixel is for a depth of field, reference_blur()
// what blur() must give.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "sat/app/image.hpp"
#include "sat/lab.hpp"

namespace course::sat::app {

struct BlurOptions {
  std::uint64_t radius = 0;              // of every pixel's box, unless it has one of its own
  std::span<const std::uint32_t> radii;  // empty, or one for each pixel, row by row
  Corner corner = Corner::top_left;      // the table's; the picture does not depend on it
  std::string task;                      // that makes the table; "": the highest one that is written
};

struct Blurred {
  Image image;
  std::string task;  // that made the table
};

Result<Blurred> blur(const Image& image, const BlurOptions& options);

// What blur() must give: the same tables and look-ups on the CPU.
Image reference_blur(const Image& image, const BlurOptions& options);

// Approximate depth of field: nothing is blurred at the focal distance, and `strength` pixels to each side
// for each unit of depth away from it; at most kMaxRadius.
inline constexpr std::uint32_t kMaxRadius = 4096;
std::vector<std::uint32_t> radii_for(const DepthMap& depth, float focal_distance, float strength);

// One channel of a picture by itself.
std::vector<std::uint8_t> channel_of(const Image& image, std::size_t channel);
// A mean as a byte: to the nearest one.
std::uint8_t to_byte(float mean);

}  // namespace course::sat::app
