// SPDX-License-Identifier: MIT
// CUDA arrays: elements in device memory, row after row without padding. Textures, surfaces and copies access
// them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cudart/runtime/runtime.hpp"
#include "cudart/runtime/status.hpp"

struct cudaArray {
  course::cudart::Context* context = nullptr;
  std::byte* base = nullptr;
  cudaChannelFormatDesc format{};
  cudaExtent extent{};  // as the program requested it: 0 for dimensions that a 1D or 2D array does not have
  unsigned flags = 0;

  std::uint64_t element_bytes() const {
    return static_cast<std::uint64_t>(format.x + format.y + format.z + format.w) / 8;
  }
  std::uint64_t height() const { return extent.height == 0 ? 1 : extent.height; }
  std::uint64_t slices() const { return extent.depth == 0 ? 1 : extent.depth; }
  std::uint64_t row_bytes() const { return extent.width * element_bytes(); }
  std::uint64_t slice_bytes() const { return row_bytes() * height(); }
};

namespace course::cudart {

bool is_array(cudaArray_const_t array);

// Where a part of an array starts: `at` is in elements, `part.width` in bytes. An error if the part leaves
// the array.
Status array_part(cudaArray_const_t array, const cudaPos& at, const cudaExtent& part, std::byte*& start);
// The same with the offset into a row in bytes.
Status array_rows(cudaArray_const_t array, std::uint64_t offset, std::uint64_t row, std::uint64_t width,
                  std::uint64_t height, std::byte*& start);

// An error unless textures support the format: one, two or four channels of 8, 16 or 32 bits.
Status check_format(const cudaChannelFormatDesc& format);

}  // namespace course::cudart
