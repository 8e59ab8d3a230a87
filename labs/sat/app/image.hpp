// SPDX-License-Identifier: MIT
// Pictures in files: PNG (through stb), and the plain formats PGM, PPM and PFM. Row 0 is the top row,
// whatever the file has first. Whatever a file holds, reading it ends in a picture or in an Error that says
// what is wrong with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace course::sat::app {

// What a picture may have at most: larger ones are refused before anything is allocated for them.
inline constexpr std::size_t kMaxSide = 16384;          // pixels
inline constexpr std::size_t kMaxPixels = 1 << 26;      // in all
inline constexpr std::size_t kMaxFileBytes = 1u << 30;  // a PFM of the largest size and a bit

// Bytes, row by row, without gaps; the channels of a pixel side by side.
struct Image {
  std::size_t width = 0, height = 0;
  std::size_t channels = 1;  // 1: grey, 3: red, green, blue
  std::vector<std::uint8_t> bytes;
};

// One number a pixel: how far it is from the camera. Files of integers give 0 (nearest) … 1, a PFM what it
// holds.
struct DepthMap {
  std::size_t width = 0, height = 0;
  std::vector<float> depths;  // finite
};

// PNG of 8 or 16 bits (transparency is ignored), PGM, PPM; told apart by their first bytes, not by their
// names.
Result<Image> read_image(const std::string& path);
// Grey PNG of 8 or 16 bits, PGM of either, or a PFM with one channel.
Result<DepthMap> read_depth(const std::string& path);
// By the ending of the path: .png, .pgm (grey only), .ppm (colour only).
Result<void> write_image(const std::string& path, const Image& image);

}  // namespace course::sat::app
