// SPDX-License-Identifier: MIT
// Fuzz target: files of photos.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "photo/image.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (const auto photo = course::grader::photo_of("photo", {data, size});
      photo && photo->rgb.size() != 3 * photo->n_pixels())
    std::abort();
  return 0;
}
