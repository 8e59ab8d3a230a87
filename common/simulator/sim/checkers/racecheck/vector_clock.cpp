// SPDX-License-Identifier: MIT
#include "sim/checkers/racecheck/vector_clock.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

namespace course::sim {

// --- one block ---------------------------------------------------------------------------------------------

namespace {

// The entries of one warp.
template <typename Entries>
auto entries_of(Entries& all, std::uint32_t warp) {
  struct ByWarp {
    bool operator()(const WarpClock& h, std::uint32_t w) const { return h.warp < w; }
    bool operator()(std::uint32_t w, const WarpClock& h) const { return w < h.warp; }
  };
  return std::equal_range(all.begin(), all.end(), warp, ByWarp{});
}

}  // namespace

bool BlockClock::covers(std::uint32_t warp, std::uint32_t lane, RecordId id) const {
  if (id < all_) return true;
  const auto [first, last] = entries_of(some_, warp);
  return std::any_of(first, last,
                     [&](const WarpClock& h) { return (h.lanes >> lane & 1) != 0 && id < h.before; });
}

void BlockClock::all_up_to(RecordId before) {
  if (before <= all_) return;
  all_ = before;
  std::erase_if(some_, [&](const WarpClock& h) { return h.before <= all_; });
}

void BlockClock::add(const WarpClock& heard) {
  if (heard.before <= all_) return;
  auto [first, last] = entries_of(some_, heard.warp);
  std::uint32_t lanes = heard.lanes;  // those for which this is new
  for (auto h = first; h != last; ++h)
    if (h->before >= heard.before) lanes &= ~h->lanes;
  if (lanes == 0) return;
  auto kept = first, like = last;
  for (auto h = first; h != last; ++h) {
    h->lanes &= ~lanes;
    if (h->before == heard.before) {
      h->lanes |= lanes;
      like = kept;
    }
    if (h->lanes != 0) *kept++ = *h;
  }
  const bool joined = like != last;
  const auto at = some_.erase(kept, last);
  if (!joined) some_.insert(at, {heard.warp, lanes, heard.before});
}

void BlockClock::join(const BlockClock& other) {
  all_up_to(other.all_);
  for (const WarpClock& h : other.some_) add(h);
}

bool BlockClock::contains(const BlockClock& other) const {
  if (other.all_ > all_) return false;
  return std::ranges::all_of(other.some_, [&](const WarpClock& h) {
    if (h.before <= all_) return true;
    const auto [first, last] = entries_of(some_, h.warp);
    std::uint32_t lanes = h.lanes;
    for (auto mine = first; mine != last; ++mine)
      if (mine->before >= h.before) lanes &= ~mine->lanes;
    return lanes == 0;
  });
}

// --- the tree ----------------------------------------------------------------------------------------------

namespace {
constexpr int kBits = 4;  // of a block's number, per level
constexpr std::size_t kFan = std::size_t{1} << kBits;
}  // namespace

// At level 0, a node contains the news of one block. Above, its children are indexed by the next bits of the
// block's number.
struct VectorClock::Node {
  Node() = default;
  Node(const Node& other) : child(other.child), news(other.news) {}
  Node& operator=(const Node&) = delete;

  // Never used again for another node.
  const std::uint64_t id = n_made.fetch_add(1, std::memory_order_relaxed) + 1;
  std::array<std::shared_ptr<const Node>, kFan> child;
  BlockClock news;

 private:
  static inline std::atomic<std::uint64_t> n_made{0};
};

namespace {

using NodePtr = std::shared_ptr<const VectorClock::Node>;

std::size_t digit(std::uint32_t block, int level) {
  return block >> (kBits * (level - 1)) & (kFan - 1);
}

bool fits(std::uint32_t block, int height) {
  return height * kBits >= 32 || block >> (height * kBits) == 0;
}

// Adds levels above `root`. The blocks so far have small numbers, so they are below child 0.
NodePtr grown(NodePtr root, int from, int to) {
  for (; root != nullptr && from < to; ++from) {
    auto above = std::make_shared<VectorClock::Node>();
    above->child[0] = std::move(root);
    root = std::move(above);
  }
  return root;
}

// What a join of two nodes gives: one of the two, or a new one.
struct Joined {
  enum Which : std::uint8_t { first, second, neither } which;
  NodePtr made;  // if neither

  const NodePtr& of(const NodePtr& a, const NodePtr& b) const {
    return which == first ? a : which == second ? b : made;
  }
};

// Remembers joins. Threads that learn the same in different ways have equal parts in different nodes, which
// would be compared again at every join. Keeps no node alive.
class JoinMemory {
 public:
  struct Entry {
    std::uint64_t a = 0, b = 0;  // Node::id
    Joined::Which which = Joined::first;
    std::weak_ptr<const VectorClock::Node> made;
  };
  Entry& of(std::uint64_t a, std::uint64_t b) {
    return entries_[(a * 0x9e3779b97f4a7c15u ^ b * 0xc2b2ae3d27d4eb4fu) >> (64 - kEntryBits)];
  }

 private:
  static constexpr int kEntryBits = 12;
  std::vector<Entry> entries_ = std::vector<Entry>(std::size_t{1} << kEntryBits);
};

Joined joined(const NodePtr& a, const NodePtr& b, int level);

Joined joined_children(const VectorClock::Node& a, const VectorClock::Node& b, int level) {
  std::array<Joined, kFan> child;
  bool like_a = true, like_b = true;
  for (std::size_t k = 0; k < kFan; ++k) {
    child[k] = joined(a.child[k], b.child[k], level - 1);
    like_a = like_a && (child[k].which == Joined::first || a.child[k] == b.child[k]);
    like_b = like_b && (child[k].which == Joined::second || a.child[k] == b.child[k]);
  }
  if (like_a) return {Joined::first, nullptr};
  if (like_b) return {Joined::second, nullptr};
  auto both = std::make_shared<VectorClock::Node>();
  for (std::size_t k = 0; k < kFan; ++k) both->child[k] = child[k].of(a.child[k], b.child[k]);
  return {Joined::neither, std::move(both)};
}

Joined joined(const NodePtr& a, const NodePtr& b, int level) {
  if (a == b || b == nullptr) return {Joined::first, nullptr};
  if (a == nullptr) return {Joined::second, nullptr};
  if (level == 0) {
    if (a->news.contains(b->news)) return {Joined::first, nullptr};
    if (b->news.contains(a->news)) return {Joined::second, nullptr};
    auto both = std::make_shared<VectorClock::Node>();
    both->news = a->news;
    both->news.join(b->news);
    return {Joined::neither, std::move(both)};
  }
  thread_local JoinMemory memory;
  JoinMemory::Entry& known = memory.of(a->id, b->id);
  if (known.a == a->id && known.b == b->id) {
    if (known.which != Joined::neither) return {known.which, nullptr};
    if (NodePtr made = known.made.lock()) return {Joined::neither, std::move(made)};
  }
  Joined result = joined_children(*a, *b, level);
  known = {a->id, b->id, result.which, result.made};
  return result;
}

NodePtr with(const NodePtr& node, std::uint32_t block, int level, const BlockClock& news) {
  if (level == 0) {
    if (node != nullptr && node->news.contains(news)) return node;
    auto leaf =
        node == nullptr ? std::make_shared<VectorClock::Node>() : std::make_shared<VectorClock::Node>(*node);
    leaf->news.join(news);
    return leaf;
  }
  const std::size_t k = digit(block, level);
  NodePtr child = with(node == nullptr ? nullptr : node->child[k], block, level - 1, news);
  if (node != nullptr && child == node->child[k]) return node;
  auto fresh =
      node == nullptr ? std::make_shared<VectorClock::Node>() : std::make_shared<VectorClock::Node>(*node);
  fresh->child[k] = std::move(child);
  return fresh;
}

NodePtr without(const NodePtr& node, std::uint32_t block, int level) {
  if (node == nullptr || level == 0) return nullptr;
  const std::size_t k = digit(block, level);
  if (node->child[k] == nullptr) return node;
  auto fresh = std::make_shared<VectorClock::Node>(*node);
  fresh->child[k] = without(node->child[k], block, level - 1);
  const bool bare = std::ranges::all_of(fresh->child, [](const NodePtr& c) { return c == nullptr; });
  if (bare) return nullptr;
  return fresh;
}

}  // namespace

bool VectorClock::covers(std::uint32_t block, std::uint32_t warp, std::uint32_t lane, RecordId id) const {
  if (root_ == nullptr || !fits(block, height_)) return false;
  const Node* node = root_.get();
  for (int level = height_; level > 0 && node != nullptr; --level)
    node = node->child[digit(block, level)].get();
  return node != nullptr && node->news.covers(warp, lane, id);
}

void VectorClock::add(std::uint32_t block, const BlockClock& news) {
  int height = height_;
  while (!fits(block, height)) ++height;
  root_ = with(grown(root_, height_, height), block, height, news);
  height_ = height;
}

void VectorClock::join(const VectorClock& other) {
  if (other.root_ == nullptr || other.root_ == root_) return;
  if (root_ == nullptr) {
    *this = other;
    return;
  }
  const int height = std::max(height_, other.height_);
  const NodePtr mine = grown(root_, height_, height), theirs = grown(other.root_, other.height_, height);
  root_ = joined(mine, theirs, height).of(mine, theirs);
  height_ = height;
}

void VectorClock::forget(std::uint32_t block) {
  if (root_ == nullptr || !fits(block, height_)) return;
  root_ = without(root_, block, height_);
}

}  // namespace course::sim
