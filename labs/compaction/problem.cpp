// SPDX-License-Identifier: MIT
// The trusted side of the compaction lab: its cases, their inputs, and the right answers. Never linked into a
// runner.
// Reading order: Layout says which items are kept, the table lists what is tried and why, check() decides
// what is accepted: the kept items bit for bit and in order, their number, and nothing written past them.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <utility>

#include "base/rng.hpp"
#include "compaction/baseline.hpp"
#include "compaction/lab.hpp"
#include "compaction/points.hpp"
#include "lab/compare.hpp"
#include "lab/diagnosis.hpp"
#include "lab/items.hpp"
#include "lab/poison.hpp"

namespace course::compaction {
namespace {

using namespace lab;  // NOLINT: this file is written in that library's terms

// Which items are kept: params[1] of a case. The items are random values for which the predicate is true or
// false as wanted.
enum class Layout : std::int64_t {
  half,  // at random, one in two
  tenth,
  most,  // at random, nine in ten
  none,
  all,
  first,  // only that one
  last,
  all_but_last,
  alternate,  // every second one, starting with the first
  runs,       // 1,000 kept, then 1,000 not
  extremes,   // items from the ends of their type, and NaN among the floats: the predicate decides
  example,    // 3 1 7 0 4 1 6 3, repeated: the predicate decides
};
constexpr const char* name_of(Layout layout) {
  constexpr const char* kNames[] = {"half", "tenth",        "most",      "none", "all",      "first",
                                    "last", "all_but_last", "alternate", "runs", "extremes", "example"};
  return kNames[static_cast<std::size_t>(layout)];
}

Layout layout_of(const Case& c) {
  return static_cast<Layout>(c.params[1]);
}

bool is_kept(Layout layout, std::uint64_t i, std::uint64_t n, Rng& rng) {
  switch (layout) {
    case Layout::half: return rng.below(2) == 0;
    case Layout::tenth: return rng.below(10) == 0;
    case Layout::most: return rng.below(10) != 0;
    case Layout::all: return true;
    case Layout::first: return i == 0;
    case Layout::last: return i + 1 == n;
    case Layout::all_but_last: return i + 1 != n;
    case Layout::alternate: return i % 2 == 0;
    case Layout::runs: return i / 1000 % 2 == 0;
    default: return false;
  }
}

// How many of n items are kept; the expected number if it is random.
double n_kept(Layout layout, double n) {
  switch (layout) {
    case Layout::tenth: return 0.1 * n;
    case Layout::most: return 0.9 * n;
    case Layout::none: return 0;
    case Layout::all: return n;
    case Layout::first:
    case Layout::last: return std::min(n, 1.0);
    case Layout::all_but_last: return std::max(n - 1, 0.0);
    default: return 0.5 * n;
  }
}

// --- Items.

template <typename T>
T random_item(Rng& rng) {
  if constexpr (std::is_floating_point_v<T>) return static_cast<T>(2000 * rng.unit() - 1000);
  return static_cast<T>(rng());
}

// A random item that `keep` keeps, or one that it does not. Every predicate except nonzero keeps about half
// of all random items.
template <typename T, typename Keep>
T item_on_side(bool kept, Keep keep, Rng& rng) {
  if constexpr (std::is_same_v<Keep, Nonzero<T>>) {
    if (!kept) return std::is_floating_point_v<T> && rng.below(2) == 0 ? -T{0} : T{0};
  }
  T item = random_item<T>(rng);
  while (keep(item) != kept) item = random_item<T>(rng);
  return item;
}

template <typename T>
T extreme_item(Rng& rng) {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_floating_point_v<T>) {
    const T values[] = {T{0},
                        -T{0},
                        Limits::quiet_NaN(),
                        -Limits::quiet_NaN(),
                        Limits::infinity(),
                        -Limits::infinity(),
                        Limits::lowest(),
                        Limits::max(),
                        Limits::denorm_min(),
                        -Limits::denorm_min()};
    return values[rng.below(std::size(values))];
  } else {
    const T values[] = {Limits::min(), Limits::max(), T{0}, T{-1}, T{1}};
    return values[rng.below(std::size(values))];
  }
}

template <typename F>
decltype(auto) with_types(const Case& c, F f) {
  return Offered::with(static_cast<KeepId>(c.op), c.dtype,
                       [&](auto item, auto keep) { return f(item, with_threshold(keep, c.params[0])); });
}

// --- Likely causes of a wrong result.

constexpr const char* kPastTheCount = "the rest of d_out, from *d_count on, must stay as it was";

struct CountFacts {
  std::uint64_t expected, got, n;
  bool last_is_kept, looks_back;  // the item; the task
  std::function<std::uint64_t(std::uint64_t)> kept_among_first;

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
  // Where the last, partial tile begins if its items alone were counted; else 0.
  std::uint64_t counted_from() const {
    return partial_tile([&](std::uint64_t at) { return got == expected - kept_among_first(at); });
  }
};

constexpr Rule<CountFacts> kCountRules[] = {
    {"last_flag",
     [](const CountFacts& f) -> std::string {
       return text_if(
           f.last_is_kept && f.got + 1 == f.expected,
           "one short, and the last item is kept: the last value of the exclusive scan counts the kept items "
           "before it; the count is scan[n - 1] + flag[n - 1]");
     }},
    {"last_counted",
     [](const CountFacts& f) -> std::string {
       return text_if(f.n > 0 && !f.last_is_kept && f.got == f.expected + 1,
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
       const auto whole = f.counted_from();
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

// Items as their bits.
struct ItemFacts {
  std::vector<std::uint64_t> items, right, out;  // right: those that are kept
  std::vector<bool> is_kept;

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
std::size_t rows_apart(const ItemFacts& f) {
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

// --- Wrong stores of a traced run. before[i]: how many of the items before item i are kept.

// An item that two threads store.
std::optional<WrongStore> taken_twice(std::span<const std::uint64_t> before, const TracedRun& run) {
  std::map<std::uint64_t, const TracedStore*> first;
  for (const TracedStore& store : run.stores) {
    if (store.array != "d_out" || store.from.size() != 1 || store.from[0].first != "d_in" ||
        store.from[0].second >= before.size())
      continue;
    const auto [it, fresh] = first.try_emplace(store.from[0].second, &store);
    if (!fresh && it->second->element != store.element)
      return WrongStore{&store, before[it->first],
                        fmt::format("it is item {}, which thread {} of block {} stores, too", it->first,
                                    it->second->thread, it->second->block),
                        true};
  }
  return {};
}

// An item that is stored at another item's place, or although it is not kept.
std::optional<WrongStore> misplaced(std::span<const std::uint64_t> flags,
                                    std::span<const std::uint64_t> before, const TracedRun& run) {
  std::optional<WrongStore> first;  // in the order of d_out
  for (const TracedStore& store : run.stores) {
    if (store.array != "d_out" || store.from.size() != 1 || store.from[0].first != "d_in") continue;
    const std::uint64_t i = store.from[0].second;
    if (i >= flags.size() || (flags[i] != 0 && before[i] == store.element)) continue;
    if (first && first->store->element <= store.element) continue;
    const auto owner = static_cast<std::uint64_t>(
        std::upper_bound(before.begin(), before.end(), store.element) - before.begin());
    first = {&store, flags[i] != 0 ? before[i] : store.element,
             flags[i] != 0
                 ? fmt::format("it is item {}, and {} of the items before it are kept", i, before[i])
                 : fmt::format("it is item {}, which is not kept{}", i,
                               owner > flags.size() ? "" : fmt::format("; item {} belongs here", owner - 1)),
             true};
  }
  return first;
}

// A status of single_pass that does not hold its tile's number (state_of in given.cuh).
std::optional<WrongStore> wrong_status(std::span<const std::uint64_t> before, const TracedRun& run) {
  constexpr std::uint64_t kTile = 2048, kNumber = (std::uint64_t{1} << 62) - 1;
  const std::uint64_t n = before.size() - 1;
  const auto left = run.left("d_spare");
  if (left.empty() || left.rbegin()->first != (n + kTile - 1) / kTile) return {};  // other tiles
  for (const TracedStore& store : run.stores) {
    const std::uint64_t known = store.value >> 62, number = store.value & kNumber, k = store.element - 1;
    if (store.array != "d_spare" || store.element == 0 || known == 0 || known == 3) continue;
    const std::uint64_t all = before[std::min(n, (k + 1) * kTile)], own = all - before[k * kTile];
    if (number != (known == 1 ? own : all))
      return WrongStore{&store, store.value,
                        fmt::format("as the {} of tile {} this is {}, and right is {}{}",
                                    known == 1 ? "total" : "prefix", k, number, known == 1 ? own : all,
                                    known == 1            ? ""
                                    : number == all - own ? ": a prefix contains the tile itself, too"
                                    : number == own       ? ": nothing of the tiles before was added"
                                                          : "")};
  }
  return {};
}

// --- The cases.

struct Keep {
  KeepId id;
  std::int64_t threshold = 0;
};

Case make(Keep keep, DType dtype, std::uint64_t n, Layout layout, std::uint32_t purpose,
          std::uint32_t misalign) {
  std::string variant = name_of(keep.id);
  if (keep.id == KeepId::less_than)
    variant += fmt::format("{}{}", keep.threshold < 0 ? "_minus_" : "_", std::abs(keep.threshold));
  const Pattern pattern = layout == Layout::example    ? Pattern::example
                          : layout == Layout::extremes ? Pattern::extremes
                                                       : Pattern::random;
  Case c = make_case({fmt::format("{}_{}", variant, lab::name_of(dtype)), "", name_of(layout)}, keep.id,
                     dtype, n, pattern, purpose, misalign);
  c.params = {keep.threshold, static_cast<std::int64_t>(layout)};
  return c;
}

namespace table {
using enum DType;
using enum Layout;
constexpr Keep kPositive{KeepId::is_positive}, kEven{KeepId::is_even}, kNonzero{KeepId::nonzero};
constexpr Keep less_than(std::int64_t threshold) {
  return {KeepId::less_than, threshold};
}

constexpr CaseRow<Keep, std::uint64_t, Layout> kCases[] = {
    // Sizes: 1, and around a warp, a block, and tiles of 1,024 to 4,096 items.
    {kPositive, i32, {1, 2, 31, 32, 33, 255, 256, 511, 512, 513}, half},
    {kPositive, i32, {1023, 1024, 1025, 2047, 2048, 2049, 4095, 4096, 4097, 8193}, half},
    // All checkers are on: two blocks, the second with one item; a partial last block at an unaligned
    // address; several tiles of 2,048 and of 4,096; three levels of blocks of 256.
    {kPositive, i32, {257, 65537}, half, kBoth},
    {kPositive, i32, 3001, most, kBoth, 12},
    {kNonzero, f32, 20001, half, kBoth},
    {kPositive, i32, kThreeTurns, half, kBoth, 0, 1},
    {kPositive, i32, 2 * kThreeTurns, half, kCorrectness, 0, 2},
    // Counts that are often wrong: nothing, everything, one item at either end, all but the last.
    {kPositive, i32, {1, 256, 1000, 70001}, {none, all, first, last, all_but_last}},
    {less_than(-5), i64, 4099, {none, all, first, last, all_but_last}},
    // Few or many items are kept, every second one, or long runs.
    {kEven, i32, 100003, {tenth, most, alternate, runs}},
    {kNonzero, i32, 8192, {tenth, most, alternate, runs}},
    // More blocks than 256, or 1,024, threads can scan; 2^k ± 1.
    {kPositive, i32, {65535, 65536, 262145, 1048577}, half},
    // Addresses where the first 16-byte load is not aligned; arrays too short for one vector load.
    {kPositive, i32, 100003, half, kCorrectness, 4},
    {kPositive, i32, 4099, all, kCorrectness, 8},  // whole tiles are kept
    {kPositive, i32, 3, all, kCorrectness, 4},
    {kEven, i64, 30001, half, kCorrectness, 8},
    {less_than(7), f32, 5001, half, kCorrectness, 12},
    // Every predicate with every type that it is offered for. Items at the ends of their type, NaN and -0:
    // items must be moved without changing their bits.
    {{kPositive, kNonzero}, {i32, f32}, {0, 2500}, half},
    {{kPositive, kNonzero}, {i32, f32}, 5000, extremes},
    {kEven, {i32, i64}, {0, 2500}, half},
    {kEven, {i32, i64}, 5000, extremes},
    {less_than(11), {i32, f32, i64}, 0, half},
    {less_than(-11), {i32, f32, i64}, 2500, half},
    {less_than(0), {i32, f32, i64}, 5000, extremes},
    {kNonzero, f32, 33, half},
    {kEven, i64, 100, half},
    {less_than(4), i32, 40000, example},
    {less_than(std::numeric_limits<std::int32_t>::max()), i64, 3000, extremes},
    // The measured cases: with 2^18 items, counting is quick; 2^22 are many times what the device processes
    // at once. Both are also correctness cases, with another seed, so an answer that was stored in one is
    // wrong in the other.
    {kPositive, i32, 262144, half, kCounted},
    {kPositive, i32, 4194304, half, kTimed},
};
}  // namespace table

class CompactionProblem : public Problem {
 public:
  const Manifest& manifest() const override { return kManifest; }

  std::vector<Case> cases(const Task&) const override {
    std::vector<Case> all;
    add_cases(all, table::kCases, make);
    return all;
  }

  Shape shape(const Task&, const Case& c) const override {
    return {
        {{"d_in", c.dtype, c.n}}, {{"d_out", c.dtype, c.n}, {"d_count", DType::u64, 1}}, workspace_of(c.n)};
  }

  void fill(const Task&, const Case& c, std::uint64_t seed, std::span<HostBuffer> inputs) const override {
    with_types(c, [&]<typename T, typename Keep>(T, Keep keep) {
      Rng rng(seed);
      const Layout layout = layout_of(c);
      std::uint64_t i = 0;
      for (T& item : inputs[0].as<T>()) {
        if (layout == Layout::extremes) {
          item = extreme_item<T>(rng);
        } else if (layout == Layout::example) {
          item = lab::example_item<T>(i);
        } else {
          item = item_on_side<T>(is_kept(layout, i, c.n, rng), keep, rng);
        }
        ++i;
      }
    });
  }

  std::optional<Mismatch> check(const Task& task, const Case& c, std::span<const HostBuffer> inputs,
                                std::span<const HostBuffer> outputs) const override {
    return with_types(c, [&]<typename T, typename Keep>(T, Keep keep) -> std::optional<Mismatch> {
      const auto items = inputs[0].as<T>();
      std::vector<T> right(items.size());
      right.resize(copy_if_one_thread(items, std::span(right), keep));
      const std::span<const std::byte> out = outputs[0].bytes;
      const auto kept_bytes = out.first(right.size() * sizeof(T)), rest = out.subspan(kept_bytes.size());

      // The count comes first, because its message is shorter.
      const Index expected = right.size();
      if (auto mismatch =
              compare_integers(outputs[1].spec, std::as_bytes(std::span(&expected, 1)), outputs[1].bytes)) {
        const Index got = outputs[1].as<Index>()[0];
        const auto kept_among_first = [&](std::uint64_t n) {
          return static_cast<std::uint64_t>(
              std::count_if(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(n), keep));
        };
        diagnose<CountFacts>(*mismatch, kCountRules,
                             {expected, got, c.n, !items.empty() && keep(items.back()),
                              task.id == "single_pass", kept_among_first});
        return mismatch;
      }

      BufferSpec kept_spec = outputs[0].spec;
      kept_spec.count = right.size();
      if (auto mismatch = compare_integers(kept_spec, std::as_bytes(std::span<const T>(right)), kept_bytes)) {
        mismatch->length_is_a_value = true;
        const auto bits = [](std::span<const T> of) {
          using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
          std::vector<std::uint64_t> raw;
          for (const T item : of) raw.push_back(std::bit_cast<Bits>(item));
          return raw;
        };
        ItemFacts facts{bits(items), bits(right), bits(outputs[0].as<T>()), {}};
        for (const T item : items) facts.is_kept.push_back(keep(item));
        std::vector<Cause> causes = causes_of<ItemFacts>(kItemRules, facts);
        // That the first element was never written is a part of such a mistake.
        if (std::ranges::any_of(causes, [](const Cause& cause) { return !cause.is_sign; }))
          mismatch->causes.clear();
        if (!is_explained(*mismatch)) add_causes(*mismatch, std::move(causes));
        return mismatch;
      }

      const std::vector<std::byte> untouched(rest.size(), kPoison);
      BufferSpec rest_spec = outputs[0].spec;
      rest_spec.count = c.n - right.size();
      if (auto mismatch = compare_integers(rest_spec, untouched, rest)) {
        mismatch->index += right.size();
        mismatch->n_total = c.n;
        mismatch->length_is_a_value = true;
        mismatch->pattern.clear(), mismatch->near_expected.clear(), mismatch->near_got.clear();
        mismatch->expected = "nothing written";
        mismatch->causes = {{"past_the_count",
                             fmt::format("{} items are kept: {}", right.size(), kPastTheCount), false,
                             kPastTheCount}};
        return mismatch;
      }
      return std::nullopt;
    });
  }

  std::optional<WrongStore> wrong_store(const Task& task, const Case& c, std::span<const HostBuffer> inputs,
                                        const TracedRun& run) const override {
    return with_types(c, [&]<typename T, typename Keep>(T, Keep keep) -> std::optional<WrongStore> {
      std::vector<std::uint64_t> flags, before{0};
      for (const T item : inputs[0].as<T>()) {
        flags.push_back(keep(item) ? 1 : 0);
        before.push_back(before.back() + flags.back());
      }
      if (auto wrong = taken_twice(before, run)) return wrong;
      std::optional<WrongStore> wrong;
      if (task.id == "single_pass") wrong = wrong_status(before, run);
      if (run.left("d_flags").size() == c.n) {
        wrong = run.differs("d_flags", flags, "1 for an item that is kept, otherwise 0");
        if (!wrong && run.reaches("d_out", run.n_launches - 1)) {  // before, the scan may go on
          wrong = run.differs("d_positions", std::span(before).first(c.n), "the sum of the flags before it");
          if (wrong && wrong->store->value == wrong->right + 1 && flags[wrong->store->element] != 0)
            wrong->why += ", without its own";
        }
      }
      return wrong ? wrong : misplaced(flags, before, run);
    });
  }

  void baseline(const Task&, const Case& c, std::span<const HostBuffer> inputs,
                std::span<HostBuffer> outputs) const override {
    with_types(c, [&]<typename T, typename Keep>(T, Keep keep) {
      const auto items = inputs[0].as<T>();
      const auto out = outputs[0].as<T>();
      outputs[1].as<Index>()[0] = copy_if_one_thread(items, out, keep);
    });
  }

  // n - 1 additions of flags, a scan of ⌈log2 n⌉ steps; every item is read once; every kept item and the
  // count are written once.
  Ideal ideal(const Task&, const Case& c) const override {
    const auto n = static_cast<double>(c.n);
    const double bytes =
        (n + n_kept(layout_of(c), n)) * static_cast<double>(bytes_of(c.dtype)) + sizeof(Index);
    return {.items = n,
            .units = n / 1024,
            .work = std::max(n - 1, 0.0),
            .steps = n > 1 ? std::ceil(std::log2(n)) : 0,
            .bytes = bytes};
  }

  // less_than(4) on 3 1 7 0 4 1 6 3 keeps 3 1 0 1 3.
  Case example(const Task&, std::uint64_t n) const override {
    Case c = make_case({"less_than_i32"}, KeepId::less_than, DType::i32, n, Pattern::example);
    c.params = {4, static_cast<std::int64_t>(Layout::example)};
    return c;
  }

  // The items follow from the layout: the example's, or that of `like`.
  std::optional<Case> with_items(const Task& task, const Case& like, std::uint64_t n,
                                 Pattern pattern) const override {
    if (pattern != Pattern::example && pattern != like.pattern) return std::nullopt;
    const Layout layout = pattern == Pattern::example ? Layout::example : layout_of(like);
    std::optional<Case> c = Problem::with_items(task, like, n, pattern);
    c->params[1] = static_cast<std::int64_t>(layout);
    c->words.items = name_of(layout);
    return with_name(*c);
  }
};

}  // namespace

const Problem& problem() {
  static const CompactionProblem kProblem;
  return kProblem;
}

}  // namespace course::compaction
