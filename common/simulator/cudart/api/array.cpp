// SPDX-License-Identifier: MIT
// Arrays: allocation, description, release.
#include "cudart/runtime/memory/array.hpp"
#include "cudart/api/api.hpp"
#include "cudart/runtime/handles.hpp"
#include "cudart/runtime/memory/memory.hpp"
#include "cudart/runtime/stream.hpp"

namespace course::cudart {
namespace {

Handles<cudaArray>& arrays() {
  static auto& table = *new Handles<cudaArray>;
  return table;
}

Status allocate_array(Context& context, cudaArray_t* out, const cudaChannelFormatDesc* format,
                      const cudaExtent& extent, unsigned flags) {
  if (out == nullptr || format == nullptr) return fail(cudaErrorInvalidValue, "a null pointer");
  if (Status status = check_format(*format); !status.ok()) return status;
  if ((flags & (cudaArrayCubemap | cudaArrayTextureGather)) != 0)
    return fail(cudaErrorNotSupported, "cube maps and gathers are not implemented");
  if ((flags & ~unsigned{cudaArrayLayered | cudaArraySurfaceLoadStore}) != 0)
    return fail(cudaErrorInvalidValue, "unknown flags {:#x}", flags);
  if (extent.width == 0) return fail(cudaErrorInvalidValue, "an array without width");
  if ((flags & cudaArrayLayered) == 0 && extent.depth > 0 && extent.height == 0)
    return fail(cudaErrorInvalidValue, "depth without height is for layers");
  auto array = std::make_unique<cudaArray>();
  array->context = &context;
  array->format = *format;
  array->extent = extent;
  array->flags = flags;
  constexpr std::uint64_t kMax = 1 << 17;
  if (extent.width > kMax || extent.height > kMax || extent.depth > kMax)
    return fail(cudaErrorInvalidValue, "an array of {} × {} × {}: at most {} along each", extent.width,
                extent.height, extent.depth, kMax);
  void* memory = nullptr;
  const std::uint64_t bytes = array->slice_bytes() * array->slices();
  Owned owned;
  owned.call = "cudaMallocArray";
  if (Status status = allocate(context, bytes, sim::MemoryKind::device, owned, &memory); !status.ok())
    return status;
  array->base = static_cast<std::byte*>(memory);
  *out = arrays().add(std::move(array));
  return cudaSuccess;
}

}  // namespace

bool is_array(cudaArray_const_t array) {
  return array != nullptr && arrays().contains(array);
}

Status check_format(const cudaChannelFormatDesc& f) {
  const int bits = f.x;
  const bool width_known = bits == 8 || bits == 16 || bits == 32;
  const bool in_step = (f.y == 0 || f.y == bits) && (f.z == 0 || f.z == bits) && (f.w == 0 || f.w == bits);
  const bool count_known = (f.z == 0) == (f.w == 0) && (f.y != 0 || f.z == 0);
  if (!width_known || !in_step || !count_known || f.f > cudaChannelFormatKindFloat ||
      (f.f == cudaChannelFormatKindFloat && bits == 8))
    return fail(cudaErrorInvalidChannelDescriptor,
                "channels of {}, {}, {} and {} bits: one, two or four of 8, 16 or 32 are known", f.x, f.y,
                f.z, f.w);
  return cudaSuccess;
}

Status array_rows(cudaArray_const_t array, std::uint64_t offset, std::uint64_t row, std::uint64_t width,
                  std::uint64_t height, std::byte*& start) {
  if (!is_array(array))
    return fail(cudaErrorInvalidResourceHandle, "that is not an array: freed, or never allocated");
  const std::uint64_t row_bytes = array->row_bytes(), rows = array->height();
  if (offset > row_bytes || width > row_bytes - offset || row > rows || height > rows - row)
    return fail(cudaErrorInvalidValue,
                "{} rows of {} bytes from row {}, byte {} leave the array: {} rows of {} bytes", height,
                width, row, offset, rows, row_bytes);
  start = array->base + row * row_bytes + offset;
  return cudaSuccess;
}

Status array_part(cudaArray_const_t array, const cudaPos& at, const cudaExtent& part, std::byte*& start) {
  if (Status status = array_rows(array, at.x * array->element_bytes(), at.y, part.width, part.height, start);
      !status.ok())
    return status;
  if (at.z > array->slices() || part.depth > array->slices() - at.z)
    return fail(cudaErrorInvalidValue, "{} slices from {} on leave the array, which has {}", part.depth, at.z,
                array->slices());
  start += at.z * array->slice_bytes();
  return cudaSuccess;
}

}  // namespace course::cudart

using namespace course::cudart;  // NOLINT: this file is only their exported face

CUDART_API cudaMallocArray(cudaArray_t* out, const cudaChannelFormatDesc* format, size_t width, size_t height,
                           unsigned flags) {
  return device_api([&](Context& context) {
    return allocate_array(context, out, format, {width, height, 0}, flags);
  });
}

CUDART_API cudaMalloc3DArray(cudaArray_t* out, const cudaChannelFormatDesc* format, cudaExtent extent,
                             unsigned flags) {
  return device_api([&](Context& context) { return allocate_array(context, out, format, extent, flags); });
}

CUDART_API cudaFreeArray(cudaArray_t array) {
  return device_api([&]() -> Status {
    if (array == nullptr) return cudaSuccess;
    if (Status status = forbid_while_capturing("cudaFreeArray"); !status.ok()) return status;
    const auto taken = arrays().take(array);
    if (!taken)
      return fail(cudaErrorContextIsDestroyed, "that is not an array: freed already, or never allocated");
    return release(*taken->context,
                   reinterpret_cast<std::uint64_t>(taken->base));  // NOLINT: an address of our arena
  });
}

CUDART_API cudaGetChannelDesc(cudaChannelFormatDesc* format, cudaArray_const_t array) {
  return device_api([&]() -> Status {
    if (format == nullptr) return cudaErrorInvalidValue;
    if (!is_array(array)) return fail(cudaErrorInvalidResourceHandle, "that is not an array");
    *format = array->format;
    return cudaSuccess;
  });
}
