// SPDX-License-Identifier: MIT
// When blocks tell each other something through global memory: for the timing model, what a warp that looks at a flag has to wait for.
// Times are those of the model's own clock (Warp::time), on which blocks run side by side whatever turns they take on the host.
// A word that is written twice in a launch (an aggregate, then the prefix) counts as told at the first time: whoever
// looks early goes on with that.
#pragma once

#include <cstdint>
#include <vector>

namespace course::sim {

class Signals {
 public:
  struct Signal {
    std::uint64_t address = 0;  // 0: empty
    std::uint64_t first = 0, last = 0;
    std::uint64_t block = 0;  // that wrote it last
  };

  void clear();
  void raise(std::uint64_t address, std::uint64_t time, std::uint64_t block);
  const Signal* find(std::uint64_t address) const;

  // Looks at words that are told in two stages, and the blocks that they reached at once: how wide a look-back is.
  std::uint64_t looks = 0, blocks_seen = 0;

 private:
  std::vector<Signal> table_;  // open addressing; its size is a power of two
  std::uint64_t n_ = 0;
  void grow();
};

}  // namespace course::sim
