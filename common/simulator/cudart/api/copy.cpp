// SPDX-License-Identifier: MIT
// Copies and fills, synchronous and in streams. Compiled twice, see api.hpp.
#include "cudart/api/api.hpp"
#include "cudart/runtime/memory/memory.hpp"
#include "cudart/runtime/stream.hpp"

using namespace course::cudart;  // NOLINT: this file is only their exported face

namespace {

// A synchronous call uses the default stream and waits, which is not allowed during capture.
Submission default_stream() {
  return {stream_or_default(nullptr), true};
}

cudaError_t submit_and_wait(Operation operation, const char* call = CALLER) {
  return uncaptured_api([&] { return submit(default_stream(), std::move(operation)); }, call);
}

cudaError_t submit_async(cudaStream_t stream, Operation operation, const char* call = CALLER) {
  return device_api([&] { return submit(stream_or_default(stream), std::move(operation)); }, call);
}

CopyOp copy_2d(void* dst, size_t dst_pitch, const void* src, size_t src_pitch, size_t width, size_t height,
               cudaMemcpyKind kind) {
  CopyOp copy = linear_copy(dst, src, width, kind);
  copy.dst_pitch = dst_pitch;
  copy.src_pitch = src_pitch;
  copy.height = height;
  return copy;
}

// cudaMemcpy2D requires pitches of at least the width, even for a single row.
Status check_pitches(size_t dst_pitch, size_t src_pitch, size_t width, size_t height) {
  if (width <= dst_pitch && width <= src_pitch) return cudaSuccess;
  return fail(height > 1 ? cudaErrorInvalidPitchValue : cudaErrorInvalidValue,
              "rows of {} bytes do not fit the pitches {} (destination) and {} (source)", width, dst_pitch,
              src_pitch);
}

FillOp fill_1d(void* dst, int value, size_t n_bytes) {
  FillOp fill;
  fill.dst = static_cast<std::byte*>(dst);
  fill.value = static_cast<unsigned>(value);
  fill.width = n_bytes;
  return fill;
}

FillOp fill_2d(void* dst, size_t pitch, int value, size_t width, size_t height) {
  FillOp fill = fill_1d(dst, value, width);
  fill.pitch = pitch;
  fill.height = height;
  return fill;
}

FillOp fill_3d(const cudaPitchedPtr& dst, int value, const cudaExtent& extent) {
  FillOp fill = fill_2d(dst.ptr, dst.pitch, value, extent.width, extent.height);
  fill.slice = dst.pitch * dst.ysize;
  fill.depth = extent.depth;
  return fill;
}

Status copy_to_symbol(Context& context, const void* symbol, const void* src, size_t n_bytes, size_t offset,
                      cudaMemcpyKind kind, Submission where) {
  if (kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
    return fail(cudaErrorInvalidMemcpyDirection,
                "the destination is a symbol, which is on the device: the direction must be "
                "cudaMemcpyHostToDevice, cudaMemcpyDeviceToDevice or cudaMemcpyDefault");
  std::byte* dst = nullptr;
  if (Status status = find_symbol_bytes(context, symbol, n_bytes, offset, dst); !status.ok()) return status;
  return submit(where, linear_copy(dst, src, n_bytes, kind));
}

Status copy_from_symbol(Context& context, void* dst, const void* symbol, size_t n_bytes, size_t offset,
                        cudaMemcpyKind kind, Submission where) {
  if (kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
    return fail(cudaErrorInvalidMemcpyDirection,
                "the source is a symbol, which is on the device: the direction must be "
                "cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice or cudaMemcpyDefault");
  std::byte* src = nullptr;
  if (Status status = find_symbol_bytes(context, symbol, n_bytes, offset, src); !status.ok()) return status;
  return submit(where, linear_copy(dst, src, n_bytes, kind));
}

Status copy_3d(const cudaMemcpy3DParms* parameters, Submission where) {
  if (parameters == nullptr) return fail(cudaErrorInvalidValue, "the parameters are a null pointer");
  CopyOp copy;
  if (Status status = make_copy(*parameters, copy); !status.ok()) return status;
  return submit(where, copy);
}

}  // namespace

CUDART_API TWIN_SYNC(cudaMemcpy)(void* dst, const void* src, size_t n_bytes, cudaMemcpyKind kind) {
  return submit_and_wait(linear_copy(dst, src, n_bytes, kind));
}

CUDART_API TWIN(cudaMemcpyAsync)(void* dst, const void* src, size_t n_bytes, cudaMemcpyKind kind,
                                 cudaStream_t stream) {
  return submit_async(stream, linear_copy(dst, src, n_bytes, kind));
}

CUDART_API TWIN_SYNC(cudaMemcpy2D)(void* dst, size_t dst_pitch, const void* src, size_t src_pitch,
                                   size_t width, size_t height, cudaMemcpyKind kind) {
  return uncaptured_api([&]() -> Status {
    if (Status status = check_pitches(dst_pitch, src_pitch, width, height); !status.ok()) return status;
    return submit(default_stream(), copy_2d(dst, dst_pitch, src, src_pitch, width, height, kind));
  });
}

CUDART_API TWIN(cudaMemcpy2DAsync)(void* dst, size_t dst_pitch, const void* src, size_t src_pitch,
                                   size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return device_api([&]() -> Status {
    if (Status status = check_pitches(dst_pitch, src_pitch, width, height); !status.ok()) return status;
    return submit(stream_or_default(stream), copy_2d(dst, dst_pitch, src, src_pitch, width, height, kind));
  });
}

CUDART_API TWIN_SYNC(cudaMemcpy3D)(const cudaMemcpy3DParms* parameters) {
  return uncaptured_api([&] { return copy_3d(parameters, default_stream()); });
}

CUDART_API TWIN(cudaMemcpy3DAsync)(const cudaMemcpy3DParms* parameters, cudaStream_t stream) {
  return device_api([&] { return copy_3d(parameters, stream_or_default(stream)); });
}

CUDART_API TWIN_SYNC(cudaMemcpyToSymbol)(const void* symbol, const void* src, size_t n_bytes, size_t offset,
                                         cudaMemcpyKind kind) {
  return uncaptured_api([&](Context& context) {
    return copy_to_symbol(context, symbol, src, n_bytes, offset, kind, default_stream());
  });
}

CUDART_API TWIN(cudaMemcpyToSymbolAsync)(const void* symbol, const void* src, size_t n_bytes, size_t offset,
                                         cudaMemcpyKind kind, cudaStream_t stream) {
  return device_api([&](Context& context) {
    return copy_to_symbol(context, symbol, src, n_bytes, offset, kind, stream_or_default(stream));
  });
}

CUDART_API TWIN_SYNC(cudaMemcpyFromSymbol)(void* dst, const void* symbol, size_t n_bytes, size_t offset,
                                           cudaMemcpyKind kind) {
  return uncaptured_api([&](Context& context) {
    return copy_from_symbol(context, dst, symbol, n_bytes, offset, kind, default_stream());
  });
}

CUDART_API TWIN(cudaMemcpyFromSymbolAsync)(void* dst, const void* symbol, size_t n_bytes, size_t offset,
                                           cudaMemcpyKind kind, cudaStream_t stream) {
  return device_api([&](Context& context) {
    return copy_from_symbol(context, dst, symbol, n_bytes, offset, kind, stream_or_default(stream));
  });
}

CUDART_API TWIN_SYNC(cudaMemset)(void* dst, int value, size_t n_bytes) {
  return submit_and_wait(fill_1d(dst, value, n_bytes));
}

CUDART_API TWIN(cudaMemsetAsync)(void* dst, int value, size_t n_bytes, cudaStream_t stream) {
  return submit_async(stream, fill_1d(dst, value, n_bytes));
}

CUDART_API TWIN_SYNC(cudaMemset2D)(void* dst, size_t pitch, int value, size_t width, size_t height) {
  return submit_and_wait(fill_2d(dst, pitch, value, width, height));
}

CUDART_API TWIN(cudaMemset2DAsync)(void* dst, size_t pitch, int value, size_t width, size_t height,
                                   cudaStream_t stream) {
  return submit_async(stream, fill_2d(dst, pitch, value, width, height));
}

CUDART_API TWIN_SYNC(cudaMemset3D)(cudaPitchedPtr dst, int value, cudaExtent extent) {
  return submit_and_wait(fill_3d(dst, value, extent));
}

CUDART_API TWIN(cudaMemset3DAsync)(cudaPitchedPtr dst, int value, cudaExtent extent, cudaStream_t stream) {
  return submit_async(stream, fill_3d(dst, value, extent));
}
