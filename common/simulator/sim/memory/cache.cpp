// SPDX-License-Identifier: MIT
#include "sim/memory/cache.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <new>

namespace course::sim {

Cache::Cache(const Arena& arena, std::uint64_t capacity)
    : base_(arena.base()), bytes_(arena.size() / kLineBytes * sizeof(std::uint32_t)), capacity_(capacity) {
  void* place =
      mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (place == MAP_FAILED) throw std::bad_alloc();
  lines_ = static_cast<std::uint32_t*>(place);
}

Cache::~Cache() {
  munmap(lines_, bytes_);
}

void Cache::launch_begins() {
  if (++launch_ == kMaxLaunches) {
    madvise(lines_, bytes_, MADV_DONTNEED);
    launch_ = oldest_ = 1;
    filled_.assign(1, 0);
  }
  // After a line was touched in launch k, at most the sectors filled in k and later launches have entered the
  // cache.
  while (oldest_ < launch_ && (filled_.back() - filled_[oldest_ - 1]) * kSectorBytes > capacity_) ++oldest_;
}

void Cache::launch_ends(std::uint64_t sectors_filled) {
  filled_.push_back(filled_.back() + sectors_filled);
}

std::vector<Cache::Copy> Cache::copy(const Arena& arena) const {
  std::vector<Copy> copies;
  for (const auto& [base, allocation] : arena.live()) {
    const std::uint64_t first = (base - base_) / kLineBytes,
                        end = (base - base_ + allocation.size + kLineBytes - 1) / kLineBytes;
    copies.push_back({first, {lines_ + first, lines_ + end}});
  }
  return copies;
}

void Cache::put_back(const std::vector<Copy>& copies) {
  for (const Copy& c : copies) std::copy(c.lines.begin(), c.lines.end(), lines_ + c.first);
}

void Cache::forget() {
  oldest_ = launch_ + 1;
}

}  // namespace course::sim
