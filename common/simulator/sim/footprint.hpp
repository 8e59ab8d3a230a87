// SPDX-License-Identifier: MIT
// The bytes of memory that a kernel or a copy has read and written. conflict_with() finds the bytes on which
// two of them conflict. Not thread-safe.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace course::sim {

constexpr std::uint64_t kHostPage = 4096;  // bytes: the granularity of mprotect

struct ByteRange {
  std::uint64_t first = 0;  // an address
  std::uint64_t n_bytes = 0;
};

class Footprint {
 public:
  // Strong accesses (atomic, volatile, relaxed) of one device do not conflict with each other. Those of
  // several devices must have system scope for that. Only strong writes of system scope can signal the host.
  enum Use : std::uint8_t { kRead, kWrite, kStrongRead, kStrongWrite, kSystemRead, kSystemWrite };
  static constexpr int kUses = 6;
  static constexpr bool writes(Use use) {
    return use == kWrite || use == kStrongWrite || use == kSystemWrite;
  }

  // Adds the bytes [address, address + n_bytes).
  void add(std::uint64_t address, std::uint64_t n_bytes, Use use);
  void add(const Footprint& other);
  // Removes these bytes, whatever their use.
  void forget(std::uint64_t address, std::uint64_t n_bytes);
  bool empty() const { return pages_.empty(); }
  // Approximate size of this object in the host's memory.
  std::uint64_t memory_bytes() const { return pages_.size() * sizeof(Bits); }

  struct Conflict {
    std::uint64_t address = 0;  // the lowest one
    std::uint64_t n_bytes = 0;  // in total
    bool first_writes = false, second_writes = false;
    bool only_scope = true;  // all these accesses are strong, but not all have system scope
  };
  // The bytes on which the two conflict: both access them, at least one writes, and not both accesses are
  // strong; unless `one_device` (both are by the same device), strong accesses need system scope.
  // std::nullopt if there are none.
  std::optional<Conflict> conflict_with(const Footprint& second, bool one_device = true) const;
  // Calls visit(address, use) for each page of kHostPage bytes that may hold bytes with this use.
  template <typename Visit>
  void for_each_page(Visit&& visit) const {
    for (const auto& [key, bits] : pages_) visit(key / kUses * kHostPage, static_cast<Use>(key % kUses));
  }
  // Calls visit(address, n_bytes) for written bytes that lie side by side. A run may come in several parts.
  template <typename Visit>
  void for_each_written(Visit&& visit) const {
    for (const auto& [key, bits] : pages_) {
      if (!writes(static_cast<Use>(key % kUses))) continue;
      for (std::size_t i = 0; i < bits.size(); ++i)
        for (std::uint64_t left = bits[i]; left != 0;) {
          const int first = std::countr_zero(left), n = std::countr_one(left >> first);
          visit(key / kUses * kHostPage + 64 * i + static_cast<std::uint64_t>(first),
                static_cast<std::uint64_t>(n));
          left &= first + n == 64 ? 0 : ~std::uint64_t{0} << (first + n);
        }
    }
  }
  // The bytes from the first to the last one of these that has been written. std::nullopt: none has.
  std::optional<ByteRange> written(std::uint64_t address, std::uint64_t n_bytes) const;
  // Whether any of these bytes has this use.
  bool uses(std::uint64_t address, std::uint64_t n_bytes, Use use) const;

 private:
  using Bits = std::array<std::uint64_t, kHostPage / 64>;  // one bit for each byte
  // A cache of the bitmaps that were used last. It is not copied or moved together with the object.
  struct Recent {
    struct Entry {
      std::uint64_t key = 0;
      Bits* bits = nullptr;
    };
    std::vector<Entry> entries;  // indexed by key modulo the size, a power of two; empty until first used
    Recent() = default;
    Recent(const Recent&) {}
    Recent(Recent&& from) noexcept { from.entries.clear(); }
    Recent& operator=(const Recent&) {
      entries.clear();
      return *this;
    }
    Recent& operator=(Recent&& from) noexcept {
      entries.clear();
      from.entries.clear();
      return *this;
    }
    ~Recent() = default;
  };

  Bits& bits_of(std::uint64_t page, Use use);

  std::unordered_map<std::uint64_t, Bits> pages_;  // by page * kUses + use
  Recent recent_;
};

}  // namespace course::sim
