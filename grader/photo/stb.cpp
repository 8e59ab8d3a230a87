// SPDX-License-Identifier: MIT
// The one file that compiles stb's code: its readers of PNG, JPEG and Radiance HDR, and its writers. The
// readers' allocations are limited, because a few bytes of a PNG can request gigabytes.
#include <cstddef>
#include <cstdlib>

namespace {

constexpr std::size_t kMaxAllocation = std::size_t{1}
                                       << 30;  // 2^26 pixels of 4 channels of 2 bytes need half of it

void* limited_malloc(std::size_t n_bytes) {
  return n_bytes > kMaxAllocation ? nullptr : std::malloc(n_bytes);
}
void* limited_realloc(void* block, std::size_t n_bytes) {
  return n_bytes > kMaxAllocation ? nullptr : std::realloc(block, n_bytes);
}

}  // namespace

#define STBI_MALLOC(n_bytes) limited_malloc(n_bytes)
#define STBI_REALLOC(block, n_bytes) limited_realloc(block, n_bytes)
#define STBI_FREE(block) std::free(block)
#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STBI_ONLY_HDR
#define STBI_NO_STDIO
#define STBI_MAX_DIMENSIONS 16384
#define STB_IMAGE_IMPLEMENTATION
#include <stb_image.h>
#define STBI_WRITE_NO_STDIO
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb_image_write.h>
