// SPDX-License-Identifier: MIT
// Fuzz target: images and depth maps.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "sat/app/image.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace course::sat::app;
  static const int file = memfd_create("picture", 0);
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  if (ftruncate(file, 0) != 0 || pwrite(file, data, size, 0) != static_cast<ssize_t>(size)) std::abort();
  if (const auto image = read_image(path);
      image && image->bytes.size() != image->width * image->height * image->channels)
    std::abort();
  if (const auto map = read_depth(path); map && map->depths.size() != map->width * map->height) std::abort();
  return 0;
}
