// SPDX-License-Identifier: MIT
// The first wrong store of a traced run, for problem.cpp. Looks at what the tasks store between the keys and
// the output, pass by pass: the rows of the one-bit split, starts of digits, ranks in a tile.
// Reading order: first(), wrong_row, wrong_start, wrong_sweep, wrong_rank.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>

#include "lab/diagnosis.hpp"
#include "lab/problem.hpp"
#include "radix_sort/baseline.hpp"

namespace course::radix_sort {

using lab::TracedStore;
using lab::WrongStore;

// Of keys of 32 bits.
class WrongStores {
 public:
  WrongStores(Rung rung, const Order<std::uint32_t>& order, std::span<const std::uint32_t> keys,
              const lab::TracedRun& run)
      : rung_(rung), order_(order), keys_(keys.begin(), keys.end()), run_(run) {}

  // Goes through the launches in order and sorts along: for each pass the helper array
  // of the task, then the ranks, then the keys. Ends if it is not known which pass a launch is.
  std::optional<WrongStore> first() {
    if (is_merge(rung_) || rung_ == Rung::any_key || keys_.empty()) return {};
    const bool is_tile = rung_ == Rung::tile_sort;  // one launch makes all passes
    const unsigned digit = rung_ == Rung::split || is_tile ? 1 : 8;
    const unsigned n_passes = (order_.end_bit - order_.begin_bit + digit - 1) / digit;
    for (unsigned pass = 0; launch_ < run_.n_launches && pass < n_passes; launch_ += is_tile ? 0 : 1) {
      const std::array targets{"spare.d_keys", "d_keys_out"};
      const char* const to = targets[(n_passes - pass) % 2];
      const bool moves = run_.reaches(to, launch_);
      // Otherwise it is not known which pass this is.
      if (!moves && run_.reaches(targets[(n_passes - pass + 1) % 2], launch_)) return {};
      first_bit_ = order_.begin_bit + pass * digit;
      n_bits_ = std::min(digit, order_.end_bit - first_bit_);
      auto wrong = !moves                    ? std::nullopt
                   : rung_ == Rung::split    ? wrong_row()
                   : rung_ == Rung::onesweep ? wrong_sweep()
                   : !is_tile                ? wrong_start()
                                             : std::nullopt;
      if (!wrong) wrong = wrong_rank(is_tile ? pass : 0);
      if (wrong || (is_tile && keys_.size() > 1024)) return wrong;  // of several tiles, the first pass alone
      if (!moves && !is_tile) continue;
      ++pass;
      std::stable_sort(keys_.begin(), keys_.end(),
                       [this](auto left, auto right) { return digit_of(left) < digit_of(right); });
      const auto why = fmt::format("the keys in order of their bits below bit {}", first_bit_ + n_bits_);
      const std::vector<std::uint64_t> sorted(keys_.begin(), keys_.end());
      if (!is_tile && (wrong = run_.differs(to, sorted, why, launch_))) return wrong;
    }
    return {};
  }

 private:
  std::uint32_t digit_of(std::uint32_t key) const {
    return order_.flipped(key) >> first_bit_ & ((1u << n_bits_) - 1);
  }

  // The rows e, f, t, d of a pass of the split.
  std::optional<WrongStore> wrong_row() const {
    std::vector<std::uint64_t> e, f, t, d;
    for (const std::uint32_t key : keys_) {
      f.push_back(e.empty() ? 0 : f.back() + e.back());
      e.push_back(digit_of(key) == 0 ? 1 : 0);
    }
    for (std::uint64_t i = 0; i < keys_.size(); ++i) {
      t.push_back(i - f[i] + f.back() + e.back());
      d.push_back(e[i] != 0 ? f[i] : t[i]);
    }
    auto wrong = run_.differs("d_e", e, fmt::format("1 for a key whose bit {} is 0", first_bit_), launch_);
    if (!wrong) wrong = run_.differs("d_f", f, "the exclusive scan of e", launch_);
    if (!wrong) wrong = run_.differs("d_t", t, "i - f[i] + f[n - 1] + e[n - 1]", launch_);
    return wrong ? wrong : run_.differs("d_d", d, "f[i] if e[i] is 1, otherwise t[i]", launch_);
  }

  // Where the keys of each digit and tile start; and which of these starts a block reads.
  std::optional<WrongStore> wrong_start() const {
    constexpr std::uint64_t kKeys = 4096;  // of a tile
    const std::uint64_t n_tiles = (keys_.size() + kKeys - 1) / kKeys;
    std::vector<std::uint64_t> starts((n_tiles << n_bits_) + 1);
    for (std::uint64_t i = 0; i < keys_.size(); ++i) ++starts[digit_of(keys_[i]) * n_tiles + i / kKeys + 1];
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    starts.pop_back();
    const std::string place = fmt::format("d_counts[digit * {} + tile]", n_tiles);
    if (auto wrong = run_.differs("d_counts", starts, place + " is where these keys start", launch_))
      return wrong;
    for (const TracedStore& store : run_.stores)
      for (const auto& [array, i] : store.from)
        if (store.launch == launch_ && array == "d_counts" && i % n_tiles != store.block)
          return WrongStore{
              &store, store.value,
              fmt::format("it is computed from d_counts[{}], but {} is for tile {}", i, place, store.block)};
    return {};
  }

  // The starts of the digits of all passes.
  std::optional<WrongStore> wrong_sweep() const {
    for (unsigned pass = 0, bit = order_.begin_bit; bit < order_.end_bit; ++pass, bit += 8) {
      const unsigned n_bits = std::min(8u, order_.end_bit - bit);
      std::vector<std::uint64_t> ends(256 * pass + (1u << n_bits));
      const auto left = run_.left("d_counts", launch_);
      for (unsigned i = 0; i < 256 * pass; ++i)  // found right before
        if (left.contains(i)) ends[i] = left.at(i)->value;
      for (const std::uint32_t key : keys_)
        for (std::uint64_t i = 256 * pass + (order_.flipped(key) >> bit & ((1u << n_bits) - 1)) + 1;
             i < ends.size(); ++i)
          ++ends[i];
      const auto why = fmt::format("so many keys have a smaller digit in pass {}, whose digits have {} bits",
                                   pass, n_bits);
      if (auto wrong = run_.differs("d_counts", ends, why, launch_)) return wrong;
    }
    return {};
  }

  // The positions at which the threads of a block store their keys in shared memory, in the order of their
  // rows (first_place in given.cuh). `pass`: of those in this launch.
  std::optional<WrongStore> wrong_rank(unsigned pass) const {
    const std::uint64_t rows = rung_ == Rung::tile_sort ? 4 : 16, tile = 256 * rows;
    // By array and item: what belongs before an item decides on its rank, so the first item comes first.
    std::map<std::pair<std::string, std::uint64_t>, WrongStore> wrong;
    std::set<std::string> others;  // arrays that hold something else
    std::map<std::tuple<std::string, std::uint64_t, std::uint32_t>, std::uint64_t> n_stored;
    for (const TracedStore& store : run_.stores) {
      if (store.launch != launch_ || !store.array.starts_with("s_")) continue;
      const std::uint64_t number = n_stored[{store.array, store.block, store.thread}]++, row = number % rows;
      const std::uint64_t i = store.thread / 32 * (32 * rows) + row * 32 + store.thread % 32;
      const std::uint64_t item = store.block * tile + i;
      // In the next pass, its key comes from the thread's own position.
      const bool is_key = number >= rows
                              ? store.from.size() != 1 || store.from[0] == std::pair(store.array, i)
                          : item < keys_.size() ? store.from.size() == 1 && store.from[0].second == item
                                                : store.from.empty();
      if (!is_key) others.insert(store.array);
      if (number / rows != pass) continue;
      const auto [smaller, same, later] = before(store.block * tile, i, tile, i / (32 * rows) * (32 * rows));
      if (smaller + same == store.element) continue;
      wrong.try_emplace(
          {store.array, item},
          WrongStore{
              &store, smaller + same,
              fmt::format("before its key of row {} belong {} with a smaller digit{} and {} with the same",
                          row, smaller,
                          lab::text_if(later > 0 && store.element + later == smaller + same,
                                       ", {} of them from its own warp on, which are not counted,", later),
                          same),
              true});
    }
    for (const auto& [key, found] : wrong)
      if (!others.contains(key.first)) return found;
    return {};
  }
  // How many keys of a tile belong before item i: with a smaller digit, and with the same; and how many of
  // the former stand from the beginning of its warp on. Positions past n have the largest digit.
  std::array<std::uint64_t, 3> before(std::uint64_t first, std::uint64_t i, std::uint64_t tile,
                                      std::uint64_t warp) const {
    const auto digit_at = [&](std::uint64_t k) {
      return first + k < keys_.size() ? digit_of(keys_[first + k]) : (1u << n_bits_) - 1;
    };
    std::uint64_t smaller = 0, same = 0, later = 0;
    for (std::uint64_t k = 0; k < tile; ++k) {
      const bool is_smaller = digit_at(k) < digit_at(i);
      smaller += is_smaller ? 1u : 0u, later += is_smaller && k >= warp ? 1u : 0u;
      same += digit_at(k) == digit_at(i) && k < i ? 1u : 0u;
    }
    return {smaller, same, later};
  }

  const Rung rung_;
  const Order<std::uint32_t> order_;
  std::vector<std::uint32_t> keys_;  // that the pass reads
  const lab::TracedRun& run_;
  std::uint32_t launch_ = 0;
  unsigned first_bit_ = 0, n_bits_ = 0;
};

}  // namespace course::radix_sort
