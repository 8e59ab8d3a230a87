// SPDX-License-Identifier: MIT
// Devices: count, properties, the current device, limits, reset.
#include <cstdio>

#include "cudart/api/api.hpp"
#include "cudart/device_properties.hpp"
#include "cudart/runtime/device_part.hpp"
#include "cudart/runtime/host/host_checks.hpp"
#include "cudart/runtime/host/work_order.hpp"
#include "cudart/runtime/memory/memory.hpp"
#include "cudart/runtime/memory/registered.hpp"
#include "cudart/runtime/stream.hpp"
#include "sim/memory/memory.hpp"

using namespace course::cudart;  // NOLINT: this file is only their exported face

namespace {

// Properties of the chip do not need a Device, so queries are cheap.
const course::sim::DevicePreset& chip() {
  return runtime().environment().device.preset;
}

Status check_device(int device) {
  if (runtime().is_device(device)) return cudaSuccess;
  return fail(cudaErrorInvalidDevice, "there is no device {}: {} simulated, set SIM_DEVICES for more", device,
              runtime().n_devices());
}

// Releases what belongs to the device, except descriptors of textures and surfaces, and pools. The report is
// kept.
void reset(Context& context) {
  for (CUstream_st* stream : streams().all())
    if (stream->context == &context) destroy_stream(stream);
  for (CUevent_st* event : events().all())
    if (event->context == &context) (void)events().take(event);
  forget_registered(context);
  host_may_have_waited();
  const std::lock_guard guard(context.lock);
  check_leaks(context);  // before the error is cleared, because nothing can be freed after an error
  context.sticky = cudaSuccess;
  context.limits = default_limits();
  context.peers.clear();
  context.flags = 0;
  if (!context.created.load(std::memory_order_acquire)) return;
  while (!context.owned.empty()) (void)release(context, context.owned.begin()->first);
  context.device().empty_heap();
  (void)context.device().set_heap_bytes(course::sim::kHeapBytes);
  runtime().registry().forget_device(context);
}

// Whether kernels of the device may access the memory of others. Found out by setting an empty list, which
// each launch replaces.
Status may_share(Context& context) {
  const std::lock_guard guard(context.lock);
  const auto set = context.device().set_other_memory({});
  return set ? Status() : fail(cudaErrorPeerAccessUnsupported, "{}", set.error().text);
}

}  // namespace

CUDART_API cudaGetDeviceCount(int* n) {
  return api([&] { return give(n, runtime().n_devices()); });
}

CUDART_API cudaSetDevice(int device) {
  return api([&]() -> Status {
    if (Status status = check_device(device); !status.ok()) return status;
    thread_state().device = device;
    return cudaSuccess;
  });
}

CUDART_API cudaInitDevice(int device, unsigned, unsigned) {
  return api([&]() { return check_device(device); });
}

CUDART_API cudaGetDevice(int* device) {
  return api([&] { return give(device, thread_state().device); });
}

CUDART_API cudaChooseDevice(int* device, const cudaDeviceProp* wanted) {
  return api([&]() -> Status {
    if (device == nullptr || wanted == nullptr) return cudaErrorInvalidValue;
    *device = 0;  // all devices are equal
    return cudaSuccess;
  });
}

CUDART_API cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return api([&]() -> Status {
    if (value == nullptr) return cudaErrorInvalidValue;
    if (Status status = check_device(device); !status.ok()) return status;
    const int found = attribute_of(chip(), device, attribute);
    if (found < 0)
      return fail(cudaErrorInvalidValue, "there is no attribute {}", static_cast<unsigned>(attribute));
    *value = found;
    return cudaSuccess;
  });
}

CUDART_API cudaDeviceGetPCIBusId(char* text, int length, int device) {
  return api([&]() -> Status {
    if (text == nullptr || length <= 0) return cudaErrorInvalidValue;
    if (Status status = check_device(device); !status.ok()) return status;
    std::snprintf(text, static_cast<size_t>(length), "0000:%02x:00.0",
                  static_cast<unsigned>(kPciBusOfDevice0 + device));
    return cudaSuccess;
  });
}

CUDART_API cudaDeviceSynchronize(void) {
  return uncaptured_api([](Context& context) {
    wait_for_parts(context);
    Status status = context.synchronise();
    if (status.ok()) host_waited(context);
    return status;
  });
}

CUDART_API cudaDeviceReset(void) {
  return api([]() -> Status {
    wait_for_parts(current_context());
    reset(current_context());
    return cudaSuccess;
  });
}

CUDART_API cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  return device_api([&](Context& context) -> Status {
    const std::lock_guard guard(context.lock);
    if (!context.limits.contains(limit))
      return fail(cudaErrorUnsupportedLimit, "there is no limit {}", static_cast<unsigned>(limit));
    if (limit == cudaLimitMallocHeapSize) {
      if (const auto set = context.device().set_heap_bytes(value); !set)
        return fail(cudaErrorInvalidValue, "{}", set.error().text);
    }
    context.limits[limit] = value;
    return cudaSuccess;
  });
}

CUDART_API cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  return device_api([&](Context& context) -> Status {
    if (value == nullptr) return cudaErrorInvalidValue;
    const std::lock_guard guard(context.lock);
    const auto known = context.limits.find(limit);
    if (known == context.limits.end())
      return fail(cudaErrorUnsupportedLimit, "there is no limit {}", static_cast<unsigned>(limit));
    *value = known->second;
    return cudaSuccess;
  });
}

CUDART_API cudaDeviceSetCacheConfig(cudaFuncCache config) {
  return device_api([&](Context& context) -> Status {
    const std::lock_guard guard(context.lock);
    context.cache_config = config;
    return cudaSuccess;
  });
}

CUDART_API cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  return device_api([&](Context& context) -> Status {
    if (config == nullptr) return cudaErrorInvalidValue;
    const std::lock_guard guard(context.lock);
    *config = context.cache_config;
    return cudaSuccess;
  });
}

CUDART_API cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config) {
  return device_api([&](Context& context) -> Status {
    const std::lock_guard guard(context.lock);
    context.shared_config = config;
    return cudaSuccess;
  });
}

CUDART_API cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  return device_api([&](Context& context) -> Status {
    if (config == nullptr) return cudaErrorInvalidValue;
    const std::lock_guard guard(context.lock);
    *config = context.shared_config;
    return cudaSuccess;
  });
}

CUDART_API cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return device_api([&]() -> Status {
    if (least != nullptr) *least = kStreamPriorityLow;
    if (greatest != nullptr) *greatest = kStreamPriorityHigh;
    return cudaSuccess;
  });
}

CUDART_API cudaSetDeviceFlags(unsigned flags) {
  return api([&]() -> Status {
    Context& context = current_context();
    const std::lock_guard guard(context.lock);
    context.flags = flags;
    return cudaSuccess;
  });
}

CUDART_API cudaGetDeviceFlags(unsigned* flags) {
  return api([&]() -> Status {
    if (flags == nullptr) return cudaErrorInvalidValue;
    Context& context = current_context();
    const std::lock_guard guard(context.lock);
    *flags = context.flags;
    return cudaSuccess;
  });
}

CUDART_API cudaCtxResetPersistingL2Cache(void) {
  return device_api([&] { return Status(); });
}

// Every device can access the memory of every other one, except under grading.
CUDART_API cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return api([&]() -> Status {
    if (can == nullptr) return cudaErrorInvalidValue;
    if (Status status = check_device(device); !status.ok()) return status;
    if (Status status = check_device(peer); !status.ok()) return status;
    *can = device != peer && may_share(runtime().context(device)).ok() ? 1 : 0;
    return cudaSuccess;
  });
}

CUDART_API cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return device_api([&](Context& context) -> Status {
    if (Status status = check_device(peer); !status.ok()) return status;
    if (flags != 0) return fail(cudaErrorInvalidValue, "the flags must be 0");
    if (peer == context.ordinal) return fail(cudaErrorInvalidDevice, "device {} is the current one", peer);
    if (Status status = may_share(context); !status.ok()) return status;
    const std::lock_guard guard(context.lock);
    return context.peers.insert(peer).second ? cudaSuccess : cudaErrorPeerAccessAlreadyEnabled;
  });
}

CUDART_API cudaDeviceDisablePeerAccess(int peer) {
  return device_api([&](Context& context) -> Status {
    if (Status status = check_device(peer); !status.ok()) return status;
    const std::lock_guard guard(context.lock);
    return context.peers.erase(peer) != 0 ? cudaSuccess : cudaErrorPeerAccessNotEnabled;
  });
}

CUDART_API cudaProfilerStart(void) {
  return api([] { return Status(); });
}

CUDART_API cudaProfilerStop(void) {
  return api([] { return Status(); });
}
