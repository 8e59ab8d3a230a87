// SPDX-License-Identifier: MIT
// What a thread knows to have happened before it: a vector clock over the threads of a launch, stored
// compactly. Time is the number of an access record (access_records.hpp). An entry means: everything that
// these lanes did with record numbers below `before`. Entries are kept by block in an immutable tree of 16
// children per node, so that clocks share their common parts and joining two similar clocks is cheap.
// Source: Flanagan, Freund, "FastTrack: efficient and precise dynamic race detection", PLDI 2009
// (10.1145/1542476.1542490); for clocks that follow the hierarchy of threads, Eizenberg et al., "BARRACUDA",
// PLDI 2017 (10.1145/3062341.3062342).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace course::sim {

using RecordId = std::uint32_t;

// The accesses of lanes `lanes` of warp `warp` with record numbers below `before`.
struct WarpClock {
  std::uint32_t warp = 0;
  std::uint32_t lanes = 0;
  RecordId before = 0;
};

// What is known about the threads of one block.
class BlockClock {
 public:
  // Whether access `id` of this lane is known.
  bool covers(std::uint32_t warp, std::uint32_t lane, RecordId id) const;
  // Adds all accesses of the block with record numbers below `before`.
  void all_up_to(RecordId before);
  void add(const WarpClock& heard);
  void join(const BlockClock& other);
  // Whether this includes everything in `other`.
  bool contains(const BlockClock& other) const;

 private:
  RecordId all_ = 0;             // all accesses of the block before this record
  std::vector<WarpClock> some_;  // by warp; each lane is in at most one of its warp's entries
};

class VectorClock {
 public:
  struct Node;

  bool empty() const { return root_ == nullptr; }
  // Whether they are equal because one was copied from the other. Equal clocks need not be copies.
  bool is_copy_of(const VectorClock& other) const { return root_ == other.root_; }
  bool covers(std::uint32_t block, std::uint32_t warp, std::uint32_t lane, RecordId id) const;
  void add(std::uint32_t block, const BlockClock& news);
  void join(const VectorClock& other);
  void forget(std::uint32_t block);

 private:
  std::shared_ptr<const Node> root_;
  int height_ = 0;  // levels of the tree
};

}  // namespace course::sim
