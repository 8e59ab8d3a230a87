// SPDX-License-Identifier: MIT
// Photos in files: PNG, JPEG and Radiance HDR through stb, and PFM. For any contents of a file, reading gives
// a photo or an Error that says what is wrong with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "lab/photo.hpp"

namespace course::grader {

// Larger ones are refused before any memory is allocated for them.
inline constexpr std::size_t kMaxSide = 16384;      // pixels
inline constexpr std::size_t kMaxPixels = 1 << 26;  // in all
inline constexpr std::size_t kMaxFileBytes = 1u << 29;

// The file's kind is recognised by its first bytes. PNG (8 or 16 bits) and JPEG hold tones, the others light.
Result<lab::Photo> read_photo(const std::string& path);
// The same of bytes; `name` begins messages.
Result<lab::Photo> photo_of(const std::string& name, std::span<const std::uint8_t> file);
// Sets the photo's depths: the tones of a grey PNG, or the numbers of a PFM, from 0 (near) to 1 (far).
Result<void> read_depth(const std::string& path, lab::Photo& photo);

// Each pixel is the mean of factor · factor of the photo's.
lab::Photo smaller(const lab::Photo& photo, std::size_t factor);

// Three bytes for each pixel, and the contents of a file with them.
std::vector<std::uint8_t> bytes_of(const lab::Photo& photo);
std::string png_of(const lab::Photo& photo);
std::string jpeg_of(const lab::Photo& photo);

}  // namespace course::grader
