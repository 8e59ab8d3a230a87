// SPDX-License-Identifier: MIT
// Image files: PNG (through stb), and the plain formats PGM, PPM and PFM. Row 0 is the top row, whichever row
// is first in the file. For any contents of a file, reading returns either an image or an Error that says
// what is wrong with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace course::sat::app {

// The largest image; larger ones are refused before any memory is allocated for them.
inline constexpr std::size_t kMaxSide = 16384;          // pixels
inline constexpr std::size_t kMaxPixels = 1 << 26;      // in all
inline constexpr std::size_t kMaxFileBytes = 1u << 30;  // several times the largest image

// Bytes, row by row, without gaps; the channels of a pixel are neighbours.
struct Image {
  std::size_t width = 0, height = 0;
  std::size_t channels = 1;  // 1: grey, 3: red, green, blue
  std::vector<std::uint8_t> bytes;
};

// One number per pixel: its distance from the camera. Files of integers give 0 (nearest) … 1, a PFM its own
// numbers.
struct DepthMap {
  std::size_t width = 0, height = 0;
  std::vector<float> depths;  // finite
};

// PNG of 8 or 16 bits (transparency is ignored), PGM, PPM; recognised by their first bytes, not by their
// names.
Result<Image> read_image(const std::string& path);
// Grey PNG of 8 or 16 bits, PGM of 8 or 16 bits, or a PFM with one channel.
Result<DepthMap> read_depth(const std::string& path);
// The extension of the path decides: .png, .pgm (grey only), .ppm (colour only).
Result<void> write_image(const std::string& path, const Image& image);

}  // namespace course::sat::app
