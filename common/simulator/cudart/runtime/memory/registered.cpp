// SPDX-License-Identifier: MIT
#include "cudart/runtime/memory/registered.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <map>
#include <mutex>

#include "cudart/runtime/host/work_order.hpp"
#include "cudart/runtime/memory/memory.hpp"

namespace course::cudart {
namespace {

constexpr unsigned kPortable = 1, kMapped = 2, kIo = 4, kReadOnly = 8;  // flags of cudaHostRegister
constexpr std::uint64_t kPage = 4096;

struct Registration {
  std::uint64_t n_bytes = 0;
  Context* context = nullptr;  // the one that was current at cudaHostRegister
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
  all[address] = {n_bytes, &context};
  table().ever = true;
  return cudaSuccess;
}

Status unregister_host(const void* pointer) {
  if (pointer == nullptr) return fail(cudaErrorInvalidValue, "a null pointer");
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
    n_bytes = found->second.n_bytes;
    table().by_address.erase(found);
  }
  forget_accesses(address_of(pointer), n_bytes);
  return cudaSuccess;
}

void forget_registered(Context& context) {
  const std::lock_guard guard(table().lock);
  std::erase_if(table().by_address, [&](const auto& entry) { return entry.second.context == &context; });
}

std::optional<sim::ByteRange> registered_range(const void* pointer) {
  const std::lock_guard guard(table().lock);
  const auto found = holding(address_of(pointer));
  if (found == table().by_address.end()) return {};
  return sim::ByteRange{found->first, found->second.n_bytes};
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

}  // namespace course::cudart
