// SPDX-License-Identifier: MIT
// What of global memory lies in the caches, for counters and timing model: the bytes that come from memory
// itself and how far away a load finds its value. Sectors are 32 bytes, lines 128.
// The second-level cache is followed by launches: what was touched so lately that all touched since still
// fits with it is there. Within a launch nothing is driven out, and a sector that was written in parts is
// read from memory when it is loaded, whoever came first: so counts do not depend on the order of blocks that
// share a sector but no word. One that a warp wrote from end to end needs no reading; who loads it was
// ordered behind the store.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "sim/memory/memory.hpp"

namespace course::sim {

class Cache {
 public:
  // Of the arena's memory; `capacity`: bytes that the second-level cache holds.
  Cache(const Arena& arena, std::uint64_t capacity);
  ~Cache();
  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;

  void launch_begins();
  void launch_ends(std::uint64_t sectors_filled);  // what its accesses brought in and first wrote: Touch
  // Nothing is left in it.
  void forget();

  // What it knows of all that is allocated, to go back to it when a launch has to be done again.
  struct Copy {
    std::uint64_t first;  // line
    std::vector<std::uint32_t> lines;
  };
  std::vector<Copy> copy(const Arena& arena) const;
  void put_back(const std::vector<Copy>& copies);

  struct Touch {
    std::uint32_t filled;  // sectors that this access brings in first
    std::uint32_t dirty;   // … or is the first to write
    bool far;              // some were not there when the launch began
  };
  // An access to the line that holds `address`; of its four sectors (a bit each), `loads` are needed as they
  // were, `stores` written and `whole` written from end to end. `alone`: no other host thread is at it.
  Touch touch(std::uint64_t address, std::uint32_t loads, std::uint32_t stores, std::uint32_t whole,
              bool alone) {
    std::uint32_t* cell = lines_ + (address - base_) / kLineBytes;
    std::uint32_t old = alone ? *cell : __atomic_load_n(cell, __ATOMIC_RELAXED);
    while (true) {
      const std::uint32_t now = refreshed(old);
      const std::uint32_t before = now >> 12 & 15, loaded = now >> 8 & 15, made = now >> 4 & 15,
                          dirty = now & 15;
      // Memory gives two sectors at once.
      const std::uint32_t filled = with_neighbours(loads & ~(before | loaded | made)) & ~(before | loaded);
      const std::uint32_t wanted = now | filled << 8 | whole << 4 | stores;
      const Touch result{static_cast<std::uint32_t>(std::popcount(filled)),
                         static_cast<std::uint32_t>(std::popcount(stores & ~dirty)),
                         ((loads | stores) & ~before) != 0};
      if (wanted == old) return result;
      if (alone) {
        *cell = wanted;
        return result;
      }
      if (__atomic_compare_exchange_n(cell, &old, wanted, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        return result;
    }
  }

  static constexpr std::uint64_t kLineBytes = 128, kSectorBytes = 32;

 private:
  static std::uint32_t with_neighbours(std::uint32_t sectors) {
    return sectors | (sectors << 1 & 10) | (sectors >> 1 & 5);
  }
  // A line: launch (16 bits) | there when it began (4) | read from memory (4) | written whole (4) | written
  // (4), a bit a sector.
  std::uint32_t refreshed(std::uint32_t line) const {
    const std::uint32_t launch = line >> 16;
    if (launch == launch_) return line;
    if (launch < oldest_ || launch == 0) return launch_ << 16;
    const std::uint32_t there = (line >> 12 | line >> 8 | line >> 4 | line) & 15;
    return launch_ << 16 | there << 12 | (line & 15);
  }

  static constexpr std::uint32_t kMostLaunches = 1u << 16;

  std::uint64_t base_, bytes_, capacity_;
  std::uint32_t* lines_ = nullptr;
  std::uint32_t launch_ = 0, oldest_ = 1;
  std::vector<std::uint64_t> filled_{0};  // sectors brought in up to the end of each launch
};

}  // namespace course::sim
