// SPDX-License-Identifier: MIT
#include "sim/checkers/undo.hpp"

#include <cstring>
#include <thread>

namespace course::sim {

Undo::Undo(const Arena& arena, std::uint64_t* marks)
    : base_(arena.base()), size_(arena.size()), marks_(marks), states_(arena.size() / kPage + 1) {}

void Undo::begin() {
  kept_ += 2;
  if (kept_ == 0) {  // all numbers have been used
    states_.clear();
    kept_ = 2;
  }
  n_pages_ = 0;
}

void Undo::keep_page(std::uint64_t page) {
  std::uint32_t* const state = states_.data() + page;
  std::uint32_t seen = __atomic_load_n(state, __ATOMIC_ACQUIRE);
  while (seen != kept_) {
    if (seen == kept_ - 1) {
      std::this_thread::yield();
      seen = __atomic_load_n(state, __ATOMIC_ACQUIRE);
      continue;
    }
    if (!__atomic_compare_exchange_n(state, &seen, kept_ - 1, false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE))
      continue;
    Page* copy = nullptr;
    {
      const std::lock_guard lock(mutex_);
      if (n_pages_ == pages_.size()) pages_.emplace_back(new Page);  // not cleared
      copy = pages_[n_pages_++].get();
    }
    copy->number = page;
    std::memcpy(copy->bytes.data(), reinterpret_cast<const void*>(base_ + page * kPage), kPage);
    if (marks_ != nullptr) std::memcpy(copy->marks.data(), marks_ + page * kMarks, sizeof copy->marks);
    __atomic_store_n(state, kept_, __ATOMIC_RELEASE);
    return;
  }
}

void Undo::put_back() {
  for (std::size_t k = 0; k < n_pages_; ++k) {
    const Page& page = *pages_[k];
    std::memcpy(reinterpret_cast<void*>(base_ + page.number * kPage), page.bytes.data(), kPage);
    if (marks_ != nullptr) std::memcpy(marks_ + page.number * kMarks, page.marks.data(), sizeof page.marks);
  }
  n_pages_ = 0;
}

}  // namespace course::sim
