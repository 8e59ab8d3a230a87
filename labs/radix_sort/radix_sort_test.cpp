// SPDX-License-Identifier: MIT
// The radix sort lab's public tests. Run them on your kernels with
//   build/labs/radix_sort_test --gtest_filter='split.*'
// Each task is a suite, each case a test (public_tests.hpp lists the environment variables). The tests below
// need no kernel: they test the lab's own checks and baselines.
#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <set>
#include <tuple>

#include "base/rng.hpp"
#include "lab/compare.hpp"
#include "radix_sort/baseline.hpp"
#include "radix_sort/lab.hpp"
#include "radix_sort/mistakes.hpp"
#include "radix_sort/points.hpp"
#include "testing/public_tests.hpp"
#include "testing/tried.hpp"

namespace course::radix_sort {

const lab::Problem& problem();

namespace {

using lab::Case;
using lab::Tried;

Tried tried(std::string_view task_id, std::string_view name, std::uint64_t seed = 1) {
  return lab::tried(problem(), task_id, name, seed);
}

TEST(Cases, OfAnyKeyCoverEveryTypeWithAndWithoutValuesInBothDirections) {
  std::set<std::tuple<std::uint32_t, lab::DType, bool>> seen;
  for (const Case& c : problem().cases(*lab::find_task(kManifest, "any_key")))
    seen.emplace(c.op, c.dtype, c.params[kDescending] != 0);
  EXPECT_EQ(seen.size(), 2u * 6 * 2);
}

TEST(Cases, OfMergeStartFromSortedTiles) {
  const Tried t = tried("merge", "keys_u32_n3073_random");
  const auto keys = t.input<std::uint32_t>();
  for (std::size_t first = 0; first < keys.size(); first += kTile) {
    const auto tile = keys.subspan(first, std::min<std::size_t>(kTile, keys.size() - first));
    EXPECT_TRUE(std::is_sorted(tile.begin(), tile.end()));
  }
  EXPECT_FALSE(std::is_sorted(keys.begin(), keys.end()));
}

TEST(Baseline, SortsLongArraysAsTheLibraryDoes) {
  using Pair = Item<std::uint64_t, std::uint32_t>;
  std::vector<Pair> library(300000);
  Rng rng(7);
  for (auto& item : library) item = {rng() % 100000, static_cast<std::uint32_t>(rng())};
  auto digits = library;
  const Order<std::uint64_t> order{KeyKind::unsigned_number, true, 3, 61};
  sort_by_library(std::span(library), order);
  sort_one_thread(std::span(digits), order);
  EXPECT_TRUE(library == digits);
}

template <typename Float, typename Bits>
void expect_order_of_floats() {
  using Limits = std::numeric_limits<Float>;
  const Order<Bits> order{KeyKind::floating, false, 0, 8 * sizeof(Bits)};
  const auto bits = [](Float x) { return std::bit_cast<Bits>(x); };
  const Bits sign = bits(-Float{0});
  const Bits in_order[] = {static_cast<Bits>((bits(Limits::quiet_NaN()) + 1) | sign),
                           static_cast<Bits>(bits(Limits::quiet_NaN()) | sign),
                           bits(-Limits::infinity()),
                           bits(Limits::lowest()),
                           bits(Float{-1}),
                           bits(-Limits::denorm_min()),
                           bits(-Float{0}),
                           bits(Float{0}),
                           bits(Limits::denorm_min()),
                           bits(Limits::min()),
                           bits(Float{1}),
                           bits(Limits::max()),
                           bits(Limits::infinity()),
                           bits(Limits::quiet_NaN()),
                           static_cast<Bits>(bits(Limits::quiet_NaN()) + 1)};
  for (std::size_t i = 1; i < std::size(in_order); ++i)
    EXPECT_LT(order.rank(in_order[i - 1]), order.rank(in_order[i])) << i;
}

TEST(Order, OfFloatsIsThatOfNumbersAndGivesZerosAndNansAPlace) {
  expect_order_of_floats<float, std::uint32_t>();
  expect_order_of_floats<double, std::uint64_t>();
}

TEST(Order, OfSignedAndDescendingKeys) {
  const Order<std::uint32_t> ascending{KeyKind::signed_number, false, 0, 32},
      descending{KeyKind::signed_number, true, 0, 32};
  const std::int32_t in_order[] = {INT32_MIN, -2, -1, 0, 1, INT32_MAX};
  for (std::size_t i = 1; i < std::size(in_order); ++i) {
    const auto a = static_cast<std::uint32_t>(in_order[i - 1]), b = static_cast<std::uint32_t>(in_order[i]);
    EXPECT_LT(ascending.rank(a), ascending.rank(b));
    EXPECT_GT(descending.rank(a), descending.rank(b));
  }
  const Order<std::uint32_t> some{KeyKind::unsigned_number, false, 4, 8},
      none{KeyKind::unsigned_number, false, 9, 9};
  EXPECT_EQ(some.rank(0xabcdef12), 1u);
  EXPECT_EQ(none.rank(0xabcdef12), 0u);
}

TEST(Check, WantsZerosAndNansInTheOrderOfTheirBits) {
  Tried t = tried("any_key", "keys_f32_n3000_extremes");
  const auto out = t.output<std::uint32_t>();
  const auto zero = std::find(out.begin(), out.end(), 0u);
  ASSERT_NE(zero, out.begin());
  std::swap(zero[-1], zero[0]);  // a -0 and a +0
  ASSERT_TRUE(t.check());
  EXPECT_EQ(t.check()->expected, "-0");
  std::swap(zero[-1], zero[0]);
  ASSERT_FALSE(t.check());
  const auto nan = std::find(out.begin(), out.end(), 0x7fc00005u);
  ASSERT_NE(nan, out.end());
  std::swap(nan[-1], nan[0]);
  EXPECT_EQ(t.check()->expected, "nan (bits 0x7fc00000)");
}

TEST(Check, NamesTheLikelyReason) {
  Tried t = tried("split", "keys_u32_n1025_random");
  auto out = t.output<std::uint32_t>();
  const auto in = t.input<std::uint32_t>();
  std::vector<std::uint32_t> keys(in.begin(), in.end());
  const auto answer = [&](auto sort) {
    keys.assign(in.begin(), in.end());
    sort(keys);
    std::copy(keys.begin(), keys.end(), out.begin());
  };
  const auto by = [](const Order<std::uint32_t>& order) {
    return [order](auto& some) {
      std::stable_sort(some.begin(), some.end(),
                       [&](auto a, auto b) { return order.rank(a) < order.rank(b); });
    };
  };
  constexpr auto kPlain = KeyKind::unsigned_number;
  answer([](auto&) {});
  EXPECT_EQ(t.hint(), "this is the input as it was: nothing was moved");
  answer(by({kPlain, false, 0, 31}));
  EXPECT_TRUE(says(t, "by bits 0 to 30 alone"));
  EXPECT_TRUE(says(t, "the last pass wrote to another array"));
  answer(by({kPlain, false, 24, 32}));
  EXPECT_TRUE(says(t, "by bits 24 to 31 alone"));
  answer(by({kPlain, true, 0, 32}));
  EXPECT_EQ(t.hint(), "this is descending order");
  answer([&](auto& some) {
    for (unsigned bit = 32; bit-- > 0;) by({kPlain, false, bit, bit + 1})(some);
  });
  EXPECT_TRUE(says(t, "from the most significant bits down"));
  answer(by({kPlain, false, 0, 32}));
  EXPECT_EQ(t.hint(), "right");
  out[5] = out[4];
  EXPECT_TRUE(says(t, "the output does not hold the keys of the input"));
}

TEST(Check, NamesBitsFromZeroOnce) {
  Tried t = tried("tile_sort", "keys_u32_n2500_random_bits5to13");
  auto out = t.output<std::uint32_t>();
  std::ranges::copy(t.input<std::uint32_t>(), out.begin());
  for (auto tile = out.begin(); tile != out.end(); tile += std::min<std::ptrdiff_t>(kTile, out.end() - tile))
    std::stable_sort(tile, tile + std::min<std::ptrdiff_t>(kTile, out.end() - tile),
                     [](auto a, auto b) { return a % 256 < b % 256; });
  EXPECT_TRUE(says(t, "by bits 0 to 7: the first digit begins at begin_bit = 5"));
  EXPECT_EQ(std::ranges::count(t.check()->causes, "from_0", &lab::Cause::rule), 1);
}

constexpr auto kExample = "keys_u32_n8_example_bits0to3";  // 3 1 7 0 4 1 6 3
constexpr auto kMoves = "thread 1 of block 0 writes d_keys_out, element 0 of 8";

TEST(WrongStores, AreFoundInTheRowsOfASplit) {
  Tried t = tried("split", kExample);
  lab::TracedRun run{{{"d_e", 0, 0}, {"d_e", 3, 1}, {"d_f", 0, 0}, {"d_f", 4, 1}, {"d_t", 0, 2, 0, 2}}, 3};
  EXPECT_EQ(wrong_in(t, "split", run), "none") << "no key was moved yet";
  run.fault = kMoves;
  EXPECT_EQ(wrong_in(t, "split", run), "d_t[0] 3");
  run.stores[3].value = 0;
  EXPECT_EQ(wrong_in(t, "split", run), "d_f[4] 1");
  run.stores[0].value = 1;
  EXPECT_EQ(wrong_in(t, "split", run), "d_e[0] 0");
}

TEST(WrongStores, AreFoundInTheKeysOfAPassBeforeTheFlagsOfTheNext) {
  Tried t = tried("split", kExample);  // by bit 0: 0 4 6 3 1 7 1 3
  const lab::TracedRun run{{{"d_keys_out", 0, 0}, {"d_keys_out", 1, 3}, {"d_e", 1, 0, 0, 1}}, 2};
  EXPECT_EQ(wrong_in(t, "split", run), "d_keys_out[1] 4");
}

TEST(WrongStores, AreNotLookedForIfPassesAlternateOtherwise) {
  Tried t = tried("split", kExample);  // the first of three passes stores to d_keys_out
  const lab::TracedRun run{{{"spare.d_keys", 0, 0}, {"d_e", 0, 1, 0, 1}, {"d_keys_out", 0, 0, 0, 1}}, 2};
  EXPECT_EQ(wrong_in(t, "split", run), "none");
}

TEST(WrongStores, AreFoundInStartsOfDigits) {
  Tried t = tried("onesweep", kExample);
  lab::TracedRun run{{{"d_counts", 2, 3}, {"d_counts", 4, 5}, {"d_counts", 9, 1}}, 1, kMoves};
  EXPECT_EQ(wrong_in(t, "onesweep", run), "none") << "there is no digit 9 of 3 bits";
  EXPECT_EQ(wrong_in(t, "digits", run), "none");
  run.stores[1].value = 4;
  EXPECT_EQ(wrong_in(t, "onesweep", run), "d_counts[4] 5");
  EXPECT_EQ(wrong_in(t, "digits", run), "d_counts[4] 5");
}

TEST(WrongStores, AreNotLookedForWithoutKeys) {
  Tried t = tried("digits", "keys_u32_n0_random");
  const lab::TracedRun run{
      {{"s_offset", 0, 3, 0, 0, 0, {{"d_counts", 1}}}}, 1, "spare.d_keys, element 0 of 0"};
  EXPECT_EQ(wrong_in(t, "digits", run), "none");
}

TEST(WrongStores, AreFoundInTheRanksOfATile) {
  Tried t = tried("digits", kExample);
  lab::TracedRun run{{{"s_keys", 3, 3, 0, 0, 0, {{"d_in", 0}}}, {"s_keys", 2, 1, 0, 0, 1, {{"d_in", 1}}}}, 1};
  EXPECT_EQ(wrong_in(t, "digits", run), "s_keys[2] 1");
  run.stores[0].from.clear();
  EXPECT_EQ(wrong_in(t, "digits", run), "none") << "not a key";
}

TEST(WrongStores, AreFoundInTheRanksOfATileBitByBit) {
  Tried t = tried("tile_sort", kExample);
  lab::TracedRun run{{}, 1};
  const auto store = [&](std::uint64_t element, std::uint32_t thread, std::string from, std::uint64_t i) {
    run.stores.push_back({"s_keys", element, 0, 0, 0, thread, {{std::move(from), i}}});
  };
  // Thread 3 has the items 3, 35, 67 and 99, of which only the first is a key: 0.
  store(0, 3, "d_in", 3);
  for (std::uint64_t row = 1; row < 4; ++row) run.stores.push_back({"s_keys", 3 + 32 * row, 0, 0, 0, 3});
  EXPECT_EQ(wrong_in(t, "tile_sort", run), "none");
  // By bit 0: 0 4 6 3 1 7 1 3. Now its key is 3, and 0 4 1 1 6 stand before it.
  store(4, 3, "s_keys", 3);
  EXPECT_EQ(wrong_in(t, "tile_sort", run), "s_keys[4] 5");
}

TEST(Check, TellsAnUnstableSortByItsKeysAndByItsValues) {
  Tried t = tried("split", "keys_u32_n3000_random_bits0to4");
  const auto keys = t.output<std::uint32_t>();
  std::swap(keys[0], keys[1]);
  EXPECT_TRUE(says(t, "is every pass stable?"));

  t = tried("digits", "pairs_u32_n12345_all_equal");
  const auto values = t.output<std::uint32_t>(1);
  std::swap(values[7], values[9]);
  EXPECT_EQ(t.hint(), "the keys are in order, but values of equal keys changed places: a pass is not stable");
  const auto in = t.input<std::uint32_t>(1);
  values[7] = in[0] + 1;
  EXPECT_TRUE(says(t, "not the values that belong to them"));
}

TEST(Check, TellsTilesThatWereNotMergedAndAnArrayThatIsNoTiles) {
  Tried t = tried("merge", "keys_u32_n6000_random");
  auto out = t.output<std::uint32_t>();
  const auto in = t.input<std::uint32_t>();
  std::copy(in.begin(), in.end(), out.begin());
  EXPECT_EQ(t.hint(), "this is the input as it was: nothing was moved");
  std::sort(out.begin(), out.begin() + 2 * kTile);
  std::sort(out.begin() + 2 * kTile, out.begin() + 4 * kTile);
  std::sort(out.begin() + 4 * kTile, out.end());
  EXPECT_TRUE(says(t, "sorted runs of 2048 keys"));

  t = tried("tile_sort", "keys_u32_n100000_random");
  out = t.output<std::uint32_t>();
  std::sort(out.begin(), out.end());
  EXPECT_TRUE(says(t, "sort each tile of 1024 keys for itself"));
}

TEST(Check, TellsAMergeWithoutTheFlip) {
  // Two runs of kTile keys, with smaller keys in the second one: strides alone compare 0 1 … with 0 1 …, and
  // never the last key with the first.
  Tried t = tried("merge", "keys_u32_n2048_random");
  const auto in = t.input<std::uint32_t>();
  const auto out = t.output<std::uint32_t>();
  std::copy(in.begin(), in.end(), out.begin());
  for (std::size_t stride = kTile; stride > 0; stride /= 2) {
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (i / stride % 2 == 0 && out[i + stride] < out[i]) std::swap(out[i], out[i + stride]);
    }
  }
  EXPECT_TRUE(says(t, "without the flip"));
}

TEST(Check, TellsAStageOfAMergeThatIsMissing) {
  Tried t = tried("merge", "keys_u32_n6000_random");
  const auto in = t.input<std::uint32_t>();
  std::vector<std::uint32_t> keys(in.begin(), in.end());
  merge_by_stages(std::span(keys), true, 0);
  EXPECT_TRUE(std::ranges::is_sorted(keys));
  keys.assign(in.begin(), in.end());
  merge_by_stages(std::span(keys), true, 2048);
  std::ranges::copy(keys, t.output<std::uint32_t>().begin());
  EXPECT_TRUE(says(t, "without those of stride 2048"));
}

TEST(Check, TellsADigitThatBeginsAtBit0) {
  Tried t = tried("any_key", "keys_u32_n4097_random_bits13to24");
  const auto in = t.input<std::uint32_t>();
  const auto out = t.output<std::uint32_t>();
  std::ranges::copy(in, out.begin());
  std::ranges::stable_sort(out, [](std::uint32_t a, std::uint32_t b) { return a % 65536 < b % 65536; });
  EXPECT_TRUE(says(t, "begins at begin_bit = 13"));
}

TEST(Check, TellsThePaddingThatComesFirst) {
  for (const char* name : {"keys_u32_n2500_random_bits5to13", "keys_u32_n1023_random"}) {
    Tried t = tried("tile_sort", name);
    const auto order = [&](std::uint32_t a, std::uint32_t b) {
      return t.c.params[kBeginBit] == 0 ? a < b : (a >> 5 & 255) < (b >> 5 & 255);
    };
    const std::size_t first = t.c.n / kTile * kTile;
    std::vector<std::uint32_t> tile(t.input<std::uint32_t>().begin() + static_cast<std::ptrdiff_t>(first),
                                    t.input<std::uint32_t>().end());
    tile.resize(kTile, 0);
    std::ranges::stable_sort(tile, order);
    const auto last = t.output<std::uint32_t>().subspan(first);
    std::copy_n(tile.begin(), last.size(), last.begin());
    EXPECT_TRUE(says(t, "must hold the largest key"));
  }
}

TEST(Check, TellsPassesThatStayInsideATile) {
  Tried t = tried("digits", "keys_u32_n20000_high_bits");
  const auto in = t.input<std::uint32_t>();
  const auto out = t.output<std::uint32_t>();
  std::copy(in.begin(), in.end(), out.begin());
  for (std::size_t first = 0; first < out.size(); first += 4096) {
    const auto run = out.subspan(first, std::min<std::size_t>(4096, out.size() - first));
    std::sort(run.begin(), run.end());
  }
  EXPECT_TRUE(says(t, "sorted runs of 4096 keys"));
}

TEST(Check, TellsBitsThatWereNotFlipped) {
  Tried t = tried("any_key", "keys_f64_n5000_random");
  const auto out = t.output<std::uint64_t>();
  const auto by = [&](KeyKind kind) {
    const Order<std::uint64_t> order{kind, false, 0, 64};
    std::sort(out.begin(), out.end(), [&](auto a, auto b) { return order.rank(a) < order.rank(b); });
  };
  by(KeyKind::unsigned_number);
  EXPECT_TRUE(says(t, "as unsigned numbers"));
  by(KeyKind::signed_number);
  EXPECT_TRUE(says(t, "of two negative floats"));
}

TEST(Check, TellsFlipsThatAreExchanged) {
  Tried t = tried("any_key", "keys_f64_n5000_random");
  std::ranges::sort(t.output<std::uint64_t>(), [](std::uint64_t a, std::uint64_t b) {
    const bool is_negative = a >> 63 != 0;
    if (is_negative != (b >> 63 != 0)) return is_negative;
    return is_negative ? a < b : a > b;
  });
  EXPECT_TRUE(says(t, "the two flips are exchanged"));
}

TEST(Check, TellsAllBitsOfEachTile) {
  Tried t = tried("tile_sort", "keys_u32_n2500_random_bits5to13");
  const auto in = t.input<std::uint32_t>();
  const auto out = t.output<std::uint32_t>();
  std::copy(in.begin(), in.end(), out.begin());
  for (std::size_t first = 0; first < out.size(); first += kTile) {
    const auto tile = out.subspan(first, std::min<std::size_t>(kTile, out.size() - first));
    std::sort(tile.begin(), tile.end());
  }
  EXPECT_TRUE(says(t, "this is in order by all bits: only bits 5 to 12 count"));
}

TEST(Check, TellsTheLowerHalfOfALongKey) {
  for (const char* name : {"keys_u64_n5000_random", "pairs_i64_n2500_skewed_bits56to64"}) {
    Tried t = tried("any_key", name);
    const auto in = t.input<std::uint64_t>();
    const auto out = t.output<std::uint64_t>();
    std::copy(in.begin(), in.end(), out.begin());
    if (t.c.params[kBeginBit] == 0)
      std::stable_sort(out.begin(), out.end(), [](auto a, auto b) {
        return static_cast<std::uint32_t>(a) < static_cast<std::uint32_t>(b);
      });
    EXPECT_TRUE(says(t, "only the lower 32 of 64 bits count in this order"));
  }
}

// Stability is not the cause.
TEST(Check, TellsTheLastDigitsMask) {
  Tried t = tried("split", "keys_u32_n3000_random_bits0to4");
  const auto in = t.input<std::uint32_t>();
  const auto keys = t.output<std::uint32_t>();
  std::copy(in.begin(), in.end(), keys.begin());
  const Order<std::uint32_t> too_many{KeyKind::unsigned_number, false, 0, 8};
  std::stable_sort(keys.begin(), keys.end(),
                   [&](auto a, auto b) { return too_many.rank(a) < too_many.rank(b); });
  EXPECT_TRUE(says(t, "Mask the last digit"));
  EXPECT_EQ(t.hint().find("stable"), std::string::npos) << t.hint();
}

}  // namespace
}  // namespace course::radix_sort

int main(int argc, char** argv) {
  return course::lab::run_public_tests(argc, argv, course::radix_sort::problem());
}
