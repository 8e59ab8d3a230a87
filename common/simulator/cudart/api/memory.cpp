// SPDX-License-Identifier: MIT
// Allocation, and queries about pointers.
#include "cudart/runtime/memory/memory.hpp"
#include "cudart/api/api.hpp"
#include "cudart/runtime/memory/registered.hpp"
#include "cudart/runtime/operation.hpp"
#include "cudart/runtime/stream.hpp"

using namespace course::cudart;  // NOLINT: this file is only their exported face
using course::sim::MemoryKind;

namespace {

constexpr std::uint64_t kPitchAlignment = 512;  // bytes, as on current chips

std::uint64_t pitch_of(std::uint64_t width) {
  return (width + kPitchAlignment - 1) / kPitchAlignment * kPitchAlignment;
}

Status allocate_as(Context& context, const char* call, void** out, std::uint64_t n_bytes, MemoryKind kind,
                   Origin origin, unsigned flags) {
  if (Status status = check_out(out); !status.ok()) return status;
  if (Status status = forbid_while_capturing(call); !status.ok()) return status;
  Owned owned;
  owned.origin = origin;
  owned.call = call;
  owned.flags = flags;
  return allocate(context, n_bytes, kind, owned, out);
}

Status allocate_pitched(Context& context, const char* call, void** out, size_t* pitch, size_t width,
                        size_t height, size_t depth) {
  if (pitch == nullptr) return fail(cudaErrorInvalidValue, "the address of the pitch is null");
  *pitch = pitch_of(width);
  std::uint64_t n_bytes = 0;
  if (__builtin_mul_overflow(*pitch, height, &n_bytes) || __builtin_mul_overflow(n_bytes, depth, &n_bytes)) {
    return fail(cudaErrorMemoryAllocation, "{} x {} x {} bytes", width, height, depth);
  }
  return allocate_as(context, call, out, n_bytes, MemoryKind::device, Origin::pitched, 0);
}

// The pinned allocation that holds `pointer`.
Status find_pinned(const void* pointer, Place& place, Owned& owned) {
  const auto found = locate(pointer);
  if (!found || found->kind != MemoryKind::pinned_host) {
    return fail(cudaErrorInvalidValue,
                "{} is not memory of cudaMallocHost, cudaHostAlloc or cudaHostRegister", pointer);
  }
  place = *found;
  const std::lock_guard guard(place.context->lock);
  const auto known = place.context->owned.find(place.base);
  if (known == place.context->owned.end())
    return fail(cudaErrorInvalidValue, "{} is not memory of cudaMallocHost or cudaHostAlloc", pointer);
  owned = known->second;
  return cudaSuccess;
}

using Symbol = course::sim::Device::Symbol;
template <typename T, typename Fact>
cudaError_t of_symbol(T* out, const void* symbol, Fact&& fact, const char* call = CALLER) {
  return device_api(
      [&](Context& context) -> Status {
        Symbol found{};
        if (out == nullptr) return cudaErrorInvalidValue;
        Status status = find_symbol(context, symbol, found);
        if (status.ok()) *out = fact(found);
        return status;
      },
      call);
}

}  // namespace

CUDART_API cudaMalloc(void** out, size_t n_bytes) {
  return device_api([&](Context& context) {
    return allocate_as(context, "cudaMalloc", out, n_bytes, MemoryKind::device, Origin::device, 0);
  });
}

CUDART_API cudaMallocManaged(void** out, size_t n_bytes, unsigned flags) {
  return device_api([&](Context& context) -> Status {
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost)
      return fail(cudaErrorInvalidValue, "unknown flags {:#x}", flags);
    return allocate_as(context, "cudaMallocManaged", out, n_bytes, MemoryKind::managed, Origin::managed,
                       flags);
  });
}

CUDART_API cudaMallocHost(void** out, size_t n_bytes) {
  return device_api([&](Context& context) {
    return allocate_as(context, "cudaMallocHost", out, n_bytes, MemoryKind::pinned_host, Origin::host, 0);
  });
}

CUDART_API cudaHostAlloc(void** out, size_t n_bytes, unsigned flags) {
  return device_api([&](Context& context) -> Status {
    constexpr unsigned kKnown = cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
    if ((flags & ~kKnown) != 0) return fail(cudaErrorInvalidValue, "unknown flags {:#x}", flags);
    return allocate_as(context, "cudaHostAlloc", out, n_bytes, MemoryKind::pinned_host, Origin::host, flags);
  });
}

CUDART_API cudaMallocPitch(void** out, size_t* pitch, size_t width, size_t height) {
  return device_api([&](Context& context) {
    return allocate_pitched(context, "cudaMallocPitch", out, pitch, width, height, 1);
  });
}

CUDART_API cudaMalloc3D(cudaPitchedPtr* out, cudaExtent extent) {
  return device_api([&](Context& context) -> Status {
    if (out == nullptr) return cudaErrorInvalidValue;
    out->xsize = extent.width;
    out->ysize = extent.height;
    return allocate_pitched(context, "cudaMalloc3D", &out->ptr, &out->pitch, extent.width, extent.height,
                            extent.depth);
  });
}

CUDART_API cudaFree(void* pointer) {
  return uncaptured_api([&](Context& context) -> Status {
    (void)context.device();  // cudaFree(0) is how programs initialise the device
    if (const auto place = locate(pointer); place && free_graph_memory(*place->context, pointer))
      return cudaSuccess;
    return release_device(pointer);
  });
}

CUDART_API cudaFreeHost(void* pointer) {
  return uncaptured_api([&] { return release_host(pointer); });
}

CUDART_API cudaHostGetDevicePointer(void** out, void* host, unsigned flags) {
  return device_api([&]() -> Status {
    if (out == nullptr || flags != 0) return fail(cudaErrorInvalidValue, "a null pointer or unknown flags");
    *out = nullptr;
    Place place;
    Owned owned;
    if (Status status = find_pinned(host, place, owned); !registered_range(host) && !status.ok())
      return status;
    *out = host;  // unified addresses
    return cudaSuccess;
  });
}

CUDART_API cudaHostGetFlags(unsigned* flags, void* host) {
  return device_api([&]() -> Status {
    Place place;
    Owned owned;
    if (flags == nullptr) return cudaErrorInvalidValue;
    if (Status status = find_pinned(host, place, owned); !status.ok()) return status;
    *flags = owned.flags | cudaHostAllocMapped;
    return cudaSuccess;
  });
}

CUDART_API cudaHostRegister(void* pointer, size_t n_bytes, unsigned flags) {
  return uncaptured_api([&](Context& context) { return register_host(context, pointer, n_bytes, flags); });
}

CUDART_API cudaHostUnregister(void* pointer) {
  return uncaptured_api([&] { return unregister_host(pointer); });
}

CUDART_API cudaMemGetInfo(size_t* free, size_t* total) {
  return device_api([&](Context& context) -> Status {
    const std::lock_guard guard(context.lock);
    if (free != nullptr) *free = context.device().free_bytes();
    if (total != nullptr) *total = context.device().options().preset.global_memory;
    return cudaSuccess;
  });
}

CUDART_API cudaPointerGetAttributes(cudaPointerAttributes* out, const void* pointer) {
  return device_api([&](Context& context) -> Status {
    if (out == nullptr) return cudaErrorInvalidValue;
    // Field by field: CUDA 12's structure ends after these four.
    constexpr int kNoDevice = -2;
    const auto place = locate(pointer);
    void* const address = const_cast<void*>(pointer);  // NOLINT: the structure has it so
    const bool device_only = place && place->on_device_only();
    out->type = cudaMemoryTypeUnregistered;
    if (place) out->type = device_only ? cudaMemoryTypeDevice : cudaMemoryTypeHost;
    if (place && place->kind == MemoryKind::managed) out->type = cudaMemoryTypeManaged;
    out->device = place ? place->context->ordinal : kNoDevice;
    out->devicePointer = place ? address : nullptr;
    out->hostPointer = device_only ? nullptr : address;
    if (registered_range(pointer)) {
      out->type = cudaMemoryTypeHost;
      out->device = context.ordinal;
      out->devicePointer = address;
    }
    return cudaSuccess;
  });
}

CUDART_API cudaGetSymbolAddress(void** out, const void* symbol) {
  return of_symbol(out, symbol, [](const Symbol& found) {
    return reinterpret_cast<void*>(found.address);  // NOLINT: an address of our arena
  });
}

CUDART_API cudaGetSymbolSize(size_t* size, const void* symbol) {
  return of_symbol(size, symbol, [](const Symbol& found) { return found.size; });
}
