// SPDX-License-Identifier: MIT
// How long atomics occupy each part of the L2 in a launch; the busiest part limits the kernel. The part that
// serves an address is a hash of its 512-byte chunk (measured: calibration/, family "global atomics"). Here
// each chunk counts as a part of its own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace course::sim {

class HotSpots {
 public:
  static constexpr std::uint64_t kChunkBytes = 512;

  // `n`: passes.
  void add(std::uint64_t chunk, std::uint64_t n) {
    if (2 * (used_ + 1) > cells_.size()) grow();
    Cell& cell = find(chunk + 1);
    if (cell.key == 0) {
      cell.key = chunk + 1;
      ++used_;
    }
    cell.n += n;
  }
  void add(const HotSpots& other) {
    for (const Cell& c : other.cells_)
      if (c.key != 0) add(c.key - 1, c.n);
  }
  std::uint64_t most() const {
    std::uint64_t most = 0;
    for (const Cell& c : cells_) most = std::max(most, c.n);
    return most;
  }

 private:
  struct Cell {
    std::uint64_t key = 0, n = 0;  // key: chunk + 1
  };
  Cell& find(std::uint64_t key) {
    std::uint64_t at = (key * 0x9e3779b97f4a7c15u >> 20) & (cells_.size() - 1);
    while (cells_[at].key != 0 && cells_[at].key != key) at = (at + 1) & (cells_.size() - 1);
    return cells_[at];
  }
  void grow() {
    std::vector<Cell> old(cells_.empty() ? 64 : 2 * cells_.size());
    std::swap(old, cells_);
    for (const Cell& c : old)
      if (c.key != 0) find(c.key) = c;
  }

  std::vector<Cell> cells_;  // open addressing; the size is a power of two
  std::uint64_t used_ = 0;
};

}  // namespace course::sim
