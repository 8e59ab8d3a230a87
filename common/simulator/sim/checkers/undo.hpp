// SPDX-License-Identifier: MIT
// Saves pages of memory before a launch writes to them, so that the launch can be repeated. Any host thread
// may save a page; other threads that want to write there wait until it is saved.
#pragma once

#include <array>
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
  // `marks`: one bit for each byte of memory, saved and restored together with it; nullptr: none. Both the
  // arena and the marks must outlive this object.
  Undo(const Arena& arena, std::uint64_t* marks);

  // Starts a launch: forgets the pages saved so far.
  void begin();
  // Must be called before anything in [address, address + n_bytes) is written. Ranges outside the arena are
  // ignored.
  void keep(std::uint64_t address, std::uint64_t n_bytes) {
    if (address - base_ >= size_ || n_bytes > size_ - (address - base_)) return;
    for (std::uint64_t page = (address - base_) / kPage; page <= (address - base_ + n_bytes - 1) / kPage;
         ++page)
      if (__atomic_load_n(states_.data() + page, __ATOMIC_ACQUIRE) != kept_) keep_page(page);
  }
  // Restores all pages saved since begin().
  void put_back();

 private:
  static constexpr std::uint64_t kPage = 4096, kMarks = kPage / 64;
  struct Page {
    std::uint64_t number;
    std::array<std::byte, kPage> bytes;
    std::array<std::uint64_t, kMarks> marks;
  };
  void keep_page(std::uint64_t page);

  std::uint64_t base_, size_;
  std::uint64_t* marks_;
  Reserved<std::uint32_t> states_;  // by page: kept_ once it is saved, kept_ − 1 while a thread is saving it
  std::uint32_t kept_ = 0;          // increases by 2 from launch to launch
  std::mutex mutex_;                // protects pages_
  std::vector<std::unique_ptr<Page>> pages_;
  std::size_t n_pages_ = 0;  // in use; the others are kept for later launches
};

}  // namespace course::sim
