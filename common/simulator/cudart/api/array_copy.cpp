// SPDX-License-Identifier: MIT
// Copies to and from arrays. Offsets into rows and widths are in bytes. Compiled twice, see api.hpp.
#include "cudart/api/api.hpp"
#include "cudart/runtime/memory/array.hpp"
#include "cudart/runtime/memory/memory.hpp"
#include "cudart/runtime/stream.hpp"

using namespace course::cudart;  // NOLINT: this file is only their exported face

namespace {

Status make_copy_to(CopyOp& copy, cudaArray_t dst, size_t offset, size_t row, const void* src, size_t pitch,
                    size_t width, size_t height, cudaMemcpyKind kind) {
  if (height > 1 && pitch < width)
    return fail(cudaErrorInvalidPitchValue, "rows of {} bytes do not fit the pitch {}", width, pitch);
  copy = linear_copy(nullptr, src, width, kind);
  copy.height = height;
  copy.src_pitch = pitch;
  if (Status status = array_rows(dst, offset, row, width, height, copy.dst); !status.ok()) return status;
  copy.dst_pitch = dst->row_bytes();
  return cudaSuccess;
}

Status make_copy_from(CopyOp& copy, void* dst, size_t pitch, cudaArray_const_t src, size_t offset, size_t row,
                      size_t width, size_t height, cudaMemcpyKind kind) {
  if (height > 1 && pitch < width)
    return fail(cudaErrorInvalidPitchValue, "rows of {} bytes do not fit the pitch {}", width, pitch);
  copy = linear_copy(dst, nullptr, width, kind);
  copy.height = height;
  copy.dst_pitch = pitch;
  std::byte* start = nullptr;
  if (Status status = array_rows(src, offset, row, width, height, start); !status.ok()) return status;
  copy.src = start;
  copy.src_pitch = src->row_bytes();
  return cudaSuccess;
}

// The start of a run of `n_bytes` bytes in an array. The run may span several rows, because rows have no
// gaps.
Status run_of_bytes(cudaArray_const_t array, size_t offset, size_t row, size_t n_bytes, std::byte*& start) {
  if (Status status = array_rows(array, offset, row, 0, 0, start); !status.ok()) return status;
  const auto from = static_cast<size_t>(start - array->base);
  if (n_bytes > array->slice_bytes() - from)
    return fail(cudaErrorInvalidValue, "{} bytes from byte {} on leave the array of {} bytes", n_bytes, from,
                array->slice_bytes());
  return cudaSuccess;
}

Status make_run_to(CopyOp& copy, cudaArray_t dst, size_t offset, size_t row, const void* src, size_t n_bytes,
                   cudaMemcpyKind kind) {
  std::byte* start = nullptr;
  if (Status status = run_of_bytes(dst, offset, row, n_bytes, start); !status.ok()) return status;
  copy = linear_copy(start, src, n_bytes, kind);
  return cudaSuccess;
}

Status make_run_from(CopyOp& copy, void* dst, cudaArray_const_t src, size_t offset, size_t row,
                     size_t n_bytes, cudaMemcpyKind kind) {
  std::byte* start = nullptr;
  if (Status status = run_of_bytes(src, offset, row, n_bytes, start); !status.ok()) return status;
  copy = linear_copy(dst, start, n_bytes, kind);
  return cudaSuccess;
}

// Submits the copy that `make` fills in to the stream; waits for it if the call is synchronous.
template <typename Make>
cudaError_t run(bool waits, cudaStream_t stream, const Make& make, const char* call = CALLER) {
  return device_api(
      [&]() -> Status {
        if (waits)
          if (Status status = forbid_while_capturing(call); !status.ok()) return status;
        CopyOp copy;
        if (Status status = make(copy); !status.ok()) return status;
        return submit({stream_or_default(stream), waits}, copy);
      },
      call);
}

}  // namespace

CUDART_API TWIN_SYNC(cudaMemcpy2DToArray)(cudaArray_t dst, size_t offset, size_t row, const void* src,
                                          size_t pitch, size_t width, size_t height, cudaMemcpyKind kind) {
  return run(true, nullptr, [&](CopyOp& copy) {
    return make_copy_to(copy, dst, offset, row, src, pitch, width, height, kind);
  });
}

CUDART_API TWIN(cudaMemcpy2DToArrayAsync)(cudaArray_t dst, size_t offset, size_t row, const void* src,
                                          size_t pitch, size_t width, size_t height, cudaMemcpyKind kind,
                                          cudaStream_t stream) {
  return run(false, stream, [&](CopyOp& copy) {
    return make_copy_to(copy, dst, offset, row, src, pitch, width, height, kind);
  });
}

CUDART_API TWIN_SYNC(cudaMemcpy2DFromArray)(void* dst, size_t pitch, cudaArray_const_t src, size_t offset,
                                            size_t row, size_t width, size_t height, cudaMemcpyKind kind) {
  return run(true, nullptr, [&](CopyOp& copy) {
    return make_copy_from(copy, dst, pitch, src, offset, row, width, height, kind);
  });
}

CUDART_API TWIN(cudaMemcpy2DFromArrayAsync)(void* dst, size_t pitch, cudaArray_const_t src, size_t offset,
                                            size_t row, size_t width, size_t height, cudaMemcpyKind kind,
                                            cudaStream_t stream) {
  return run(false, stream, [&](CopyOp& copy) {
    return make_copy_from(copy, dst, pitch, src, offset, row, width, height, kind);
  });
}

CUDART_API TWIN_SYNC(cudaMemcpyToArray)(cudaArray_t dst, size_t offset, size_t row, const void* src,
                                        size_t n_bytes, cudaMemcpyKind kind) {
  return run(true, nullptr,
             [&](CopyOp& copy) { return make_run_to(copy, dst, offset, row, src, n_bytes, kind); });
}

CUDART_API TWIN_SYNC(cudaMemcpyFromArray)(void* dst, cudaArray_const_t src, size_t offset, size_t row,
                                          size_t n_bytes, cudaMemcpyKind kind) {
  return run(true, nullptr,
             [&](CopyOp& copy) { return make_run_from(copy, dst, src, offset, row, n_bytes, kind); });
}
