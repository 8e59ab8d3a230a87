// SPDX-License-Identifier: MIT
// Texture and surface objects: the handle is the address of a descriptor in device memory. Mipmaps, sRGB and
// resource views are not supported.
#include <cstring>
#include <map>
#include <mutex>

#include "cudart/api/api.hpp"
#include "cudart/device_properties.hpp"
#include "cudart/runtime/memory/array.hpp"
#include "cudart/runtime/memory/memory.hpp"
#include "sim/memory/texture.hpp"

using namespace course::cudart;  // NOLINT: this file is only their exported face
using course::sim::TextureDescriptor;

namespace {

struct Object {
  Context* context = nullptr;
  bool is_surface = false;
};
struct Objects {
  std::mutex lock;
  std::map<unsigned long long, Object> live;
};
Objects& objects() {
  static auto& all = *new Objects;
  return all;
}

void set_format(TextureDescriptor& d, const cudaChannelFormatDesc& f) {
  d.channel_bits = static_cast<unsigned>(f.x);
  d.channels = f.w != 0 ? 4 : f.y != 0 ? 2 : 1;
  d.kind = f.f == cudaChannelFormatKindFloat    ? course::sim::ChannelKind::is_float
           : f.f == cudaChannelFormatKindSigned ? course::sim::ChannelKind::is_signed
                                                : course::sim::ChannelKind::is_unsigned;
}

// Fills in the resource of an object: the address, format and extents of the texels.
Status describe(const cudaResourceDesc& r, TextureDescriptor& d) {
  switch (r.resType) {
    case cudaResourceTypeArray: {
      const cudaArray_t a = r.res.array.array;
      if (!is_array(a))
        return fail(cudaErrorInvalidValue, "the resource's array is none: freed, or never allocated");
      set_format(d, a->format);
      d.base = reinterpret_cast<std::uint64_t>(a->base);  // NOLINT: an address of our arena
      d.width = static_cast<unsigned>(a->extent.width);
      d.height = static_cast<unsigned>(a->height());
      d.slices = static_cast<unsigned>(a->slices());
      d.row_bytes = a->row_bytes();
      d.slice_bytes = a->slice_bytes();
      return cudaSuccess;
    }
    case cudaResourceTypeLinear: {
      const auto& l = r.res.linear;
      if (Status status = check_format(l.desc); !status.ok()) return status;
      if (Status status = check_range(l.devPtr, l.sizeInBytes, "resource"); !status.ok()) return status;
      set_format(d, l.desc);
      d.base = reinterpret_cast<std::uint64_t>(l.devPtr);  // NOLINT: an address of our arena
      d.width = static_cast<unsigned>(l.sizeInBytes / d.element_bytes());
      d.is_memory = true;
      break;
    }
    case cudaResourceTypePitch2D: {
      const auto& p = r.res.pitch2D;
      if (Status status = check_format(p.desc); !status.ok()) return status;
      set_format(d, p.desc);
      if (p.width == 0 || p.height == 0 || p.pitchInBytes < p.width * d.element_bytes())
        return fail(cudaErrorInvalidValue, "rows of {} elements do not fit the pitch {}", p.width,
                    p.pitchInBytes);
      if (p.pitchInBytes % kTexturePitchAlignment != 0)
        return fail(cudaErrorInvalidValue,
                    "the pitch of {} bytes is no multiple of {} (texturePitchAlignment): use cudaMallocPitch",
                    p.pitchInBytes, kTexturePitchAlignment);
      const std::uint64_t bytes = (p.height - 1) * p.pitchInBytes + p.width * d.element_bytes();
      if (Status status = check_range(p.devPtr, bytes, "resource"); !status.ok()) return status;
      d.base = reinterpret_cast<std::uint64_t>(p.devPtr);  // NOLINT: an address of our arena
      d.width = static_cast<unsigned>(p.width);
      d.height = static_cast<unsigned>(p.height);
      d.row_bytes = p.pitchInBytes;
      break;
    }
    case cudaResourceTypeMipmappedArray:
      return fail(cudaErrorNotSupported, "mipmapped arrays are not implemented");
    default:
      return fail(cudaErrorInvalidValue, "{} is not a resource type", static_cast<unsigned>(r.resType));
  }
  // The alignment that a texture resource must have.
  constexpr std::uint64_t kAlignment = 32;
  if (d.base % kAlignment != 0)
    return fail(cudaErrorInvalidValue, "the resource starts at {:#x}, which is not aligned", d.base);
  return cudaSuccess;
}

Status set_sampling(const cudaTextureDesc& t, TextureDescriptor& d) {
  for (int k = 0; k < 3; ++k) {
    if (t.addressMode[k] > cudaAddressModeBorder)
      return fail(cudaErrorInvalidValue, "{} is not an address mode",
                  static_cast<unsigned>(t.addressMode[k]));
    constexpr course::sim::AddressMode kModes[] = {
        course::sim::AddressMode::wrap, course::sim::AddressMode::clamp, course::sim::AddressMode::mirror,
        course::sim::AddressMode::border};
    d.modes[k] = kModes[t.addressMode[k]];
  }
  d.filters = t.filterMode == cudaFilterModeLinear;
  d.reads_fractions =
      t.readMode == cudaReadModeNormalizedFloat && d.kind != course::sim::ChannelKind::is_float;
  d.normalised = t.normalizedCoords != 0;
  if (t.sRGB != 0) return fail(cudaErrorNotSupported, "sRGB textures are not implemented");
  std::memcpy(d.border, t.borderColor, sizeof d.border);
  if (d.reads_fractions && d.channel_bits == 32)
    return fail(cudaErrorInvalidNormSetting, "integers of 32 bits cannot be read as fractions");
  if (d.filters && d.kind != course::sim::ChannelKind::is_float && !d.reads_fractions)
    return fail(cudaErrorInvalidFilterSetting,
                "linear filtering is for floats, and integers read as such (cudaReadModeNormalizedFloat)");
  return cudaSuccess;
}

Status create(Context& context, unsigned long long* out, bool is_surface, const TextureDescriptor& d) {
  const std::lock_guard guard(context.lock);
  const auto address = context.device().allocate(sizeof d, course::sim::MemoryKind::texture);
  if (!address) return {cudaErrorMemoryAllocation, address.error().text};
  const auto written = context.device().copy(reinterpret_cast<std::byte*>(*address),
                                             reinterpret_cast<const std::byte*>(&d), sizeof d);  // NOLINT
  if (!written) return {cudaErrorUnknown, written.error().text};
  context.device().host_wrote(*address, sizeof d);
  const std::lock_guard objects_guard(objects().lock);
  objects().live[*address] = {&context, is_surface};
  *out = *address;
  return cudaSuccess;
}

Status destroy(unsigned long long handle, bool is_surface) {
  if (handle == 0) return cudaSuccess;
  Object object;
  {
    const std::lock_guard guard(objects().lock);
    const auto found = objects().live.find(handle);
    if (found == objects().live.end() || found->second.is_surface != is_surface)
      return fail(cudaErrorInvalidValue, "{:#x} is not a live {} object", handle,
                  is_surface ? "surface" : "texture");
    object = found->second;
    objects().live.erase(found);
  }
  const std::lock_guard guard(object.context->lock);
  if (object.context->device().find(handle) != nullptr) {
    static_cast<void>(object.context->device().fill(reinterpret_cast<std::byte*>(handle), 0, 1,
                                                    sizeof(TextureDescriptor)));  // NOLINT
    static_cast<void>(object.context->device().release(handle));
  }
  return cudaSuccess;
}

}  // namespace

CUDART_API cudaCreateTextureObject(cudaTextureObject_t* out, const cudaResourceDesc* resource,
                                   const cudaTextureDesc* texture, const struct cudaResourceViewDesc* view) {
  return device_api([&](Context& context) -> Status {
    if (out == nullptr || resource == nullptr || texture == nullptr)
      return fail(cudaErrorInvalidValue, "a null pointer");
    if (view != nullptr) return fail(cudaErrorNotSupported, "views of another format are not implemented");
    TextureDescriptor d;
    d.mark = TextureDescriptor::kTextureMark;
    if (Status status = describe(*resource, d); !status.ok()) return status;
    if (Status status = set_sampling(*texture, d); !status.ok()) return status;
    return create(context, out, false, d);
  });
}

CUDART_API cudaDestroyTextureObject(cudaTextureObject_t object) {
  return device_api([&] { return destroy(object, false); });
}

CUDART_API cudaCreateSurfaceObject(cudaSurfaceObject_t* out, const cudaResourceDesc* resource) {
  return device_api([&](Context& context) -> Status {
    if (out == nullptr || resource == nullptr) return fail(cudaErrorInvalidValue, "a null pointer");
    if (resource->resType != cudaResourceTypeArray)
      return fail(cudaErrorInvalidValue, "a surface needs an array");
    TextureDescriptor d;
    d.mark = TextureDescriptor::kSurfaceMark;
    if (Status status = describe(*resource, d); !status.ok()) return status;
    if ((resource->res.array.array->flags & cudaArraySurfaceLoadStore) == 0)
      return fail(cudaErrorInvalidValue, "the array was made without cudaArraySurfaceLoadStore");
    const cudaArray& array = *resource->res.array.array;
    const std::lock_guard guard(array.context->lock);
    // The checkers don't follow stores to surfaces, so the array counts as written.
    array.context->device().host_wrote(address_of(array.base), array.slices() * array.slice_bytes());
    return create(context, out, true, d);
  });
}

CUDART_API cudaDestroySurfaceObject(cudaSurfaceObject_t object) {
  return device_api([&] { return destroy(object, true); });
}
