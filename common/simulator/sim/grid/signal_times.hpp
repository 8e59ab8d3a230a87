// SPDX-License-Identifier: MIT
// Communication between blocks through global memory, for the timing model: until when a warp that polls a
// flag has to wait. Times are in clocks of the timing model (Warp::time); there, blocks run at the same time,
// whatever turns they take on the host.
// A word that a block writes twice (first an aggregate, then a prefix) counts as available after the first
// write, because an early reader continues with that value. So do the words that the block wrote between the
// two: where values stand beside their flag, an early reader reads the aggregate's word in place of them.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace course::sim {

class SignalTimes {
 public:
  struct Signal {
    std::uint64_t address = 0;          // 0: empty
    std::uint64_t block = 0;            // the block that wrote it last
    std::uint64_t first = 0, last = 0;  // times of this block's writes
    std::uint64_t kind = 0;             // of the last write: equal kinds give the same result in any order
  };

  void raise(std::uint64_t address, std::uint64_t time, std::uint64_t block, std::uint64_t kind);
  const Signal* find(std::uint64_t address) const;
  // When a reader of this word could continue.
  std::uint64_t available(const Signal& signal) const;

  // Reads of words that are written twice, and the number of blocks that these reads covered: the width of a
  // look-back.
  std::uint64_t looks = 0, blocks_seen = 0;

 private:
  struct Stages {
    std::uint64_t first, last;  // times of a block's two writes to one word
  };
  std::vector<Signal> table_;  // open addressing; its size is a power of two
  std::unordered_map<std::uint64_t, std::vector<Stages>> stages_;  // of each block
  std::uint64_t n_ = 0;
  void grow();
};

}  // namespace course::sim
