// SPDX-License-Identifier: MIT
// The simulated chip's memory: one reserved address range (the arena) and the table of what lives in it.
// Invariant: live allocations never overlap, are 256-byte aligned and lie at least 256 bytes apart, so that
// an access one element past an end always falls between allocations. Freed addresses are reused only when
// the arena runs out of fresh ones, so that a use after free is named as one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "sim/device.hpp"

namespace course::sim {

// Generic addresses of the windows onto shared and local memory. Real addresses in this process stay far
// below.
inline constexpr std::uint64_t kSharedWindow = std::uint64_t{1} << 56;
inline constexpr std::uint64_t kLocalWindow = std::uint64_t{2} << 56;
inline constexpr std::uint64_t kFunctionWindow = std::uint64_t{3} << 56;  // of pointers to functions
// Within the window of shared memory: the part of the cluster's block of rank r starts at (r + 1) ·
// kBlockPart, the own one at 0.
inline constexpr std::uint64_t kBlockPart = std::uint64_t{1} << 24;
inline constexpr std::uint64_t kWindowSize = std::uint64_t{1} << 32;

inline constexpr std::uint64_t kHeapBytes = std::uint64_t{8} << 20;  // cudaLimitMallocHeapSize unless set

// `count` elements of 1, 2 or 4 bytes, each the low bytes of `value`.
void fill_elements(std::byte* dst, std::uint32_t value, std::uint32_t element_bytes, std::uint64_t count);

class Arena {
 public:
  // Reserves `n_bytes` of address space; pages are backed on first touch.
  explicit Arena(std::uint64_t n_bytes);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  Result<std::uint64_t> allocate(std::uint64_t n_bytes, MemoryKind kind);
  Result<void> release(std::uint64_t address);
  // The same for kernels: they allocate within the heap's size and free nothing but what kernels allocated.
  // Kernels that call these run on one host thread (Program::order_sensitive): the tables have no lock.
  Result<std::uint64_t> allocate_on_heap(std::uint64_t n_bytes);
  Result<void> release_on_heap(std::uint64_t address);
  Result<void> set_heap_bytes(std::uint64_t n_bytes);
  void empty_heap();
  const Allocation* find(std::uint64_t address) const;
  // The freed allocation that held `address` last, or nullptr.
  const Allocation* find_freed(std::uint64_t address) const;
  // The live allocation that ends closest below or starts closest above `address`, or nullptr. Variables that
  // the compiler made count only where they touch.
  const Allocation* nearest(std::uint64_t address) const;
  void name(std::uint64_t address, std::uint64_t n_bytes, std::uint32_t element_bytes, std::string name,
            bool is_data);
  // The most specific name for an address: a named part, else its allocation. nullptr outside of all.
  const Allocation* describe(std::uint64_t address) const;

  std::uint64_t base() const { return base_; }
  std::uint64_t size() const { return size_; }
  std::uint64_t free_bytes() const { return size_ - used_; }
  const std::map<std::uint64_t, Allocation>& live() const { return live_; }
  // Says who a fresh allocation is for.
  void note_maker(std::uint64_t address, std::string kernel, std::vector<SourcePlace> where,
                  const ThreadId& thread);
  // What kernels have allocated and not freed; each is handed out once.
  std::vector<Allocation> take_made_by_kernels();
  // Named ranges marked as data, for the dataflow counters.
  std::vector<Allocation> data_ranges() const;

 private:
  std::optional<std::uint64_t> place(std::uint64_t n_bytes);

  std::uint64_t base_ = 0, size_ = 0, used_ = 0, fresh_ = 0;
  std::uint64_t heap_bytes_ = kHeapBytes, heap_used_ = 0;
  bool heap_in_use_ = false;                   // a kernel has called malloc since it was empty
  std::map<std::uint64_t, Allocation> live_;   // by base
  std::map<std::uint64_t, Allocation> freed_;  // by base; dropped when reused
  std::map<std::uint64_t, Allocation> named_;  // by base of the part
};

}  // namespace course::sim
