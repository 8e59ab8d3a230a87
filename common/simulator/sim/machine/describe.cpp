// SPDX-License-Identifier: MIT
#include "sim/machine/describe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/demangle.hpp"
#include "sim/machine/source_places.hpp"
#include "sim/machine/warp.hpp"

namespace course::sim {

std::string plain_name(const std::string& mangled) {
  // Where names would collide, compilers append a number: s_$_0, s$1.
  std::string_view stem(mangled);
  while (!stem.empty() && stem.back() >= '0' && stem.back() <= '9') stem.remove_suffix(1);
  if (stem.ends_with("_$_"))
    stem.remove_suffix(3);
  else if (stem.ends_with("$"))
    stem.remove_suffix(1);
  else
    stem = mangled;
  std::string name = demangled(stem.empty() ? std::string_view(mangled) : stem);
  if (const auto scope = name.rfind("::"); scope != std::string::npos) name = name.substr(scope + 2);
  return name;
}

namespace {

std::string title(const Allocation& a) {
  if (!a.name.empty()) return plain_name(a.name);
  return fmt::format("an allocation of {} bytes", a.size);
}

// Memory without an element type gets the element size of the access.
std::uint64_t element_size(const Allocation& a, std::uint32_t element_bytes) {
  return a.element_bytes == 1 && element_bytes != 0 ? element_bytes : a.element_bytes;
}

std::uint64_t distance(const Allocation& a, std::uint64_t address) {
  return address < a.base ? a.base - address : address - std::min(address, a.base + a.size);
}

// The fill pattern of memory that nothing has written yet: shared memory when a block begins, and buffers of
// the harness.
constexpr std::uint64_t kUnwritten = 0xA5A5A5A5A5A5A5A5, kUnwrittenWord = 0xA5A5A5A5;

// Whether `value` differs from the fill pattern by a small offset only.
bool is_near(std::uint64_t value, std::uint64_t unwritten) {
  constexpr std::uint64_t kOffset = std::uint64_t{1} << 20;
  return value - unwritten + kOffset < 2 * kOffset;
}

// Whether an access `distance` bytes from the start of its array has the fill pattern as its index: a 32-bit
// index with or without sign, or a 64-bit index.
bool has_unwritten_index(std::uint64_t distance, std::uint64_t element_bytes) {
  constexpr std::uint64_t kSigned = kUnwrittenWord - (std::uint64_t{1} << 32);
  return is_near(distance, kUnwrittenWord * element_bytes) || is_near(distance, kSigned * element_bytes) ||
         is_near(distance, kUnwritten * element_bytes);
}

constexpr const char* kFromUnwritten =
    "was read from memory that nothing had written before: each of its bytes is 0xA5";

// Bytes. Farther away, the nearest buffer says nothing about the cause.
constexpr std::uint64_t kNear = std::uint64_t{1} << 20;

// Of the allocations that the pointers point into, the one closest to the address; nullptr if there is none.
const Allocation* origin_of(const Arena& arena, std::uint64_t address,
                            std::span<const std::uint64_t> pointers) {
  const Allocation* best = nullptr;
  for (const std::uint64_t pointer : pointers) {
    const Allocation* a = arena.find(pointer);
    if (a != nullptr && (best == nullptr || distance(*a, address) < distance(*best, address))) best = a;
  }
  return best;
}

std::string element_of(const Allocation& a, std::uint64_t address, std::uint32_t element_bytes = 0) {
  const std::uint64_t bytes = element_size(a, element_bytes);
  const std::uint64_t n = a.size / bytes;
  const std::uint64_t index = (address - a.base) / bytes;
  if (n == 1 && !a.name.empty()) return title(a);
  if (bytes == element_bytes && (address - a.base) % bytes != 0)
    return fmt::format("{}, byte {} of {}", title(a), address - a.base, a.size);
  return fmt::format("{}, element {} of {}{}", title(a), index, n, index < n ? "" : " (past its end)");
}

// An index below 0 wraps around in a window of 32-bit addresses.
std::int32_t with_sign(std::uint64_t offset) {
  return static_cast<std::int32_t>(offset);
}

// "shared memory at byte -4, before its start"
std::string byte_of(const char* memory, std::uint64_t offset) {
  return fmt::format("{} memory at byte {}{}", memory, with_sign(offset),
                     with_sign(offset) < 0 ? ", before its start" : "");
}

// The compiler declares shared arrays as bytes, so the access determines the element size: `element_bytes`.
std::string shared_object(const Program& program, std::uint64_t offset, std::uint32_t element_bytes) {
  const Program::SharedVariable* best = nullptr;
  for (const auto& v : program.shared) {
    if (offset < v.offset || (v.size != 0 && offset >= v.offset + v.size)) continue;
    if (best == nullptr || v.size != 0) best = &v;
  }
  if (best == nullptr) return byte_of("shared", offset);
  const std::uint64_t within = offset - best->offset;
  const std::uint32_t bytes =
      best->element_bytes == 1 && element_bytes != 0 ? element_bytes : best->element_bytes;
  if (best->size == bytes) return plain_name(best->name);
  if ((bytes == 1 && element_bytes == 0) || within % bytes != 0)
    return fmt::format("{} at byte {}", plain_name(best->name), within);
  return fmt::format("{}[{}]", plain_name(best->name), within / bytes);
}

}  // namespace

std::string outside_of_shared(std::uint64_t offset, std::uint64_t n_bytes) {
  return fmt::format("{} the block's {} bytes of shared memory",
                     with_sign(offset) < 0 ? "before the start of" : "past the end of", n_bytes);
}

std::string describe_thread(const ThreadId& id) {
  const auto triple = [](const std::uint32_t* v) {
    if (v[1] == 0 && v[2] == 0) return fmt::format("{}", v[0]);
    return fmt::format("({}, {}, {})", v[0], v[1], v[2]);
  };
  return fmt::format("thread {} of block {}", triple(id.thread), triple(id.block));
}

ThreadId thread_of(const LaunchRequest& launch, std::uint64_t block, std::uint64_t thread) {
  const auto split = [](const Dim3& size, std::uint64_t n, std::uint32_t* out) {
    out[0] = static_cast<std::uint32_t>(n % size.x);
    out[1] = static_cast<std::uint32_t>(n / size.x % size.y);
    out[2] = static_cast<std::uint32_t>(n / size.x / size.y);
  };
  ThreadId id;
  split(launch.grid, block, id.block);
  split(launch.block, thread, id.thread);
  return id;
}

std::string describe_null(const Arena& arena) {
  if (arena.heap_refused().empty()) return "a null pointer";
  return fmt::format(
      "a null pointer, as malloc in a kernel returned: {} (cudaDeviceSetLimit(cudaLimitMallocHeapSize, "
      "bytes) before the first launch makes it larger)",
      arena.heap_refused());
}

std::string describe_address(const Program& program, const Arena& arena, std::uint64_t address,
                             std::uint32_t element_bytes, std::span<const std::uint64_t> origins) {
  if (address >= kSharedWindow && address < kSharedWindow + kWindowSize)
    return shared_object(program, address - kSharedWindow, element_bytes);
  if (address >= kLocalWindow && address < kLocalWindow + kWindowSize)
    return byte_of("local", address - kLocalWindow) +
           (std::ranges::any_of(origins, [](std::uint64_t at) { return at - kLocalWindow < kWindowSize; })
                ? ": the kernel's argument is a pointer to a local variable, which only the thread that has "
                  "it can access, no kernel that this thread launches (pass memory of malloc or cudaMalloc)"
                : "");
  if (address < 4096) return describe_null(arena);
  if (const Allocation* a = arena.describe(address); a != nullptr && address - a->base < a->size)
    return element_of(*a, address, element_bytes);
  if (const OtherMemory* other = arena.find_other(address))
    return other->refusal.empty() ? element_of(other->memory, address, element_bytes) : other->refusal;
  if (const Allocation* a = arena.find_freed(address)) return "freed memory: " + element_of(*a, address);
  if (is_near(address, kUnwritten)) return fmt::format("no address: the pointer {}", kFromUnwritten);
  const Allocation* near = origin_of(arena, address, origins);
  const bool known = near != nullptr;
  if (!known && (address < arena.base() || address >= arena.base() + arena.size()))
    return std::string("an address outside of the device's memory: ") +
           (program.demangled.find("{lambda") == std::string::npos
                ? "a host pointer, or one that was computed wrongly"
                : "a host pointer, such as the this that a lambda with [=] or [&] in a member function "
                  "captures (copy the members to local variables first, or capture *this), or one that was "
                  "computed wrongly");
  if (!known) {
    near = arena.nearest(address);
    if (near == nullptr || distance(*near, address) > std::max(kNear, 4 * near->size))
      return "an address at which nothing is allocated";
  }
  // If the owner has named a part of the allocation, describes that part.
  const Allocation* named = arena.describe(address >= near->base ? near->base + near->size - 1 : near->base);
  const Allocation& a = named != nullptr ? *named : *near;
  const std::uint64_t bytes = element_size(a, element_bytes), n = a.size / bytes;
  if (known && has_unwritten_index(address - a.base, bytes))
    return fmt::format("{}, at an index that {}", title(a), kFromUnwritten);
  return address >= a.base + a.size
             ? fmt::format("{}, element {} of {} (past its end)", title(a), (address - a.base) / bytes, n)
             : fmt::format("{}, {} element(s) before its start", title(a),
                           (a.base - address + bytes - 1) / bytes);
}

std::string describe_waits(const Block& block, bool running_too) {
  std::string text;
  int n_listed = 0;
  for (const Warp& w : block.warps) {
    for (const Group& g : w.groups) {
      if (g.wait == Wait::none && !running_too) continue;
      if (n_listed++ == 4) return text + "; …";
      const Program& program = *w.program;
      const BasicBlock& b = program.blocks[g.block];
      // A block in which a group waits begins with the op that waits; any other may have no ops.
      const MicroOp* const op = g.wait == Wait::none ? nullptr : &program.ops[b.first];
      const std::string place = op == nullptr ? one_line(places_of(program, b.function, b.ptx_index))
                                              : one_line(places_of(program, *op));
      const int lanes = std::popcount(g.mask);
      if (!text.empty()) text += "; ";
      if (g.wait == Wait::barrier) {
        const Barrier& barrier = block.barriers[g.barrier];
        const std::uint32_t expected = barrier.expected != 0 ? barrier.expected : block.live_threads;
        text +=
            fmt::format("{} thread(s) of warp {} wait at barrier {}, {}, where {} of {} threads have arrived",
                        lanes, w.number, g.barrier, place, barrier.arrived, expected);
      } else if (g.wait == Wait::none) {
        text += fmt::format("{} thread(s) of warp {} run at {}", lanes, w.number, place);
      } else {
        Warp& writable = const_cast<Warp&>(w);
        const std::uint32_t members = writable.slot<std::uint32_t>(op->src[3])[std::countr_zero(g.mask)];
        text += fmt::format(
            "lanes {:#010x} of warp {} wait at {} for lanes {:#010x} of their member mask {:#010x}", g.mask,
            w.number, place, members & w.live & ~g.mask, members);
      }
    }
  }
  return text;
}

}  // namespace course::sim
