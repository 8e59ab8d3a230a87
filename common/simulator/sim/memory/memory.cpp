// SPDX-License-Identifier: MIT
#include "sim/memory/memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace course::sim {
namespace {

constexpr std::uint64_t kAlignment = 256;
constexpr std::uint64_t kGap = 256;  // minimum gap between allocations
// The additional gap while unused addresses remain (smaller in a small arena), so that an access a few
// thousand elements past the end of an allocation does not hit the next one.
constexpr std::uint64_t kWideGap = 64 << 10;
// Addresses for the heap: room for a heap of the default size that consists of the smallest allocations.
constexpr std::uint64_t kHeapZone = 32 * kHeapBytes;
constexpr std::uint64_t kPage = 4096;
constexpr std::size_t kMaxFreed = 65536;  // that are kept for diagnosis
// How far around a freed allocation memory is returned. A page of shadow memory stands for up to 128 KiB.
constexpr std::uint64_t kReturned = 1 << 20;

// In builds with AddressSanitizer and with SIM_MARK_GAPS in the environment, it knows the gaps between
// allocations and what has been freed. Undo copies whole pages, so only on one host thread.
#ifdef __SANITIZE_ADDRESS__
bool marks_gaps() {
  static const bool marks = std::getenv("SIM_MARK_GAPS") != nullptr;
  return marks;
}
void forbid(std::uint64_t address, std::uint64_t n_bytes) {
  if (marks_gaps()) ASAN_POISON_MEMORY_REGION(reinterpret_cast<void*>(address), n_bytes);
}
void permit(std::uint64_t address, std::uint64_t n_bytes) {
  if (marks_gaps()) ASAN_UNPOISON_MEMORY_REGION(reinterpret_cast<void*>(address), n_bytes);
}
#else
void forbid(std::uint64_t, std::uint64_t) {}
void permit(std::uint64_t, std::uint64_t) {}
#endif

// Returns the whole pages of a range to the host; they are zero when they are used again.
void drop_pages(std::uint64_t first, std::uint64_t end) {
  first = (first + kPage - 1) / kPage * kPage;
  end = end / kPage * kPage;
  if (end > first) madvise(reinterpret_cast<void*>(first), end - first, MADV_DONTNEED);
}

std::uint64_t footprint(std::uint64_t n_bytes) {
  return (n_bytes + kAlignment - 1) / kAlignment * kAlignment + kGap;
}

// The share of the heap size that an allocation uses: its bytes and a header, as in CUDA, without the gaps
// that detect overruns.
std::uint64_t heap_share(std::uint64_t n_bytes) {
  constexpr std::uint64_t kUnit = 16;
  return (n_bytes + kUnit - 1) / kUnit * kUnit + kUnit;
}

// The entry that contains `address` in a table sorted by base, or nullptr.
const Allocation* containing(const std::map<std::uint64_t, Allocation>& table, std::uint64_t address) {
  auto after = table.upper_bound(address);
  if (after == table.begin()) return nullptr;
  const Allocation& candidate = std::prev(after)->second;
  return address - candidate.base < candidate.size ? &candidate : nullptr;
}

}  // namespace

void fill_elements(std::byte* dst, std::uint32_t value, std::uint32_t element_bytes, std::uint64_t count) {
  if (element_bytes == 1) {
    if (count != 0) std::memset(dst, static_cast<int>(value & 0xff), count);  // else dst may be null
    return;
  }
  for (std::uint64_t i = 0; i < count; ++i)
    std::memcpy(dst + i * element_bytes, &value, element_bytes);  // little-endian: the low bytes
}

Arena::Arena(std::uint64_t n_bytes) : capacity_(n_bytes) {
  const std::uint64_t heap = std::min(kHeapZone, n_bytes / 8 / kPage * kPage);
  const std::uint64_t host_begin = (n_bytes + heap + kPage - 1) / kPage * kPage;
  size_ = host_begin + n_bytes / 2;
  void* place =
      mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (place == MAP_FAILED)
    throw std::runtime_error(fmt::format("the simulator cannot reserve {} MiB of address space: {}",
                                         size_ >> 20, std::strerror(errno)));
  base_ = reinterpret_cast<std::uint64_t>(place);
  main_ = {base_ + kGap, base_ + n_bytes, base_ + kGap};
  heap_ = {base_ + n_bytes, base_ + n_bytes + heap, base_ + n_bytes};
  host_ = {base_ + host_begin, base_ + size_, base_ + host_begin};
}

Arena::~Arena() {
  permit(base_, size_);
  munmap(reinterpret_cast<void*>(base_), size_);
}

// The first hole of `need` bytes between live allocations that begin from `from` on, and before `end`.
std::optional<std::uint64_t> Arena::find_hole(const Zone& zone, std::uint64_t from, std::uint64_t end,
                                              std::uint64_t need) const {
  auto it = live_.lower_bound(from);
  std::uint64_t hole = zone.begin;
  if (it != live_.begin() && std::prev(it)->first >= zone.begin)
    hole = std::prev(it)->first + footprint(std::prev(it)->second.size);
  for (; it != live_.end() && it->first < end; ++it) {
    if (it->first - hole >= need) return hole;
    hole = it->first + footprint(it->second.size);
  }
  if (end == zone.end && hole <= end && end - hole >= need) return hole;
  return std::nullopt;
}

std::optional<std::uint64_t> Arena::place(Zone& zone, std::uint64_t n_bytes, std::uint64_t wide_gap) {
  const std::uint64_t need = footprint(n_bytes);
  if (need <= zone.end - zone.fresh) {
    const std::uint64_t address = zone.fresh;
    zone.fresh += std::min(need + wide_gap, zone.end - zone.fresh);
    return address;
  }
  // There are no unused addresses left: find a large enough hole between live allocations. The search goes on
  // where the last one ended, so that many allocations do not look at all others each.
  if (need >= zone.no_hole) return std::nullopt;
  auto hole = find_hole(zone, zone.next, zone.end, need);
  if (!hole) hole = find_hole(zone, zone.begin, zone.next, need);
  if (!hole) {
    zone.no_hole = need;
    return std::nullopt;
  }
  zone.next = *hole + need;
  const auto overlaps = [&](const Allocation& a) {
    return a.base < *hole + need && *hole < a.base + footprint(a.size);
  };
  std::erase_if(freed_, [&](const auto& entry) { return overlaps(entry.second); });
  return hole;
}

const Allocation& Arena::add(std::uint64_t address, std::uint64_t n_bytes, MemoryKind kind) {
  Allocation allocation;
  allocation.base = address;
  allocation.size = n_bytes;
  allocation.kind = kind;
  forbid(address, footprint(n_bytes));
  permit(address, n_bytes);
  return live_.emplace(address, std::move(allocation)).first->second;
}

Result<std::uint64_t> Arena::allocate(std::uint64_t n_bytes, MemoryKind kind) {
  if (n_bytes > capacity_) return Error{"out of memory"};
  const std::uint64_t wide_gap = std::min(kWideGap, capacity_ / 4096 / kAlignment * kAlignment);
  const bool host_may_access = kind == MemoryKind::pinned_host || kind == MemoryKind::managed;
  const auto address = footprint(n_bytes) > capacity_ - used_
                           ? std::nullopt
                           : place(host_may_access ? host_ : main_, n_bytes, wide_gap);
  if (!address)
    return Error{
        fmt::format("out of memory: {} bytes asked for, {} of {} free", n_bytes, free_bytes(), capacity_)};
  used_ += footprint(n_bytes);
  add(*address, n_bytes, kind);
  return *address;
}

Result<void> Arena::release(std::uint64_t address, Range* range) {
  const auto it = live_.find(address);
  if (it == live_.end()) {
    if (freed_.contains(address)) return Error{"this memory was freed before"};
    return Error{"not the start of an allocation"};
  }
  // Up to the neighbours.
  const std::uint64_t end = address + it->second.size;
  Range dead{address - std::min(address - base_, kReturned), 0};
  if (it != live_.begin())
    dead.address = std::max(dead.address, std::prev(it)->first + std::prev(it)->second.size);
  std::uint64_t dead_end = std::min(base_ + size_, end + kReturned);
  if (const auto next = std::next(it); next != live_.end()) dead_end = std::min(dead_end, next->first);
  dead.n_bytes = dead_end - dead.address;
  Allocation gone = std::move(it->second);
  live_.erase(it);
  if (address < heap_.begin || address >= heap_.end) used_ -= footprint(gone.size);
  std::erase_if(named_,
                [&](const auto& e) { return e.first - gone.base < std::max<std::uint64_t>(gone.size, 1); });
  for (Zone* zone : {&main_, &heap_, &host_}) zone->no_hole = ~std::uint64_t{0};
  forbid(gone.base, gone.size);
  drop_pages(dead.address, dead_end);
  freed_.insert_or_assign(gone.base, std::move(gone));
  if (freed_.size() > kMaxFreed) freed_.erase(freed_.begin());  // about the oldest
  if (range != nullptr) *range = dead;
  return {};
}

Result<std::uint64_t> Arena::allocate_on_heap(std::uint64_t n_bytes) {
  heap_in_use_ = true;
  if (n_bytes > heap_bytes_ || heap_share(n_bytes) > heap_bytes_ - heap_used_) {
    heap_refused_ = fmt::format("{} bytes did not fit into the heap of {} bytes", n_bytes, heap_bytes_);
    return Error{heap_refused_};
  }
  auto address = place(heap_, n_bytes, std::min<std::uint64_t>(kPage, n_bytes / kAlignment * kAlignment));
  if (address) {
    add(*address, n_bytes, MemoryKind::device);
  } else {  // a heap that the program has made larger than the zone
    const auto elsewhere = allocate(n_bytes, MemoryKind::device);
    if (!elsewhere) return elsewhere;
    address = *elsewhere;
  }
  live_.at(*address).by_kernel = true;
  heap_used_ += heap_share(n_bytes);
  return *address;
}

Result<void> Arena::release_on_heap(std::uint64_t address) {
  const auto it = live_.find(address);
  if (it != live_.end()) {
    if (!it->second.by_kernel) return Error{"this memory was not allocated by a kernel"};
    heap_used_ -= heap_share(it->second.size);
  }
  return release(address);
}

Result<void> Arena::set_heap_bytes(std::uint64_t n_bytes) {
  if (heap_in_use_) return Error{"the heap's size can't be changed after a kernel has called malloc"};
  heap_bytes_ = n_bytes;
  return {};
}

Arena::Range Arena::empty_heap() {
  for (auto it = live_.begin(); it != live_.end();) {
    const Allocation& one = (it++)->second;
    if (one.by_kernel) static_cast<void>(release_on_heap(one.base));
  }
  // Also forget what kernels have freed; otherwise a loop of malloc and free would fill the table.
  std::erase_if(freed_, [](const auto& entry) { return entry.second.by_kernel; });
  heap_in_use_ = false;
  drop_pages(heap_.begin, heap_.fresh);
  const Range used{heap_.begin, heap_.fresh - heap_.begin};
  heap_.fresh = heap_.begin;
  return used;
}

const Allocation* Arena::find(std::uint64_t address) const {
  const Allocation* a = containing(live_, address);
  return a != nullptr && a->only_parts ? containing(named_, address) : a;
}
const Allocation* Arena::find_freed(std::uint64_t address) const {
  return containing(freed_, address);
}

void Arena::set_others(std::vector<OtherMemory> others) {
  others_ = std::move(others);
  std::ranges::sort(others_, [](const auto& a, const auto& b) { return a.memory.base < b.memory.base; });
  shares_ = std::ranges::any_of(others_, [](const auto& one) { return one.refusal.empty(); });
}

const OtherMemory* Arena::find_other(std::uint64_t address) const {
  const auto after =
      std::upper_bound(others_.begin(), others_.end(), address,
                       [](std::uint64_t at, const OtherMemory& one) { return at < one.memory.base; });
  if (after == others_.begin()) return nullptr;
  const OtherMemory& one = *std::prev(after);
  return address - one.memory.base < one.memory.size ? &one : nullptr;
}

const Allocation* Arena::find_for_kernel(std::uint64_t address) const {
  if (contains(address) || !shares_) return find(address);
  const OtherMemory* other = find_other(address);
  return other != nullptr && other->refusal.empty() ? &other->memory : nullptr;
}

const Allocation* Arena::nearest(std::uint64_t address) const {
  if (const Allocation* owner = containing(live_, address); owner != nullptr && owner->only_parts) {
    const auto part_after = named_.upper_bound(address);
    const bool is_inside = part_after != named_.end() && part_after->first - owner->base < owner->size;
    if (part_after == named_.begin() || std::prev(part_after)->first < owner->base)
      return is_inside ? &part_after->second : owner;
    const Allocation& below = std::prev(part_after)->second;
    const bool is_closer = is_inside && part_after->first - address < address - (below.base + below.size);
    return is_closer ? &part_after->second : &below;
  }
  const auto counts = [&](const Allocation& a) {
    if (a.kind != MemoryKind::module_variable) return true;
    const std::uint64_t off = address < a.base ? a.base - address : address - (a.base + a.size);
    return off < kGap;
  };
  auto after = live_.upper_bound(address);
  auto before = after;
  while (after != live_.end() && !counts(after->second)) ++after;
  const Allocation* below = nullptr;
  while (below == nullptr && before != live_.begin())
    if (--before; counts(before->second)) below = &before->second;
  const Allocation* above = after == live_.end() ? nullptr : &after->second;
  if (above == nullptr || below == nullptr) return above != nullptr ? above : below;
  return address - (below->base + below->size) <= above->base - address ? below : above;
}

void Arena::name(std::uint64_t address, std::uint64_t n_bytes, std::uint32_t element_bytes, std::string name,
                 bool is_data) {
  const Allocation* owner = containing(live_, address);
  if (owner == nullptr) return;
  if (owner->base == address && owner->size == n_bytes) live_.at(address).name = name;
  Allocation part = *owner;
  part.base = address;
  part.size = n_bytes;
  part.element_bytes = std::max(element_bytes, 1u);
  part.name = std::move(name);
  part.is_data = is_data;
  named_.insert_or_assign(address, std::move(part));
}

void Arena::confine(std::uint64_t address, bool to_parts) {
  if (const Allocation* owner = containing(live_, address)) live_.at(owner->base).only_parts = to_parts;
}

const Allocation* Arena::describe(std::uint64_t address) const {
  if (const Allocation* part = containing(named_, address)) return part;
  return find(address);
}

void Arena::note_maker(std::uint64_t address, std::string kernel, std::vector<SourcePlace> where,
                       const ThreadId& thread) {
  Allocation& a = live_.at(address);
  a.made_by = std::move(kernel);
  a.made_at = std::move(where);
  a.maker = thread;
}

std::vector<Allocation> Arena::take_made_by_kernels() {
  std::vector<Allocation> made;
  for (auto& [base, allocation] : live_) {
    if (allocation.made_by.empty()) continue;
    made.push_back(allocation);
    allocation.made_by.clear();
  }
  return made;
}

std::vector<Allocation> Arena::ranges(bool Allocation::*marked) const {
  std::vector<Allocation> ranges;
  for (const auto& [base, part] : named_)
    if (part.*marked) ranges.push_back(part);
  return ranges;
}

}  // namespace course::sim
