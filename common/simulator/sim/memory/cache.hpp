// SPDX-License-Identifier: MIT
// A model of the caches for global memory, for counters and the timing model: the bytes that DRAM must
// deliver, and the level in which a load finds its value. Sectors have 32 bytes, lines 128.
// The L2 cache is modelled per launch. A line is present if all sectors that have entered the cache since the
// launch of its last use began fit into it. Within a launch nothing is evicted, and a sector that was only
// partly written is read from DRAM when it is loaded, whichever access came first. Therefore the counts do
// not depend on the order of blocks that share a sector but no word. A sector that one warp has written
// completely is not read: a block that loads it must be ordered after the store.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "sim/memory/memory.hpp"

namespace course::sim {

class Cache {
 public:
  // For the arena's memory; `capacity`: the part of the L2 cache that holds it, in bytes.
  Cache(const Arena& arena, std::uint64_t capacity);
  ~Cache();
  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;

  void launch_begins();
  void launch_ends(std::uint64_t sectors_filled);  // the sum of Touch::filled and Touch::dirty
  // Empties the cache.
  void forget();

  // The state of all allocated memory, to restore it if a launch must be repeated.
  struct Copy {
    std::uint64_t first;  // line
    std::vector<std::uint32_t> lines;
  };
  std::vector<Copy> copy(const Arena& arena) const;
  void put_back(const std::vector<Copy>& copies);

  struct Touch {
    std::uint32_t filled;  // sectors that this access is the first to fill
    std::uint32_t dirty;   // sectors that this access is the first to write
    bool far;              // some sectors were not present when the launch began
    bool unwritten;        // and some of them have not been written since
  };
  // Records an access to the line of `address`. `loads`, `stores` and `whole` have one bit for each of its
  // four sectors: needed with their old contents, written, and written completely. `alone`: no other host
  // thread uses the cache.
  Touch touch(std::uint64_t address, std::uint32_t loads, std::uint32_t stores, std::uint32_t whole,
              bool alone) {
    std::uint32_t* cell = lines_ + (address - base_) / kLineBytes;
    std::uint32_t old = alone ? *cell : __atomic_load_n(cell, __ATOMIC_RELAXED);
    while (true) {
      const std::uint32_t now = refreshed(old);
      const std::uint32_t before = now >> 12 & 15, loaded = now >> 8 & 15, made = now >> 4 & 15,
                          dirty = now & 15;
      // DRAM delivers two sectors at a time.
      const std::uint32_t filled = with_neighbours(loads & ~(before | loaded | made)) & ~(before | loaded);
      const std::uint32_t wanted = now | filled << 8 | whole << 4 | stores;
      const Touch result{static_cast<std::uint32_t>(std::popcount(filled)),
                         static_cast<std::uint32_t>(std::popcount(stores & ~dirty)),
                         ((loads | stores) & ~before) != 0,
                         ((loads | stores) & ~(before | made | dirty)) != 0};
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
  // A line: launch (16 bits) | present when it began (4) | read from DRAM (4) | written completely (4) |
  // written (4); one bit per sector.
  std::uint32_t refreshed(std::uint32_t line) const {
    const std::uint32_t launch = line >> 16;
    if (launch == launch_) return line;
    if (launch < oldest_ || launch == 0) return launch_ << 16;
    const std::uint32_t there = (line >> 12 | line >> 8 | line >> 4 | line) & 15;
    return launch_ << 16 | there << 12 | (line & 15);
  }

  static constexpr std::uint32_t kMaxLaunches = 1u << 16;

  std::uint64_t base_, bytes_, capacity_;
  std::uint32_t* lines_ = nullptr;
  std::uint32_t launch_ = 0, oldest_ = 1;
  std::vector<std::uint64_t> filled_{0};  // sectors filled until the end of each launch
};

}  // namespace course::sim
