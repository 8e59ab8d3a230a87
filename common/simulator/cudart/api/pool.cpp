// SPDX-License-Identifier: MIT
// Memory pools.
#include "cudart/runtime/memory/pool.hpp"
#include "cudart/api/api.hpp"
#include "cudart/runtime/handles.hpp"

namespace course::cudart {
namespace {

Handles<CUmemPoolHandle_st>& pools() {
  static auto& table = *new Handles<CUmemPoolHandle_st>;
  return table;
}

std::unique_ptr<CUmemPoolHandle_st> make_pool(Context& context) {
  auto pool = std::make_unique<CUmemPoolHandle_st>();
  pool->context = &context;
  return pool;
}

// The value of an attribute of a pool; nullptr if there is none.
std::uint64_t* counter(CUmemPoolHandle_st& pool, cudaMemPoolAttr attribute) {
  switch (attribute) {
    case cudaMemPoolAttrReleaseThreshold: return &pool.release_threshold;
    case cudaMemPoolAttrReservedMemCurrent:
    case cudaMemPoolAttrUsedMemCurrent: return &pool.used;
    case cudaMemPoolAttrReservedMemHigh:
    case cudaMemPoolAttrUsedMemHigh: return &pool.used_high;
    default: return nullptr;
  }
}

Status get_pool(cudaMemPool_t* pool, int device, cudaMemPool_t (&pool_of)(Context&)) {
  if (pool == nullptr) return cudaErrorInvalidValue;
  if (!runtime().is_device(device)) return fail(cudaErrorInvalidDevice, "there is no device {}", device);
  *pool = pool_of(runtime().context(device));
  return cudaSuccess;
}

// Calls `body` with an existing pool, under its context's lock.
template <typename Body>
cudaError_t with_pool(cudaMemPool_t pool, Body&& body, const char* call = CALLER) {
  return device_api(
      [&]() -> Status {
        if (!is_pool(pool)) return fail(cudaErrorInvalidValue, "that is not a memory pool");
        const std::lock_guard guard(pool->context->lock);
        return body(*pool);
      },
      call);
}

}  // namespace

cudaMemPool_t default_pool(Context& context) {
  const std::lock_guard guard(context.lock);
  if (context.default_pool == nullptr) context.default_pool = make_pool(context);
  return context.default_pool.get();
}

cudaMemPool_t current_pool(Context& context) {
  const std::lock_guard guard(context.lock);
  return context.current_pool != nullptr ? context.current_pool : default_pool(context);
}

bool is_pool(cudaMemPool_t pool) {
  if (pool == nullptr) return false;
  Runtime& all = runtime();
  for (int i = 0; i < all.n_devices(); ++i)
    if (default_pool(all.context(i)) == pool) return true;
  return pools().contains(pool);
}

}  // namespace course::cudart

using namespace course::cudart;  // NOLINT: what follows is only the exported face

CUDART_API cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  return api([&] { return get_pool(pool, device, default_pool); });
}

CUDART_API cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  return api([&] { return get_pool(pool, device, current_pool); });
}

CUDART_API cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  return api([&]() -> Status {
    if (!runtime().is_device(device)) return fail(cudaErrorInvalidDevice, "there is no device {}", device);
    if (!is_pool(pool) || pool->context->ordinal != device)
      return fail(cudaErrorInvalidValue, "that is not a pool of device {}", device);
    const std::lock_guard guard(pool->context->lock);
    pool->context->current_pool = pool;
    return cudaSuccess;
  });
}

CUDART_API cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  return device_api([&]() -> Status {
    if (pool == nullptr || properties == nullptr || properties->allocType != cudaMemAllocationTypePinned)
      return cudaErrorInvalidValue;
    if (properties->location.type != cudaMemLocationTypeDevice ||
        !runtime().is_device(properties->location.id)) {
      return fail(cudaErrorInvalidDevice, "a pool must be on a device");
    }
    *pool = pools().add(make_pool(runtime().context(properties->location.id)));
    return cudaSuccess;
  });
}

CUDART_API cudaMemPoolDestroy(cudaMemPool_t pool) {
  return device_api([&]() -> Status {
    const auto owned = pools().take(pool);
    if (owned == nullptr) return fail(cudaErrorInvalidValue, "that is not a pool of cudaMemPoolCreate");
    Context& context = *owned->context;
    const std::lock_guard guard(context.lock);
    if (context.current_pool == pool) context.current_pool = nullptr;
    for (auto& [address, piece] : context.owned) {
      if (piece.pool == pool) piece.pool = nullptr;  // its allocations stay valid until they are freed
    }
    return cudaSuccess;
  });
}

CUDART_API cudaMemPoolTrimTo(cudaMemPool_t pool, size_t) {
  return with_pool(pool, [](CUmemPoolHandle_st&) { return Status(); });  // no memory is kept in reserve
}

CUDART_API cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return with_pool(pool, [&](CUmemPoolHandle_st& p) -> Status {
    if (value == nullptr) return cudaErrorInvalidValue;
    if (attribute == cudaMemPoolAttrReleaseThreshold) {
      p.release_threshold = *static_cast<std::uint64_t*>(value);
    } else if (attribute == cudaMemPoolAttrUsedMemHigh || attribute == cudaMemPoolAttrReservedMemHigh) {
      if (*static_cast<std::uint64_t*>(value) != 0)
        return fail(cudaErrorInvalidValue, "a high-water mark can only be reset to 0");
      p.used_high = p.used;
    } else {
      return fail(cudaErrorInvalidValue, "attribute {} cannot be set", static_cast<unsigned>(attribute));
    }
    return cudaSuccess;
  });
}

CUDART_API cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return with_pool(pool, [&](CUmemPoolHandle_st& p) -> Status {
    if (value == nullptr) return cudaErrorInvalidValue;
    const std::uint64_t* found = counter(p, attribute);
    if (found == nullptr)
      return fail(cudaErrorInvalidValue, "there is no attribute {}", static_cast<unsigned>(attribute));
    *static_cast<std::uint64_t*>(value) = *found;
    return cudaSuccess;
  });
}

CUDART_API cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* descriptions, size_t n) {
  return with_pool(pool, [&](CUmemPoolHandle_st& p) -> Status {
    for (size_t i = 0; i < n; ++i) {
      const cudaMemLocation& where = descriptions[i].location;
      if (where.type == cudaMemLocationTypeDevice && where.id == p.context->ordinal) continue;
      return fail(cudaErrorPeerAccessUnsupported, "a pool can be used on its own device only");
    }
    return cudaSuccess;
  });
}

CUDART_API cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool, cudaMemLocation* location) {
  return with_pool(pool, [&](CUmemPoolHandle_st& p) -> Status {
    if (flags == nullptr || location == nullptr) return cudaErrorInvalidValue;
    const bool mine = location->type == cudaMemLocationTypeDevice && location->id == p.context->ordinal;
    *flags = mine ? cudaMemAccessFlagsProtReadWrite : cudaMemAccessFlagsProtNone;
    return cudaSuccess;
  });
}
