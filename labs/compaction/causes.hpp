// SPDX-License-Identifier: MIT
// Likely causes of wrong outputs, for problem.cpp: one rule for each mistake that explains a wrong count, or
// wrong items (lab/diagnosis.hpp).
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "lab/diagnosis.hpp"

namespace course::compaction {

using namespace lab;  // NOLINT: this file is written in that library's terms

// --- A wrong count.

struct CountFacts {
  std::uint64_t expected, got;
  std::vector<bool> is_kept;  // each item
  bool looks_back;            // the task
  std::uint64_t n = is_kept.size();

  bool last_is_kept() const { return n > 0 && is_kept.back(); }
  std::uint64_t kept_among_first(std::uint64_t some) const {
    return static_cast<std::uint64_t>(
        std::count(is_kept.begin(), is_kept.begin() + static_cast<std::ptrdiff_t>(some), true));
  }
  // Whether the count says something about its cause: one near 0 or n fits many causes.
  bool is_telling() const { return expected >= 8 && expected + 8 <= n; }
  // One too many or too few has many causes. Of few items, it is as good a sign as any.
  bool is_off_by_one() const { return n >= 8 && (got == expected + 1 || got + 1 == expected); }
  // Searches for the smallest tile size for which `fits` holds; returns where its last, partial tile begins,
  // or 0 if there is none. The argument of `fits` is that position.
  template <typename Fits>
  std::uint64_t partial_tile(Fits fits) const {
    for (std::uint64_t tile = 32; tile <= 8192; tile *= 2) {
      const std::uint64_t whole = n / tile * tile;
      if (whole != n && whole != 0 && fits(whole)) return whole;
    }
    return 0;
  }
};

constexpr Rule<CountFacts> kCountRules[] = {
    {"last_flag",
     [](const CountFacts& f) -> std::string {
       return text_if(
           f.last_is_kept() && f.got + 1 == f.expected,
           "one short, and the last item is kept: the last value of the exclusive scan counts the kept items "
           "before it; the count is scan[n - 1] + flag[n - 1]");
     }},
    {"last_counted",
     [](const CountFacts& f) -> std::string {
       return text_if(f.n > 0 && !f.last_is_kept() && f.got == f.expected + 1,
                      "one too many, and the last item is not kept, but counted");
     }},
    {"all_counted",
     [](const CountFacts& f) -> std::string {
       return text_if(f.got == f.n && !f.is_off_by_one(), "this is n, not the number of items that are kept");
     }},
    {"rejected_counted",
     [](const CountFacts& f) -> std::string {
       return text_if(f.got == f.n - f.expected && !f.is_off_by_one(),
                      "this is the number of items that are not kept");
     }},
    {"tail_dropped",
     [](const CountFacts& f) -> std::string {
       const auto whole = f.partial_tile([&](std::uint64_t at) { return f.got == f.kept_among_first(at); });
       if (whole == 0) return "";
       return fmt::format("this counts the first {} of the {} items: the last, partial block was left out",
                          whole, f.n);
     }},
    // Of a tile that looks back, the total alone can be stored as the count, or its prefix can be wrong.
    {"last_block_alone",
     [](const CountFacts& f) -> std::string {
       const auto whole =
           f.partial_tile([&](std::uint64_t at) { return f.got == f.expected - f.kept_among_first(at); });
       return text_if(whole != 0, "this counts the items from {} on alone: {}", whole,
                      f.looks_back ? "the tiles before are missing. What a tile publishes as its "
                                     "prefix must contain its own items, too, and the count is the "
                                     "last tile's prefix with them"
                                   : "the last block's total is not the array's");
     }},
    {"state_added",
     [](const CountFacts& f) -> std::string {
       return text_if(
           f.looks_back && f.got > f.expected && (f.got - f.expected) % (std::uint64_t{1} << 62) == 0,
           "the number is right but for its two upper bits: those of a tile's state must not be "
           "added, number_of(state) is without them");
     }},
    // Which items were added twice depends on what each look-back has found.
    {"counted_twice",
     [](const CountFacts& f) -> std::string {
       if (!f.looks_back || f.got <= f.expected || f.got == f.n) return "";
       if (f.got - f.expected >= std::uint64_t{1} << 62) return "";  // state_added
       for (std::uint64_t tile = 256; tile <= 8192; tile *= 2)
         if (f.got - f.expected == (tile - f.n % tile) % tile) return "";  // positions without an item
       return fmt::format(
           "{} too many: items of earlier tiles were added twice. In a look back, the nearest prefix "
           "contains all tiles before it: add no state of these",
           f.got - f.expected);
     },
     false,
     "too many: items of earlier tiles were added twice. In a look back, the nearest prefix contains all "
     "tiles before it: add no state of these"},
    // Of one partial block more, it looks as if the last one was left out.
    {"first_block_alone",
     [](const CountFacts& f) -> std::string {
       for (std::uint64_t block = 32; f.is_telling() && block < f.n && block <= 4096; block *= 2)
         if (f.got >= 8 && f.got == f.kept_among_first(block))
           return fmt::format("this counts the first {} items alone, as if they were all", block);
       return "";
     }},
};

// --- Wrong items.

// Items as their bits.
struct ItemFacts {
  std::vector<std::uint64_t> items, out;
  std::vector<bool> is_kept;
  std::vector<std::uint64_t> right;  // the items that are kept

  ItemFacts(std::vector<std::uint64_t> all, std::vector<std::uint64_t> got, std::vector<bool> kept)
      : items(std::move(all)), out(std::move(got)), is_kept(std::move(kept)) {
    right = items_if([this](std::size_t i) { return is_kept[i]; });
  }

  bool gives(std::span<const std::uint64_t> other, std::size_t at = 0) const {
    const std::size_t n = std::min(other.size(), out.size() - at);
    return n > 0 && std::ranges::equal(other.first(n), std::span(out).subspan(at, n));
  }
  std::vector<std::uint64_t> items_if(auto holds) const {
    std::vector<std::uint64_t> some;
    for (std::size_t i = 0; i < items.size(); ++i)
      if (holds(i)) some.push_back(items[i]);
    return some;
  }
};

// How far the rows of a warp lie apart that follow each other in d_out; 0: they do not.
inline std::size_t rows_apart(const ItemFacts& f) {
  for (std::size_t apart = 64; apart <= 1024 && f.items.size() <= 1 << 20; apart *= 2)
    for (std::size_t rows = 2; rows <= 32 && apart < f.items.size(); rows *= 2) {
      std::vector<std::uint64_t> other;
      // By tiles, their warps, the rows of these, and lanes.
      for (std::size_t k = 0, tile = apart * rows; k < (f.items.size() + tile - 1) / tile * tile; ++k) {
        const std::size_t warp = k % tile / (32 * rows), row = k % tile / 32 % rows;
        const std::size_t i = k / tile * tile + row * apart + warp * 32 + k % 32;
        if (i < f.items.size() && f.is_kept[i]) other.push_back(f.items[i]);
      }
      if (other != f.right && f.gives(other)) return apart;
    }
  return 0;
}

constexpr Rule<ItemFacts> kItemRules[] = {
    {"moved_by_one",
     [](const ItemFacts& f) -> std::string {
       if (f.gives(f.right, 1))
         return "every item is one place too late: positions come from the exclusive scan, not from the "
                "inclusive one";
       return text_if(f.gives(std::span(f.right).subspan(1)), "every item is one place too early");
     }},
    {"own_places",
     [](const ItemFacts& f) -> std::string {
       return f.items_if([&](std::size_t i) { return f.is_kept[i] && f.items[i] != f.out[i]; }).empty()
                  ? "every kept item is at the index that it has in d_in: its position is what the scan "
                    "counts"
                  : "";
     }},
    {"rejected_items",
     [](const ItemFacts& f) -> std::string {
       auto rejected = f.items_if([&](std::size_t i) { return !f.is_kept[i]; });
       if (rejected.size() < f.right.size()) return "";
       rejected.resize(f.right.size());
       return text_if(f.gives(rejected), "these are the items that the predicate does not keep");
     }},
    {"rows_apart",
     [](const ItemFacts& f) -> std::string {
       const std::size_t apart = rows_apart(f);
       return text_if(
           apart != 0,
           "rows of 32 items that lie {} apart in d_in follow each other in d_out: a warp's rows must "
           "be neighbours in d_in, or ranks must count what the warps between them keep",
           apart);
     }},
    {"other_order",
     [](const ItemFacts& f) -> std::string {
       auto right = f.right, got = std::vector(f.out.begin(), f.out.begin() + std::ssize(f.right));
       std::ranges::sort(right);
       std::ranges::sort(got);
       return text_if(right == got && rows_apart(f) == 0,
                      "the right items, in another order: compaction keeps the order of d_in");
     }},
};

}  // namespace course::compaction
