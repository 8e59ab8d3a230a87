// SPDX-License-Identifier: MIT
#include "sim/checkers/racecheck/clock.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace course::sim {

// --- one block ---------------------------------------------------------------------------------------------

namespace {

// The entries of one warp.
template <typename Entries>
auto entries_of(Entries& all, std::uint32_t warp) {
  struct ByWarp {
    bool operator()(const Heard& h, std::uint32_t w) const { return h.warp < w; }
    bool operator()(std::uint32_t w, const Heard& h) const { return w < h.warp; }
  };
  return std::equal_range(all.begin(), all.end(), warp, ByWarp{});
}

}  // namespace

bool BlockNews::covers(std::uint32_t warp, std::uint32_t lane, RecordId id) const {
  if (id < all_) return true;
  const auto [first, last] = entries_of(some_, warp);
  return std::any_of(first, last,
                     [&](const Heard& h) { return (h.lanes >> lane & 1) != 0 && id < h.before; });
}

void BlockNews::all_up_to(RecordId before) {
  if (before <= all_) return;
  all_ = before;
  std::erase_if(some_, [&](const Heard& h) { return h.before <= all_; });
}

void BlockNews::add(const Heard& heard) {
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

void BlockNews::join(const BlockNews& other) {
  all_up_to(other.all_);
  for (const Heard& h : other.some_) add(h);
}

bool BlockNews::contains(const BlockNews& other) const {
  if (other.all_ > all_) return false;
  return std::all_of(other.some_.begin(), other.some_.end(), [&](const Heard& h) {
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
struct Clock::Node {
  std::array<std::shared_ptr<const Node>, kFan> child;
  BlockNews news;
};

namespace {

using NodePtr = std::shared_ptr<const Clock::Node>;

std::size_t digit(std::uint32_t block, int level) {
  return block >> (kBits * (level - 1)) & (kFan - 1);
}

bool fits(std::uint32_t block, int height) {
  return height * kBits >= 32 || block >> (height * kBits) == 0;
}

// Adds levels above `root`. The blocks so far have small numbers, so they are below child 0.
NodePtr grown(NodePtr root, int from, int to) {
  for (; root != nullptr && from < to; ++from) {
    auto above = std::make_shared<Clock::Node>();
    above->child[0] = std::move(root);
    root = std::move(above);
  }
  return root;
}

NodePtr joined(const NodePtr& a, const NodePtr& b, int level) {
  if (a == b || b == nullptr) return a;
  if (a == nullptr) return b;
  if (level == 0) {
    if (a->news.contains(b->news)) return a;
    if (b->news.contains(a->news)) return b;
    auto both = std::make_shared<Clock::Node>();
    both->news = a->news;
    both->news.join(b->news);
    return both;
  }
  std::array<NodePtr, kFan> child;
  bool like_a = true, like_b = true;
  for (std::size_t k = 0; k < kFan; ++k) {
    child[k] = joined(a->child[k], b->child[k], level - 1);
    like_a = like_a && child[k] == a->child[k];
    like_b = like_b && child[k] == b->child[k];
  }
  if (like_a) return a;
  if (like_b) return b;
  auto both = std::make_shared<Clock::Node>();
  both->child = std::move(child);
  return both;
}

NodePtr without(const NodePtr& node, std::uint32_t block, int level) {
  if (node == nullptr || level == 0) return nullptr;
  const std::size_t k = digit(block, level);
  if (node->child[k] == nullptr) return node;
  auto fresh = std::make_shared<Clock::Node>(*node);
  fresh->child[k] = without(node->child[k], block, level - 1);
  const bool bare =
      std::all_of(fresh->child.begin(), fresh->child.end(), [](const NodePtr& c) { return c == nullptr; });
  if (bare) return nullptr;
  return fresh;
}

}  // namespace

bool Clock::covers(std::uint32_t block, std::uint32_t warp, std::uint32_t lane, RecordId id) const {
  if (root_ == nullptr || !fits(block, height_)) return false;
  const Node* node = root_.get();
  for (int level = height_; level > 0 && node != nullptr; --level)
    node = node->child[digit(block, level)].get();
  return node != nullptr && node->news.covers(warp, lane, id);
}

void Clock::add(std::uint32_t block, const BlockNews& news) {
  auto leaf = std::make_shared<Node>();
  leaf->news = news;
  NodePtr node = std::move(leaf);
  Clock one;
  while (!fits(block, one.height_)) {
    ++one.height_;
    auto above = std::make_shared<Node>();
    above->child[digit(block, one.height_)] = std::move(node);
    node = std::move(above);
  }
  one.root_ = std::move(node);
  join(one);
}

void Clock::join(const Clock& other) {
  if (other.root_ == nullptr || other.root_ == root_) return;
  if (root_ == nullptr) {
    *this = other;
    return;
  }
  const int height = std::max(height_, other.height_);
  root_ = joined(grown(root_, height_, height), grown(other.root_, other.height_, height), height);
  height_ = height;
}

void Clock::forget(std::uint32_t block) {
  if (root_ == nullptr || !fits(block, height_)) return;
  root_ = without(root_, block, height_);
}

}  // namespace course::sim
