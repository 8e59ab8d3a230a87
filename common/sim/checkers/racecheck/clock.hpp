// SPDX-License-Identifier: MIT
// What a thread knows to have happened before it: a vector clock over the threads of a launch, kept small.
// Time is the number of an access record (racecheck.hpp): "everything that these lanes did under a number below `before`".
// Kept by block in an immutable tree of 16 children a node, so that clocks share what they have in common and joining two
// that are nearly the same costs little.
// Source: Flanagan, Freund, "FastTrack: efficient and precise dynamic race detection", PLDI 2009 (10.1145/1542476.1542490);
// for clocks that follow the hierarchy of threads, Eizenberg et al., "BARRACUDA", PLDI 2017 (10.1145/3062341.3062342).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace course::sim {

using RecordId = std::uint32_t;

// Lanes `lanes` of warp `warp`, up to `before`.
struct Heard {
  std::uint32_t warp = 0;
  std::uint32_t lanes = 0;
  RecordId before = 0;
};

// What is known of one block.
class BlockNews {
 public:
  bool covers(std::uint32_t warp, std::uint32_t lane, RecordId id) const;
  void all_up_to(RecordId before);
  void add(const Heard& heard);
  void join(const BlockNews& other);
  // Does this say everything that `other` says?
  bool contains(const BlockNews& other) const;

 private:
  RecordId all_ = 0;         // every thread of the block up to here
  std::vector<Heard> some_;  // by warp; a lane is in one of its warp's entries at most
};

class Clock {
 public:
  struct Node;

  bool empty() const { return root_ == nullptr; }
  bool covers(std::uint32_t block, std::uint32_t warp, std::uint32_t lane, RecordId id) const;
  void add(std::uint32_t block, const BlockNews& news);
  void join(const Clock& other);
  void forget(std::uint32_t block);

 private:
  std::shared_ptr<const Node> root_;
  int height_ = 0;  // levels of the tree
};

}  // namespace course::sim
