// SPDX-License-Identifier: MIT
// The simulated chip's memory: one reserved address range (the arena) and the table of its allocations.
// Invariant: live allocations never overlap, are 256-byte aligned and at least 256 bytes apart, so that an
// access one element past the end of an allocation never hits another one. Freed addresses are reused only
// when the arena has no unused addresses left, so that use after free can be detected. The heap of kernels
// has addresses of its own, which are reused when it is emptied. So has memory that host code may access
// (page-locked, managed): they are the last ones, and begin with a page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "sim/types.hpp"

namespace course::sim {

// Generic addresses of the windows for shared and local memory. Real addresses in this process are far below.
inline constexpr std::uint64_t kSharedWindow = std::uint64_t{1} << 56;
inline constexpr std::uint64_t kLocalWindow = std::uint64_t{2} << 56;
inline constexpr std::uint64_t kFunctionWindow = std::uint64_t{3} << 56;  // for pointers to functions
// Within the window of shared memory, the part of the cluster's block with rank r starts at (r + 1) ·
// kBlockPart; the block's own part starts at 0.
inline constexpr std::uint64_t kBlockPart = std::uint64_t{1} << 24;
inline constexpr std::uint64_t kWindowSize = std::uint64_t{1} << 32;

inline constexpr std::uint64_t kHeapBytes = std::uint64_t{8} << 20;  // default of cudaLimitMallocHeapSize

// Writes `count` elements of 1, 2 or 4 bytes, each with the low bytes of `value`.
void fill_elements(std::byte* dst, std::uint32_t value, std::uint32_t element_bytes, std::uint64_t count);

class Arena {
 public:
  // For allocations of `n_bytes` in all. It reserves more address space than that, for the kernels' heap and
  // for memory that the host may access, too; the host provides pages at their first access.
  explicit Arena(std::uint64_t n_bytes);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  Result<std::uint64_t> allocate(std::uint64_t n_bytes, MemoryKind kind);
  // Returns the memory's pages to the host. `gone`, if not nullptr, gets the range in which nothing is
  // allocated any more: the allocation and the gaps around it, so that shadow memory can be returned, too.
  struct Range {
    std::uint64_t address = 0, n_bytes = 0;
  };
  Result<void> release(std::uint64_t address, Range* gone = nullptr);
  // The same for kernels, which allocate within the heap's size and may free only what kernels allocated.
  // Kernels that call these run on one host thread (Program::order_sensitive), because the tables have no
  // lock.
  Result<std::uint64_t> allocate_on_heap(std::uint64_t n_bytes);
  Result<void> release_on_heap(std::uint64_t address);
  const std::string& heap_refused() const { return heap_refused_; }  // the last failure of allocate_on_heap
  Result<void> set_heap_bytes(std::uint64_t n_bytes);
  Range empty_heap();  // the range that the heap used
  // The allocation that contains `address`, or the part of a confined one; nullptr if there is none.
  const Allocation* find(std::uint64_t address) const;
  // The allocation that contained `address` last before it was freed, or nullptr.
  const Allocation* find_freed(std::uint64_t address) const;
  // The live allocation or part of a confined one closest to `address`, below or above it, or nullptr.
  // A module's variables count only if they are less than 256 bytes away.
  const Allocation* nearest(std::uint64_t address) const;
  // Memory outside of the arena.
  void set_others(std::vector<OtherMemory> others);
  const OtherMemory* find_other(std::uint64_t address) const;
  // What kernels may access: live memory of the arena, and other memory unless it is refused.
  const Allocation* find_for_kernel(std::uint64_t address) const;
  // Whether all of these bytes belong to one live allocation: of the arena, or of what kernels may access.
  bool has(std::uint64_t address, std::uint64_t n_bytes) const {
    return covers(find(address), address, n_bytes);
  }
  bool has_for_kernel(std::uint64_t address, std::uint64_t n_bytes) const {
    return covers(find_for_kernel(address), address, n_bytes);
  }
  bool shares_memory() const { return shares_; }  // kernels may access some of the others
  bool contains(std::uint64_t address) const { return address - base_ < size_; }
  void name(std::uint64_t address, std::uint64_t n_bytes, std::uint32_t element_bytes, std::string name,
            bool is_data);
  // Whether only the named parts of the allocation that contains `address` may be accessed. Then the parts
  // have bounds of their own, and what lies between them belongs to no allocation.
  void confine(std::uint64_t address, bool to_parts);
  // The named part that contains the address, else its allocation; nullptr outside of all allocations.
  const Allocation* describe(std::uint64_t address) const;

  std::uint64_t base() const { return base_; }
  std::uint64_t size() const { return size_; }
  // The bytes from base() on that contain all memory of kernels alone: whole pages.
  std::uint64_t device_only_bytes() const { return host_.begin - base_; }
  std::uint64_t free_bytes() const { return capacity_ - used_; }
  const std::map<std::uint64_t, Allocation>& live() const { return live_; }
  // Records which kernel, source position and thread made an allocation.
  void note_maker(std::uint64_t address, std::string kernel, std::vector<SourcePlace> where,
                  const ThreadId& thread);
  // The allocations that kernels made and have not freed. Each is returned only once.
  std::vector<Allocation> take_made_by_kernels();
  // What kernels only read by instructions for constants: the whole allocation, before it is named.
  void make_constant(std::uint64_t address) { live_.at(address).is_constant = true; }
  // Named ranges marked as data, for the dataflow counters; those of constants.
  std::vector<Allocation> data_ranges() const { return ranges(&Allocation::is_data); }
  std::vector<Allocation> constant_ranges() const { return ranges(&Allocation::is_constant); }

 private:
  // Addresses from `begin` to `end`, of which those from `fresh` on have never been used. The next hole is
  // looked for at `next`; none of `no_hole` bytes or more is there until something is released.
  struct Zone {
    std::uint64_t begin = 0, end = 0, fresh = 0, next = begin, no_hole = ~std::uint64_t{0};
  };
  std::optional<std::uint64_t> find_hole(const Zone& zone, std::uint64_t from, std::uint64_t end,
                                         std::uint64_t need) const;
  static bool covers(const Allocation* a, std::uint64_t address, std::uint64_t n_bytes) {
    return a != nullptr && n_bytes <= a->size - (address - a->base);
  }
  std::optional<std::uint64_t> place(Zone& zone, std::uint64_t n_bytes, std::uint64_t wide_gap);
  const Allocation& add(std::uint64_t address, std::uint64_t n_bytes, MemoryKind kind);
  std::vector<Allocation> ranges(bool Allocation::*marked) const;

  std::uint64_t base_ = 0, size_ = 0;      // of the address range
  std::uint64_t capacity_ = 0, used_ = 0;  // bytes for allocations of the host
  Zone main_, heap_, host_;
  std::uint64_t heap_bytes_ = kHeapBytes, heap_used_ = 0;
  std::string heap_refused_;
  bool heap_in_use_ = false;                   // a kernel has called malloc since the heap was empty
  std::map<std::uint64_t, Allocation> live_;   // by base
  std::map<std::uint64_t, Allocation> freed_;  // by base; removed when reused, or when there are too many
  std::map<std::uint64_t, Allocation> named_;  // by base of the part
  std::vector<OtherMemory> others_;            // by address
  bool shares_ = false;
};

}  // namespace course::sim
