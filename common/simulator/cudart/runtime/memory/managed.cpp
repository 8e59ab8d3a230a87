// SPDX-License-Identifier: MIT
#include "cudart/runtime/memory/managed.hpp"

#include "cudart/runtime/memory/memory.hpp"

namespace course::cudart {
namespace {

Status check_managed(const void* pointer, std::size_t n_bytes, const char* what) {
  if (n_bytes == 0) return fail(cudaErrorInvalidValue, "{} of 0 bytes", what);
  if (Status status = check_range(pointer, n_bytes, what); !status.ok()) return status;
  const auto place = locate(pointer);
  // Managed __device__ variables belong to their module.
  if (place && (place->kind == sim::MemoryKind::managed || place->kind == sim::MemoryKind::module_variable))
    return cudaSuccess;
  return fail(cudaErrorInvalidValue, "{} of {}, which is not managed memory", what, pointer);
}

Status check_location(const cudaMemLocation& location) {
  if (location.type == cudaMemLocationTypeDevice && !runtime().is_device(location.id)) {
    return fail(cudaErrorInvalidDevice, "there is no device {}", location.id);
  }
  return location.type > cudaMemLocationTypeHostNumaCurrent ? Status(cudaErrorInvalidValue) : Status();
}

}  // namespace

Status advise(const void* pointer, std::size_t n_bytes, cudaMemoryAdvise advice,
              const cudaMemLocation& location) {
  if (advice < cudaMemAdviseSetReadMostly || advice > cudaMemAdviseUnsetAccessedBy)
    return cudaErrorInvalidValue;
  const bool about_reads = advice == cudaMemAdviseSetReadMostly || advice == cudaMemAdviseUnsetReadMostly;
  if (!about_reads)
    if (Status status = check_location(location); !status.ok()) return status;
  return check_managed(pointer, n_bytes, "advice");
}

Status prefetch(const void* pointer, std::size_t n_bytes, const cudaMemLocation& location) {
  if (Status status = check_location(location); !status.ok()) return status;
  return check_managed(pointer, n_bytes, "prefetch");
}

cudaMemLocation location_of_ordinal(int device) {
  constexpr int kHost = -1;
  return device == kHost ? cudaMemLocation{cudaMemLocationTypeHost, 0}
                         : cudaMemLocation{cudaMemLocationTypeDevice, device};
}

}  // namespace course::cudart
