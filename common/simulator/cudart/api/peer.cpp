// SPDX-License-Identifier: MIT
// Copies between devices; CUDA has no per-thread versions of these.
#include "cudart/api/api.hpp"
#include "cudart/runtime/memory/memory.hpp"
#include "cudart/runtime/stream.hpp"

using namespace course::cudart;  // NOLINT: this file is only their exported face

namespace {

// Checks that an argument of a copy between devices lies on the device given in the call.
Status check_peer(const void* pointer, int device, const char* what) {
  if (!runtime().is_device(device)) return fail(cudaErrorInvalidDevice, "there is no device {}", device);
  const auto place = locate(pointer);
  if (!place || place->context->ordinal != device) {
    return fail(cudaErrorInvalidValue, "the {} {} is not memory of device {}", what, pointer, device);
  }
  return cudaSuccess;
}

Status copy_peer(void* dst, int dst_device, const void* src, int src_device, size_t n_bytes,
                 cudaStream_t stream) {
  if (n_bytes == 0) return cudaSuccess;
  if (Status status = check_peer(dst, dst_device, "destination"); !status.ok()) return status;
  if (Status status = check_peer(src, src_device, "source"); !status.ok()) return status;
  return submit(stream, linear_copy(dst, src, n_bytes, cudaMemcpyDeviceToDevice));
}

}  // namespace

CUDART_API cudaMemcpyPeer(void* dst, int dst_device, const void* src, int src_device, size_t n_bytes) {
  return uncaptured_api([&] { return copy_peer(dst, dst_device, src, src_device, n_bytes, nullptr); });
}

CUDART_API cudaMemcpyPeerAsync(void* dst, int dst_device, const void* src, int src_device, size_t n_bytes,
                               cudaStream_t stream) {
  return device_api([&] { return copy_peer(dst, dst_device, src, src_device, n_bytes, stream); });
}
