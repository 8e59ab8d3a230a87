// SPDX-License-Identifier: MIT
// The trusted side of the compaction lab: its cases, their inputs, and the right answers. Never linked into a
// runner.
// Reading order: Layout says which items are kept, the table lists what is tried and why, check() decides
// what is accepted: the kept items bit for bit and in order, their number, and nothing written past them.
// causes.hpp explains wrong outputs, wrong_stores.hpp the first wrong store on the way to them.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/rng.hpp"
#include "compaction/baseline.hpp"
#include "compaction/causes.hpp"
#include "compaction/lab.hpp"
#include "compaction/points.hpp"
#include "compaction/wrong_stores.hpp"
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

constexpr std::string_view kLooksBack = "single_pass";  // the task

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
    const T values[] = {T{0}, Limits::quiet_NaN(), Limits::infinity(), Limits::lowest(),
                        Limits::denorm_min()};
    const auto choice = rng.below(2 * std::size(values));
    return choice % 2 == 0 ? values[choice / 2] : -values[choice / 2];
  } else {
    const T values[] = {Limits::min(), Limits::max(), T{0}, T{-1}, T{1}};
    return values[rng.below(std::size(values))];
  }
}

template <typename T>
std::vector<std::uint64_t> bits_of(std::span<const T> items) {
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  std::vector<std::uint64_t> bits;
  for (const T item : items) bits.push_back(std::bit_cast<Bits>(item));
  return bits;
}

template <typename F>
decltype(auto) with_types(const Case& c, F f) {
  return Offered::with(static_cast<KeepId>(c.op), c.dtype,
                       [&](auto item, auto keep) { return f(item, with_threshold(keep, c.params[0])); });
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
        item = layout == Layout::extremes  ? extreme_item<T>(rng)
               : layout == Layout::example ? lab::example_item<T>(i)
                                           : item_on_side<T>(is_kept(layout, i, c.n, rng), keep, rng);
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
      const auto is_kept = [&] {
        std::vector<bool> all;
        for (const T item : items) all.push_back(keep(item));
        return all;
      };

      // The count comes first, because its message is shorter.
      const Index expected = right.size();
      if (auto mismatch =
              compare_integers(outputs[1].spec, std::as_bytes(std::span(&expected, 1)), outputs[1].bytes)) {
        diagnose<CountFacts>(*mismatch, kCountRules,
                             {expected, outputs[1].as<Index>()[0], is_kept(), task.id == kLooksBack});
        return mismatch;
      }

      BufferSpec kept_spec = outputs[0].spec;
      kept_spec.count = right.size();
      if (auto mismatch = compare_integers(kept_spec, std::as_bytes(std::span<const T>(right)), kept_bytes)) {
        mismatch->length_is_a_value = true;
        std::vector<Cause> causes =
            causes_of<ItemFacts>(kItemRules, {bits_of(items), bits_of(outputs[0].as<T>()), is_kept()});
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
        constexpr const char* kRule = "the rest of d_out, from *d_count on, must stay as it was";
        mismatch->causes = {
            {"past_the_count", fmt::format("{} items are kept: {}", right.size(), kRule), false, kRule}};
        return mismatch;
      }
      return std::nullopt;
    });
  }

  std::optional<WrongStore> wrong_store(const Task& task, const Case& c, std::span<const HostBuffer> inputs,
                                        const TracedRun& run) const override {
    return with_types(c, [&]<typename T, typename Keep>(T, Keep keep) {
      std::vector<std::uint64_t> flags;
      for (const T item : inputs[0].as<T>()) flags.push_back(keep(item) ? 1 : 0);
      return first_wrong_store(flags, task.id == kLooksBack, run);
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
