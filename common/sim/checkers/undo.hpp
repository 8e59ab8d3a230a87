// SPDX-License-Identifier: MIT
// Pages of memory as they were before a launch wrote there, so that the launch can be done again. Any host thread may keep a page; who
// wants to write there waits until it is kept.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "sim/checkers/reserve.hpp"
#include "sim/memory/memory.hpp"

namespace course::sim {

class Undo {
 public:
  // `marks`: a bit for each byte of memory, kept and put back with it; nullptr: none.
  Undo(const Arena& arena, std::uint64_t* marks);

  // From here on.
  void begin();
  // Before anything in [address, address + n_bytes) is written; what lies outside of the arena is nobody's business here.
  void keep(std::uint64_t address, std::uint64_t n_bytes) {
    if (address - base_ >= size_ || n_bytes > size_ - (address - base_)) return;
    for (std::uint64_t page = (address - base_) / kPage; page <= (address - base_ + n_bytes - 1) / kPage;
         ++page)
      if (__atomic_load_n(states_.data() + page, __ATOMIC_ACQUIRE) != kept_) keep_page(page);
  }
  // As it was.
  void put_back();

 private:
  static constexpr std::uint64_t kPage = 4096, kMarks = kPage / 64;
  struct Page {
    std::uint64_t number = 0;
    std::array<std::byte, kPage> bytes;
    std::array<std::uint64_t, kMarks> marks;
  };
  void keep_page(std::uint64_t page);

  std::uint64_t base_, size_;
  std::uint64_t* marks_;
  Reserved<std::uint32_t> states_;  // by page: kept_ once it is kept, kept_ − 1 while somebody is at it
  std::uint32_t kept_ = 0;          // grows by 2 from launch to launch
  std::mutex mutex_;                // of pages_
  std::vector<std::unique_ptr<Page>> pages_;
  std::size_t n_pages_ = 0;  // in use: the others are there for the next launches
};

}  // namespace course::sim
