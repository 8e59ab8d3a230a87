// SPDX-License-Identifier: MIT
#include "cudart/runtime/memory/memory.hpp"

#include "cudart/runtime/device_part.hpp"
#include "cudart/runtime/host/freed_memory.hpp"
#include "cudart/runtime/host/host_checks.hpp"
#include "cudart/runtime/host/never_written.hpp"
#include "cudart/runtime/host/work_order.hpp"
#include "cudart/runtime/memory/pool.hpp"
#include "cudart/runtime/memory/registered.hpp"
#include "sim/timing/timeline.hpp"

namespace course::cudart {
namespace {

// Bytes per microsecond between host and device: PCIe 5.0 ×16, measured with pinned memory, and with pageable
// memory, which the driver copies through a staging buffer.
constexpr double kPinnedBytesPerUs = 55e3;
constexpr double kPageableBytesPerUs = 20e3;
constexpr double kBytesPerUsPerGbPerS = 1e3;

// Bytes from the first to the last one of all rows and slices. UINT64_MAX on overflow, so that a later bounds
// check fails.
std::uint64_t span_of(std::uint64_t width, std::uint64_t height, std::uint64_t depth, std::uint64_t pitch,
                      std::uint64_t slice) {
  if (width == 0 || height == 0 || depth == 0) return 0;
  std::uint64_t rows = 0, slices = 0, total = 0;
  if (__builtin_mul_overflow(height - 1, pitch, &rows) || __builtin_mul_overflow(depth - 1, slice, &slices) ||
      __builtin_add_overflow(rows, slices, &total) || __builtin_add_overflow(total, width, &total)) {
    return UINT64_MAX;
  }
  return total;
}

std::string describe(const Place& place, std::uint64_t address) {
  const std::string name = place.name.empty() ? "" : fmt::format(" \"{}\"", place.name);
  return fmt::format("the allocation{} of {} bytes at {:#x}, {} bytes in", name, place.size, place.base,
                     address - place.base);
}

Status check_inside(const Place& place, std::uint64_t address, std::uint64_t n_bytes, const char* what) {
  const std::uint64_t room = place.base + place.size - address;
  if (n_bytes <= room) return cudaSuccess;
  return fail(cudaErrorInvalidValue, "the {} has room for {} bytes, not for {}: it is {}; {} bytes too many",
              what, room, n_bytes, describe(place, address), n_bytes - room);
}

const char* name_of(cudaMemcpyKind kind) {
  switch (kind) {
    case cudaMemcpyHostToHost: return "cudaMemcpyHostToHost";
    case cudaMemcpyHostToDevice: return "cudaMemcpyHostToDevice";
    case cudaMemcpyDeviceToHost: return "cudaMemcpyDeviceToHost";
    case cudaMemcpyDeviceToDevice: return "cudaMemcpyDeviceToDevice";
    case cudaMemcpyDefault: break;
  }
  return "cudaMemcpyDefault";
}

// For a copy with an end on the host that should be on the device: what the program should do.
std::string advise(const CopyOp& copy) {
  const bool to_device = locate(copy.dst).has_value(), from_device = locate(copy.src).has_value();
  const bool exchanged = (copy.kind == cudaMemcpyHostToDevice && !to_device && from_device) ||
                         (copy.kind == cudaMemcpyDeviceToHost && to_device && !from_device);
  const cudaMemcpyKind fits = from_device ? to_device ? cudaMemcpyDeviceToDevice : cudaMemcpyDeviceToHost
                              : to_device ? cudaMemcpyHostToDevice
                                          : cudaMemcpyHostToHost;
  if (exchanged)
    return fmt::format("The destination comes first: exchange the two pointers, or pass {}", name_of(fits));
  if (!to_device && !from_device)
    return "Pass a pointer from cudaMalloc there that has not been freed; of these two neither is one";
  return fmt::format("Pass a pointer from cudaMalloc that has not been freed, or {}", name_of(fits));
}

// For an end that is the name of a __device__ variable in host code: what it is, and the call to use.
std::string explain_name(const Variable& variable, const CopyOp* copy, const void* pointer) {
  const std::string name = readable_name(variable.name);
  const std::string call = copy == nullptr ? ""
                           : copy->dst == pointer
                               ? fmt::format("call cudaMemcpyToSymbol({}, host, bytes), or ", name)
                               : fmt::format("call cudaMemcpyFromSymbol(host, {}, bytes), or ", name);
  return fmt::format(
      "{} is a __device__ variable; in host code, this name is not its address in device memory: {}get the "
      "address with cudaGetSymbolAddress(&pointer, {})",
      name, call, name);
}

// Checks one end of a copy, or of a fill (`copy` is nullptr). With unified addressing only "device" must be
// true: an end that the direction calls "host" may also be on the device.
Status check_end(const CopyOp* copy, const void* pointer, std::uint64_t n_bytes, bool must_be_device,
                 const char* what) {
  if (n_bytes == 0) return cudaSuccess;
  if (pointer == nullptr)
    return fail(cudaErrorInvalidValue, "the {} is a null pointer; it must point to {} bytes of {}memory",
                what, n_bytes, must_be_device ? "device " : "");
  const std::optional<Place> place = locate(pointer);
  if (!place) {
    if (!must_be_device) return cudaSuccess;
    if (const auto registered = registered_range(pointer)) {
      const Place whole{nullptr, registered->first, registered->n_bytes, sim::MemoryKind::pinned_host, {}};
      return check_inside(whole, address_of(pointer), n_bytes, what);
    }
    if (const auto where = past_an_array(pointer))
      return fail(cudaErrorInvalidValue, "the {} {} {}", what, pointer, *where);
    if (const Variable* variable = runtime().registry().find_shadow(pointer))
      return fail(cudaErrorInvalidValue, "the {} is wrong: {}", what, explain_name(*variable, copy, pointer))
          .as("host-variable");
    constexpr const char* kWhy = "a host pointer, freed, or never allocated";
    if (copy == nullptr)
      return fail(cudaErrorInvalidValue, "the {} {} is not device memory: {}", what, pointer, kWhy);
    return fail(cudaErrorInvalidValue, "the {} {} is not device memory, but the direction {} says so: {}. {}",
                what, pointer, name_of(copy->kind), kWhy, advise(*copy));
  }
  return check_inside(*place, address_of(pointer), n_bytes, what);
}

Status copy_row(Context& context, std::byte* dst, const std::byte* src, std::uint64_t n_bytes) {
  // The lock is released before locate() is called, because that may take another device's lock.
  const auto copied = [&] {
    const std::lock_guard guard(context.lock);
    return context.device().copy(dst, src, n_bytes);
  }();
  if (!copied) return {cudaErrorNotPermitted, copied.error().text};
  note_copied(dst, src, n_bytes);
  return cudaSuccess;
}

Status fill_row(Context& context, std::byte* row, const FillOp& fill) {
  const auto filled = [&] {
    const std::lock_guard guard(context.lock);
    return context.device().fill(row, fill.value, fill.element_bytes, fill.width);
  }();
  if (!filled) return {cudaErrorNotPermitted, filled.error().text};
  if (const auto place = locate(row)) {
    const std::lock_guard guard(place->context->lock);
    place->context->device().host_wrote(address_of(row), fill.width * fill.element_bytes);
  }
  return cudaSuccess;
}

// A copy that CUDA accepts, because it takes the name of a __device__ variable for memory of the host.
void check_names(Context& context, const CopyOp& copy) {
  if (!checks_host(context)) return;
  for (const auto& [pointer, what] : {std::pair<const void*, const char*>{copy.dst, "destination"},
                                      std::pair<const void*, const char*>{copy.src, "source"}}) {
    const Variable* const variable = locate(pointer) ? nullptr : runtime().registry().find_shadow(pointer);
    if (variable != nullptr)
      add_host_error(
          context, "host-variable",
          fmt::format("the {} of a copy is wrong: {}", what, explain_name(*variable, &copy, pointer)));
  }
}

template <typename Row>
void for_each_row(std::uint64_t height, std::uint64_t depth, Row row) {
  for (std::uint64_t z = 0; z < depth; ++z)
    for (std::uint64_t y = 0; y < height; ++y) row(y, z);
}

// Whether it was the start of an allocation that has been freed.
bool was_freed(const void* pointer) {
  for (Context* const context : runtime().created()) {
    const std::lock_guard guard(context->lock);
    const sim::Allocation* freed = context->device().find_freed(address_of(pointer));
    if (freed != nullptr && freed->base == address_of(pointer)) return true;
  }
  return false;
}

Status release_if(void* pointer, bool host) {
  const char* const call = host ? "cudaFreeHost" : "cudaFree";
  const std::optional<Place> place = locate(pointer);
  if (!place) {
    if (registered_range(pointer))
      return fail(cudaErrorInvalidValue, "{} is registered: call cudaHostUnregister, not {}", pointer, call)
          .as("invalid-free");
    if (was_freed(pointer))
      return fail(cudaErrorInvalidValue, "{} was freed before", pointer).as("double-free");
    return fail(cudaErrorInvalidValue, "{} is not an allocation of {}", pointer,
                host ? "cudaMallocHost" : "cudaMalloc")
        .as("invalid-free");
  }
  wait_for_parts(*place->context);
  const std::lock_guard guard(place->context->lock);
  const auto found = place->context->owned.find(address_of(pointer));
  if (found == place->context->owned.end()) {
    if (place->kind == sim::MemoryKind::module_variable) {
      return fail(cudaErrorInvalidValue, "{} is a __device__ variable, which must not be freed", pointer)
          .as("invalid-free");
    }
    return fail(cudaErrorInvalidValue, "{} lies inside {}: free the start of it", pointer,
                describe(*place, address_of(pointer)))
        .as("invalid-free");
  }
  host_may_have_waited();
  const bool is_host = found->second.origin == Origin::host;
  if (is_host != host) {
    return fail(cudaErrorInvalidValue, "{} is {} memory, which {} cannot free", pointer,
                is_host ? "pinned host" : "device", call)
        .as("invalid-free");
  }
  return release(*place->context, address_of(pointer));
}

}  // namespace

std::optional<Place> locate(const void* pointer) {
  if (pointer == nullptr) return {};
  for (Context* const context : runtime().created()) {
    const std::lock_guard guard(context->lock);
    if (const sim::Allocation* found = context->device().find(address_of(pointer))) {
      return Place{context, found->base, found->size, found->kind, found->name};
    }
  }
  return {};
}

std::optional<std::string> past_an_array(const void* pointer) {
  constexpr std::uint64_t kNear = std::uint64_t{1} << 16;
  const std::uint64_t address = address_of(pointer);
  for (Context* const context : runtime().created()) {
    const std::lock_guard guard(context->lock);
    const sim::Device& device = context->device();
    if (device.find(address) != nullptr || device.find_freed(address) != nullptr) return {};
    for (std::uint64_t past = 0; past < kNear; ++past) {
      if (const sim::Allocation* array = device.find(address - past - 1))
        return fmt::format("lies {} the end of {}, which has {} bytes",
                           past == 0 ? "at" : fmt::format("{} bytes past", past),
                           array->name.empty() ? "an allocation" : array->name, array->size);
    }
  }
  return {};
}

// Every allocation of a process with several devices.
struct AllMemory {
  struct One {
    int device;
    std::uint64_t n_bytes;
    sim::MemoryKind kind;
    Origin origin;
  };
  std::mutex lock;
  std::map<std::uint64_t, One> by_address;
};
AllMemory& all_memory() {
  static auto& all = *new AllMemory;
  return all;
}

std::vector<sim::OtherMemory> memory_of_others(const Context& context) {
  std::vector<sim::OtherMemory> others;
  add_registered(others);
  for (const Variable* variable : runtime().registry().variables()) {
    sim::OtherMemory other;
    other.memory.base = address_of(variable->host);
    other.memory.size = variable->bytes;
    other.memory.kind = sim::MemoryKind::module_variable;
    other.refusal = fmt::format(
        "the name of the __device__ variable {0} in host code, which is not its address in device memory: "
        "use {0} in the kernel, or pass the address from cudaGetSymbolAddress(&pointer, {0})",
        readable_name(variable->name));
    others.push_back(std::move(other));
  }
  const std::lock_guard guard(all_memory().lock);
  for (const auto& [address, one] : all_memory().by_address) {
    if (one.device == context.ordinal) continue;
    sim::OtherMemory other;
    other.memory.base = address;
    other.memory.size = one.n_bytes;
    other.memory.kind = one.kind;
    other.memory.name = fmt::format("memory of device {}", one.device);
    if (one.kind == sim::MemoryKind::device) {
      if (one.origin == Origin::pool || one.origin == Origin::graph)
        other.refusal =
            fmt::format("memory of device {} from a pool, which other devices can't access", one.device);
      else if (!context.peers.contains(one.device))
        other.refusal = fmt::format(
            "memory of device {0}, which device {1} may access only after cudaSetDevice({1}) and "
            "cudaDeviceEnablePeerAccess({0}, 0)",
            one.device, context.ordinal);
    }
    others.push_back(std::move(other));
  }
  return others;
}

Status allocate(Context& context, std::uint64_t n_bytes, sim::MemoryKind kind, Owned owned, void** out) {
  *out = nullptr;
  if (n_bytes == 0) return cudaSuccess;
  const std::lock_guard guard(context.lock);
  const auto address = context.device().allocate(n_bytes, kind);
  if (!address) return {cudaErrorMemoryAllocation, address.error().text};
  owned.bytes = n_bytes;
  if (checks_host(context)) owned.made_by = call_stack();
  const Origin origin = owned.origin;
  context.owned[*address] = std::move(owned);
  if (runtime().n_devices() > 1) {
    const std::lock_guard all_guard(all_memory().lock);
    all_memory().by_address[*address] = {context.ordinal, n_bytes, kind, origin};
  }
  forget_accesses(*address, n_bytes);
  // The host can write such memory directly, so it never counts as uninitialised.
  if (kind != sim::MemoryKind::device) context.device().host_wrote(*address, n_bytes);
  *out = reinterpret_cast<void*>(*address);  // NOLINT: an address of our arena
  return cudaSuccess;
}

Status check_out(const void* out) {
  if (out == nullptr) return fail(cudaErrorInvalidValue, "the address of the pointer is null");
  if (const auto place = locate(out); !place || !place->on_device_only()) return cudaSuccess;
  return fail(cudaErrorInvalidValue,
              "the pointer to set is in device memory: set one on the host, and copy it")
      .as("host-access");
}

Status release(Context& context, std::uint64_t base) {
  const std::lock_guard guard(context.lock);
  const auto found = context.owned.find(base);
  if (found == context.owned.end())
    return fail(cudaErrorInvalidValue, "{:#x} is not a live allocation", base);
  const Owned owned = found->second;
  context.owned.erase(found);
  if (runtime().n_devices() > 1) {
    const std::lock_guard all_guard(all_memory().lock);
    all_memory().by_address.erase(base);
  }
  if (owned.pool != nullptr) owned.pool->used -= owned.bytes;
  if (owned.origin == Origin::host) host_memory_freed(base, owned.bytes);
  forget_accesses(base, owned.bytes);
  context.last_writers.erase(base);
  const auto released = context.device().release(base);
  return released ? Status() : Status(cudaErrorInvalidValue, released.error().text);
}

Status release_device(void* pointer) {
  return pointer == nullptr ? Status() : release_if(pointer, false);
}
Status release_host(void* pointer) {
  return pointer == nullptr ? Status() : release_if(pointer, true);
}

namespace {

// For the checks of SIM_CHECK=1: adds rows of memory, if the device can access them.
void add_rows(sim::Footprint& footprint, const std::byte* start, std::uint64_t width, std::uint64_t height,
              std::uint64_t depth, std::uint64_t pitch, std::uint64_t slice, sim::Footprint::Use use) {
  if (!locate(start)) return;
  for_each_row(height, depth, [&](std::uint64_t y, std::uint64_t z) {
    footprint.add(address_of(start) + y * pitch + z * slice, width, use);
  });
}

void note_copy(Context& context, const CopyOp& c) {
  if (!checks_host(context)) return;
  sim::Footprint footprint;
  add_rows(footprint, c.src, c.width, c.height, c.depth, c.src_pitch, c.src_slice, sim::Footprint::kRead);
  add_rows(footprint, c.dst, c.width, c.height, c.depth, c.dst_pitch, c.dst_slice, sim::Footprint::kWrite);
  work_accessed(context, "a copy", true, std::move(footprint));
}

void note_fill(Context& context, const FillOp& f) {
  if (!checks_host(context)) return;
  sim::Footprint footprint;
  add_rows(footprint, f.dst, f.width * f.element_bytes, f.height, f.depth, f.pitch, f.slice,
           sim::Footprint::kWrite);
  work_accessed(context, "a memset", false, std::move(footprint));
}

}  // namespace

CopyOp linear_copy(void* dst, const void* src, std::uint64_t n_bytes, cudaMemcpyKind kind) {
  CopyOp copy;
  copy.dst = static_cast<std::byte*>(dst);
  copy.src = static_cast<const std::byte*>(src);
  copy.width = n_bytes;
  copy.kind = kind;
  return copy;
}

Status check_copy(const CopyOp& copy) {
  if (copy.kind > cudaMemcpyDefault) {
    return fail(
        cudaErrorInvalidMemcpyDirection,
        "the direction (the argument after the size) is {}, and none has this number; pass "
        "cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice or cudaMemcpyDefault",
        static_cast<unsigned>(copy.kind));
  }
  if (copy.height > 1 && (copy.dst_pitch < copy.width || copy.src_pitch < copy.width)) {
    return fail(cudaErrorInvalidPitchValue,
                "rows of {} bytes do not fit the pitches {} (destination) and {} (source)", copy.width,
                copy.dst_pitch, copy.src_pitch);
  }
  const bool to_device = copy.kind == cudaMemcpyHostToDevice || copy.kind == cudaMemcpyDeviceToDevice;
  const bool from_device = copy.kind == cudaMemcpyDeviceToHost || copy.kind == cudaMemcpyDeviceToDevice;
  Status status =
      check_end(&copy, copy.dst, span_of(copy.width, copy.height, copy.depth, copy.dst_pitch, copy.dst_slice),
                to_device, "destination");
  if (!status.ok()) return status;
  return check_end(&copy, copy.src,
                   span_of(copy.width, copy.height, copy.depth, copy.src_pitch, copy.src_slice), from_device,
                   "source");
}

Status check_fill(const FillOp& fill) {
  const std::uint64_t width = fill.width * fill.element_bytes;
  if (fill.element_bytes != 1 && fill.element_bytes != 2 && fill.element_bytes != 4) {
    return fail(cudaErrorInvalidValue, "elements of {} bytes: only 1, 2 and 4 can be set",
                fill.element_bytes);
  }
  if (fill.height > 1 && fill.pitch < width) {
    return fail(cudaErrorInvalidValue, "rows of {} bytes do not fit the pitch {}", width, fill.pitch);
  }
  return check_end(nullptr, fill.dst, span_of(width, fill.height, fill.depth, fill.pitch, fill.slice), true,
                   "destination");
}

Status run_copy(Context& context, const CopyOp& copy) {
  const std::uint64_t n_bytes = copy.width * copy.height * copy.depth;
  if (n_bytes == 0) return cudaSuccess;
  check_source(copy);
  check_names(context, copy);
  Status status;
  for_each_row(copy.height, copy.depth, [&](std::uint64_t y, std::uint64_t z) {
    std::byte* row = copy.dst + y * copy.dst_pitch + z * copy.dst_slice;
    if (status.ok())
      status = copy_row(context, row, copy.src + y * copy.src_pitch + z * copy.src_slice, copy.width);
  });
  if (!status.ok()) return status;

  note_copy(context, copy);
  note_last_writer(copy.dst, copy.src,
                   span_of(copy.width, copy.height, copy.depth, copy.dst_pitch, copy.dst_slice));
  const auto on_device = [](const std::optional<Place>& place) { return place && place->on_device_only(); };
  const std::optional<Place> dst = locate(copy.dst), src = locate(copy.src);
  const std::lock_guard guard(context.lock);
  const sim::DevicePreset& chip = context.device().options().preset;
  double bytes_per_us = dst && src ? kPinnedBytesPerUs : kPageableBytesPerUs;
  if (on_device(dst) && on_device(src))
    bytes_per_us = chip.memory_gb_per_s * kBytesPerUsPerGbPerS / 2;  // it is read and written
  sim::Timeline& timeline = context.device().timeline();
  timeline.transfer(chip.timing.kernel_us + static_cast<double>(n_bytes) / bytes_per_us);
  if (!on_device(dst) || !on_device(src)) timeline.synchronise();
  return cudaSuccess;
}

double from_host_us(const sim::DevicePreset& chip, std::uint64_t n_bytes) {
  return chip.timing.kernel_us + static_cast<double>(n_bytes) / kPageableBytesPerUs;
}

double fill_us(const sim::DevicePreset& chip, std::uint64_t n_bytes) {
  return chip.timing.kernel_us + static_cast<double>(n_bytes) / (chip.memory_gb_per_s * kBytesPerUsPerGbPerS);
}

Status run_fill(Context& context, const FillOp& fill) {
  const std::uint64_t width = fill.width * fill.element_bytes;
  if (width == 0 || fill.height == 0 || fill.depth == 0) return cudaSuccess;
  Status status;
  for_each_row(fill.height, fill.depth, [&](std::uint64_t y, std::uint64_t z) {
    std::byte* row = fill.dst + y * fill.pitch + z * fill.slice;
    if (status.ok()) status = fill_row(context, row, fill);
  });
  if (!status.ok()) return status;
  note_fill(context, fill);
  note_last_writer(fill.dst, nullptr, span_of(width, fill.height, fill.depth, fill.pitch, fill.slice));
  const std::lock_guard guard(context.lock);
  const sim::DevicePreset& chip = context.device().options().preset;
  context.device().timeline().launch(fill_us(chip, width * fill.height * fill.depth));
  return cudaSuccess;
}

Status check_range(const void* pointer, std::uint64_t n_bytes, const char* what) {
  const std::optional<Place> place = locate(pointer);
  if (!place) return fail(cudaErrorInvalidValue, "the {} {} is not device-accessible memory", what, pointer);
  return check_inside(*place, address_of(pointer), n_bytes, what);
}

}  // namespace course::cudart
