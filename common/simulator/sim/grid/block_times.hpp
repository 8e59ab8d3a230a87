// SPDX-License-Identifier: MIT
// The start and end times of blocks in the timing model, in clocks of the chip. Each block takes the first
// slot that becomes free.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

namespace course::sim {

class BlockTimes {
 public:
  // `places`: the number of blocks that the chip holds at once.
  explicit BlockTimes(std::uint64_t places) : free_(places) {}

  // When the next block can start, given the ends of blocks known so far.
  std::uint64_t start() {
    if (free_ > 0) {
      --free_;
      return 0;
    }
    if (!ends_.empty()) {
      latest_start_ = std::max(latest_start_, ends_.top());
      ends_.pop();
    }
    return latest_start_;
  }
  void end(std::uint64_t time) {
    ends_.push(time);
    last_ = std::max(last_, time);
  }
  std::uint64_t last() const { return last_; }

 private:
  std::uint64_t free_, latest_start_ = 0, last_ = 0;
  std::priority_queue<std::uint64_t, std::vector<std::uint64_t>, std::greater<>> ends_;
};

}  // namespace course::sim
