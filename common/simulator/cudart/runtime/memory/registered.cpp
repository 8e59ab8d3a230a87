// SPDX-License-Identifier: MIT
#include "cudart/runtime/memory/registered.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>

#include "cudart/runtime/host/work_order.hpp"
#include "cudart/runtime/memory/memory.hpp"

namespace course::cudart {
namespace {

constexpr unsigned kPortable = 1, kMapped = 2, kIo = 4, kReadOnly = 8;  // flags of cudaHostRegister
constexpr std::uint64_t kPage = 4096;

struct Mirror {
  std::byte* bytes = nullptr;      // in device memory; nullptr: not created yet
  std::vector<std::byte> brought;  // the host's bytes when the device's current operation began
};
struct Registration {
  std::uint64_t n_bytes = 0;
  Context* context = nullptr;  // the one that was current at cudaHostRegister
  std::map<Context*, Mirror> mirrors;
};
struct Table {
  std::mutex lock;
  std::map<std::uint64_t, Registration> by_address;
  std::atomic<bool> ever = false;
};
Table& table() {
  static auto& all = *new Table;  // programs call in from atexit handlers
  return all;
}

std::byte* bytes_at(std::uint64_t address) {
  return reinterpret_cast<std::byte*>(address);  // NOLINT
}

// Whether the whole range is memory of this process. Checked in pieces, because the size may be arbitrarily
// large.
bool is_mapped(std::uint64_t address, std::uint64_t n_bytes) {
  unsigned char resident[4096];
  constexpr std::uint64_t kPiece = kPage * sizeof resident;
  const std::uint64_t end = address + n_bytes;
  for (std::uint64_t at = address / kPage * kPage; at < end; at += kPiece)
    if (mincore(bytes_at(at), std::min(kPiece, end - at), resident) != 0) return false;
  return true;
}

// The registration that contains `address`, or end(). Must be called under the table's lock.
std::map<std::uint64_t, Registration>::iterator holding(std::uint64_t address) {
  auto& all = table().by_address;
  const auto after = all.upper_bound(address);
  if (after == all.begin()) return all.end();
  const auto found = std::prev(after);
  return address - found->first < found->second.n_bytes ? found : all.end();
}

void release_mirror(Context& context, const Mirror& mirror) {
  const std::lock_guard guard(context.lock);
  (void)context.device().release(address_of(mirror.bytes));
}

// The host address of a pointer into a mirror, or nullptr. Must be called under the table's lock.
std::byte* host_of(const void* pointer) {
  for (const auto& [address, registration] : table().by_address)
    for (const auto& [context, mirror] : registration.mirrors) {
      const std::uint64_t at = address_of(pointer) - address_of(mirror.bytes);
      if (at < registration.n_bytes) return bytes_at(address + at);
    }
  return nullptr;
}

// Copies only the changed bytes back, because another host thread may be writing next to them.
void bring_back(std::byte* host, const std::byte* now, const std::byte* before, std::uint64_t n_bytes) {
  constexpr std::uint64_t kPiece = 256;
  for (std::uint64_t first = 0; first < n_bytes; first += kPiece) {
    const std::uint64_t end = std::min(first + kPiece, n_bytes);
    if (std::memcmp(now + first, before + first, end - first) == 0) continue;
    for (std::uint64_t k = first; k < end; ++k)
      if (now[k] != before[k]) host[k] = now[k];
  }
}

}  // namespace

bool ever_registered() {
  return table().ever;
}

Status register_host(Context& context, void* pointer, std::uint64_t n_bytes, unsigned flags) {
  const std::uint64_t address = address_of(pointer);
  if (pointer == nullptr || n_bytes == 0 || n_bytes > ~address)
    return fail(cudaErrorInvalidValue, "{} bytes at {} cannot be registered", n_bytes, pointer);
  if ((flags & ~(kPortable | kMapped | kIo | kReadOnly)) != 0)
    return fail(cudaErrorInvalidValue, "unknown flags {:#x}", flags);
  if ((flags & (kIo | kReadOnly)) != 0)
    return fail(cudaErrorNotSupported,
                "cudaHostRegisterIoMemory and cudaHostRegisterReadOnly are not supported");
  for (const std::uint64_t end : {address, address + n_bytes - 1}) {
    const auto place = locate(bytes_at(end));
    if (place && place->kind == sim::MemoryKind::pinned_host)
      return fail(cudaErrorHostMemoryAlreadyRegistered, "{} is pinned already, by cudaMallocHost", pointer);
    if (place) return fail(cudaErrorInvalidValue, "{} is memory of the device, not of the host", pointer);
  }
  if (!is_mapped(address, n_bytes))
    return fail(cudaErrorInvalidValue, "the {} bytes at {} are not all memory of this program", n_bytes,
                pointer);
  const std::lock_guard guard(table().lock);
  auto& all = table().by_address;
  const auto next = all.lower_bound(address);
  if (holding(address) != all.end() || (next != all.end() && next->first < address + n_bytes))
    return fail(cudaErrorHostMemoryAlreadyRegistered,
                "some of the {} bytes at {} are registered: cudaHostUnregister them first", n_bytes, pointer);
  all[address] = {n_bytes, &context, {}};
  table().ever = true;
  return cudaSuccess;
}

Status unregister_host(const void* pointer) {
  if (pointer == nullptr) return fail(cudaErrorInvalidValue, "a null pointer");
  std::map<Context*, Mirror> mirrors;
  std::uint64_t n_bytes = 0;
  {
    const std::lock_guard guard(table().lock);
    const auto found = holding(address_of(pointer));
    if (found == table().by_address.end())
      return fail(cudaErrorHostMemoryNotRegistered, "{} is not registered", pointer);
    if (found->first != address_of(pointer))
      return fail(cudaErrorHostMemoryNotRegistered,
                  "{} lies inside the memory registered at {:#x}: unregister its start address", pointer,
                  found->first);
    mirrors = std::move(found->second.mirrors);
    n_bytes = found->second.n_bytes;
    table().by_address.erase(found);
  }
  forget_accesses(address_of(pointer), n_bytes);
  for (const auto& [context, mirror] : mirrors) release_mirror(*context, mirror);
  return cudaSuccess;
}

void forget_registered(Context& context) {
  std::vector<std::pair<Context*, Mirror>> gone;
  {
    const std::lock_guard guard(table().lock);
    auto& all = table().by_address;
    for (auto at = all.begin(); at != all.end();) {
      auto& mirrors = at->second.mirrors;
      const bool ends = at->second.context == &context;
      for (auto m = mirrors.begin(); m != mirrors.end();) {
        const bool goes = ends || m->first == &context;
        if (goes) gone.emplace_back(m->first, std::move(m->second));
        m = goes ? mirrors.erase(m) : std::next(m);
      }
      at = ends ? all.erase(at) : std::next(at);
    }
  }
  for (const auto& [owner, mirror] : gone) release_mirror(*owner, mirror);
}

bool is_registered(const void* pointer) {
  const std::lock_guard guard(table().lock);
  return holding(address_of(pointer)) != table().by_address.end() || host_of(pointer) != nullptr;
}

Status device_pointer(Context& context, void* host, void** out) {
  const std::lock_guard guard(context.lock);  // taken before the table's lock, never after it
  const std::lock_guard table_guard(table().lock);
  const auto found = holding(address_of(host));
  if (found == table().by_address.end()) return fail(cudaErrorInvalidValue, "{} is not registered", host);
  Registration& registration = found->second;
  Mirror& mirror = registration.mirrors[&context];
  if (mirror.bytes == nullptr) {
    const auto place = context.device().allocate(registration.n_bytes, sim::MemoryKind::pinned_host);
    if (!place) {
      registration.mirrors.erase(&context);
      return {cudaErrorMemoryAllocation, place.error().text};
    }
    context.device().name_buffer(*place, registration.n_bytes, 1, "registered host memory", false);
    context.device().host_wrote(*place, registration.n_bytes);
    mirror.bytes = bytes_at(*place);
  }
  *out = mirror.bytes + (address_of(host) - found->first);
  return cudaSuccess;
}

void* host_pointer(const void* device) {
  const std::lock_guard guard(table().lock);
  return host_of(device);
}

void add_registered(std::vector<sim::OtherMemory>& others) {
  const std::lock_guard guard(table().lock);
  for (const auto& [address, registration] : table().by_address) {
    sim::OtherMemory other;
    other.memory.base = address;
    other.memory.size = registration.n_bytes;
    other.memory.kind = sim::MemoryKind::pinned_host;
    other.memory.name = "registered host memory";
    others.push_back(std::move(other));
  }
}

MirroredHostMemory::MirroredHostMemory(Context& context) : context_(context) {
  const std::lock_guard guard(table().lock);
  for (auto& [address, registration] : table().by_address) {
    const auto found = registration.mirrors.find(&context_);
    if (found == registration.mirrors.end()) continue;
    Mirror& mirror = found->second;
    mirror.brought.assign(bytes_at(address), bytes_at(address) + registration.n_bytes);
    std::memcpy(mirror.bytes, mirror.brought.data(), registration.n_bytes);
  }
}

MirroredHostMemory::~MirroredHostMemory() {
  const std::lock_guard guard(table().lock);
  for (auto& [address, registration] : table().by_address) {
    const auto found = registration.mirrors.find(&context_);
    if (found == registration.mirrors.end() || found->second.brought.empty()) continue;
    const Mirror& mirror = found->second;
    bring_back(bytes_at(address), mirror.bytes, mirror.brought.data(), registration.n_bytes);
  }
}

}  // namespace course::cudart
