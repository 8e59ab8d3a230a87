// SPDX-License-Identifier: MIT
#include "lab/compare.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "lab/differs.hpp"
#include "lab/poison.hpp"

namespace course::lab {
namespace {

template <typename T>
std::vector<std::byte> bytes_of_values(std::vector<T> values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

std::optional<Mismatch> compare_one(DType dtype, Expected expected, double got) {
  const BufferSpec spec{"d_out", dtype, 1};
  const std::vector<Expected> all{expected};
  return dtype == DType::f32 ? compare_floats(spec, all, bytes_of_values<float>({static_cast<float>(got)}))
                             : compare_floats(spec, all, bytes_of_values<double>({got}));
}

TEST(CompareIntegers, AcceptsTheSameBytesAndNothingElse) {
  const BufferSpec spec{"d_out", DType::i32, 4};
  const auto expected = bytes_of_values<std::int32_t>({1, 2, 3, 4});
  EXPECT_FALSE(compare_integers(spec, expected, expected));
  const auto mismatch = compare_integers(spec, expected, bytes_of_values<std::int32_t>({1, 2, -3, 5}));
  ASSERT_TRUE(mismatch);
  EXPECT_EQ(mismatch->index, 2u);
  EXPECT_EQ(mismatch->expected, "3");
  EXPECT_EQ(mismatch->got, "-3");
  EXPECT_EQ(mismatch->n_wrong, 2u);
  EXPECT_EQ(mismatch->pattern, "every element from 2 on");
}

TEST(CompareMaps, PrintsBothParts) {
  const BufferSpec spec{"d_out", DType::u64, 2};
  const auto expected = bytes_of_values<std::uint32_t>({1, 0, 3, 4'000'000'000u});
  EXPECT_FALSE(compare_maps(spec, expected, expected));
  const auto mismatch = compare_maps(spec, expected, bytes_of_values<std::uint32_t>({1, 0, 3, 2}));
  ASSERT_TRUE(mismatch);
  EXPECT_EQ(mismatch->index, 1u);
  EXPECT_EQ(mismatch->expected, "3x+4000000000");
  EXPECT_EQ(mismatch->got, "3x+2");
}

TEST(CompareIntegers, SeesWhatWasNeverWritten) {
  const BufferSpec spec{"d_out", DType::i32, 3};
  auto got = bytes_of_values<std::int32_t>({1, 2, 3});
  const auto expected = got;
  std::fill(got.begin() + 4, got.begin() + 8, kPoison);
  EXPECT_EQ(compare_integers(spec, expected, got)->hint(),
            "the element holds 0xA5 in every byte, as memory does that was never written: nothing was stored "
            "there, or "
            "a value that was read from such memory");
}

template <typename T>
std::string hint_on(DType dtype, std::vector<T> expected, std::vector<T> got) {
  const auto mismatch =
      compare_integers({"d_out", dtype, expected.size()}, bytes_of_values(expected), bytes_of_values(got));
  return mismatch ? mismatch->hint() : "right";
}

TEST(CompareIntegers, SeesWhatOnlyPartOfWasWritten) {
  EXPECT_NE(hint_on<std::uint64_t>(DType::u64, {7, 70000}, {0xa5a5a5a500000007, 0xa5a5a5a500011170})
                .find("lower 32"),
            std::string::npos);
  EXPECT_NE(hint_on<std::uint64_t>(DType::u64, {1ull << 33 | 5}, {5}).find("32-bit variable"),
            std::string::npos);
  EXPECT_NE(hint_on<std::int64_t>(DType::i64, {-5 - (1ll << 33)}, {-5}).find("32-bit variable"),
            std::string::npos);
  EXPECT_EQ(hint_on<std::int64_t>(DType::i64, {5 + (1ll << 33), 1}, {5, 2}), "");
}

TEST(CompareIntegers, SeesValuesOfUnwrittenMemory) {
  EXPECT_NE(hint_on<std::int64_t>(DType::i64, {1}, {-1515870811}).find("never written"), std::string::npos);
  EXPECT_EQ(hint_on<std::int32_t>(DType::i32, {1, 2, 3}, {1, 0, -1515870811}),
            "1 of the wrong elements was never written (the harness's filling, the byte 0xA5)");
  EXPECT_EQ(compare_one(DType::f32, {std::nan(""), 0}, 0.0)->hint(), "");
  const auto converted = compare_one(DType::f64, {1.0L, 0}, -1515870811.0);
  ASSERT_TRUE(converted);
  EXPECT_NE(converted->hint().find("never written"), std::string::npos);
}

TEST(CompareIntegers, SeesPiecesAtARegularDistance) {
  std::vector<std::int32_t> right(100), got(100);
  const auto rule_if = [&](auto is_written) {
    for (int i = 0; i < 100; ++i)
      right[static_cast<std::size_t>(i)] = i,
      got[static_cast<std::size_t>(i)] = is_written(i) ? i : -1515870811;
    return compare_integers({"d_out", DType::i32, 100}, bytes_of_values(right), bytes_of_values(got))
        ->causes.at(0)
        .rule;
  };
  EXPECT_EQ(rule_if([](int i) { return i % 32 < 8; }), "written_in_pieces");
  EXPECT_EQ(rule_if([](int i) { return i % 2 == 0; }), "written_in_pieces");
  EXPECT_EQ(rule_if([](int i) { return i < 8; }), "never_written");
  EXPECT_EQ(rule_if([](int i) { return i < 8 || (i >= 64 && i < 90); }), "never_written");
  EXPECT_EQ(rule_if([](int i) { return i % 32 < 8 && i != 65; }), "never_written");
}

TEST(CompareFloats, SeesADoubleThatWasAFloat) {
  EXPECT_NE(compare_one(DType::f64, {0.1L, 0}, static_cast<double>(0.1f))->hint().find("digits of a float"),
            std::string::npos);
  EXPECT_EQ(compare_one(DType::f64, {0.1L, 0}, 0.10000001)->hint(), "");
  EXPECT_EQ(compare_one(DType::f64, {0.1L, 0}, 3.0)->hint(), "");
}

TEST(CompareFloats, AllowsTheBoundAndNotMore) {
  EXPECT_FALSE(compare_one(DType::f64, {1.0L, 0.25}, 1.25));
  EXPECT_FALSE(compare_one(DType::f64, {1.0L, 0.25}, 0.75));
  EXPECT_TRUE(compare_one(DType::f64, {1.0L, 0.25}, 1.26));
  EXPECT_TRUE(compare_one(DType::f32, {1.0L, 0}, std::nextafter(1.0f, 2.0f)));
}

TEST(CompareFloats, TakesTheNearestNumberWhenNoErrorIsAllowed) {
  EXPECT_FALSE(compare_one(DType::f32, {0.1L, 0}, 0.1f));  // 0.1 is no float; the nearest float is right
  EXPECT_FALSE(compare_one(DType::f32, {0.0L, 0}, -0.0));
}

TEST(CompareFloats, KnowsNanAndInfinity) {
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(compare_one(DType::f64, {nan, 0}, nan));
  EXPECT_TRUE(compare_one(DType::f64, {nan, 1e300}, 0));
  EXPECT_TRUE(compare_one(DType::f64, {0.0L, 1e300}, nan));
  EXPECT_FALSE(compare_one(DType::f64, {inf, 0}, inf));
  EXPECT_TRUE(compare_one(DType::f64, {inf, 0}, -inf));
  EXPECT_TRUE(compare_one(DType::f64, {1.0L, inf}, inf)) << "an infinity is never near a number";
  EXPECT_FALSE(compare_one(DType::f32, {1e39L, 0}, inf)) << "beyond the type's range";
}

TEST(Differs, TakesNoNumberForInfinity) {
  EXPECT_TRUE(differs("inf", "1.5"));
  EXPECT_TRUE(differs("inf", "-inf"));
  EXPECT_TRUE(differs("nan", "1.5"));
  EXPECT_FALSE(differs("inf", "inf"));
  EXPECT_FALSE(differs("1000.5", "1000.25"));
}

TEST(ErrorModel, GrowsWithDepthAndCondition) {
  EXPECT_DOUBLE_EQ(sum_error_bound(DType::f32, 10, 100, false), 100 * 10 * 0x1p-24 / (1 - 10 * 0x1p-24));
  EXPECT_EQ(sum_error_bound(DType::f32, 10, 1 << 24, true), 0) << "every partial sum is an exact integer";
  EXPECT_GT(sum_error_bound(DType::f32, 10, (1 << 24) + 1, true), 0);
  EXPECT_EQ(sum_error_bound(DType::i32, 10, 1e9, false), 0);
  EXPECT_EQ(sum_error_bound(DType::f32, 0x1p24, 1, false), std::numeric_limits<double>::infinity());
  EXPECT_EQ(product_error_bound(DType::f64, 1, 3), 0);
  EXPECT_DOUBLE_EQ(product_error_bound(DType::f64, 3, -2), 2 * 2 * 0x1p-53 / (1 - 2 * 0x1p-53));
}

// Checks the claim behind the bound: trees of 256 items, and then their sums one after another in any order,
// stay within it; a chain of all items does not.
TEST(ErrorModel, TellsReasonableOrdersFromAChainOfAllItems) {
  constexpr std::size_t kN = 1 << 20;
  const std::vector<float> items(kN, 0.7f);
  ExactSum exact;
  for (const float x : items) exact.add(static_cast<long double>(x));
  std::vector<float> blocks = items;
  for (std::size_t n = kN; n > kN / 256; n /= 2)
    for (std::size_t i = 0; i < n / 2; ++i) blocks[i] += blocks[i + n / 2];
  blocks.resize(kN / 256);
  const Expected expected = exact.expected(DType::f32);
  const auto is_right = [&](float sum) {
    return !compare_one(DType::f32, expected, static_cast<double>(sum));
  };
  EXPECT_TRUE(is_right(std::accumulate(blocks.begin(), blocks.end(), 0.0f)));
  EXPECT_TRUE(is_right(std::accumulate(blocks.rbegin(), blocks.rend(), 0.0f)));
  const float chain = std::accumulate(items.begin(), items.end(), 0.0f);
  EXPECT_FALSE(is_right(chain));
  const auto error = static_cast<long double>(chain) - exact.value();
  EXPECT_TRUE(is_error_of_a_chain(error, error));
  EXPECT_FALSE(is_error_of_a_chain(-error, error));
  EXPECT_FALSE(is_error_of_a_chain(error / 1000, error));
}

TEST(ExactSum, SurvivesCancellation) {
  ExactSum sum;
  for (const long double x : {1.0L, 1e30L, 1.0L, -1e30L}) sum.add(x);
  EXPECT_EQ(sum.value(), 2.0L);
}

TEST(DescribePattern, NamesWhatStandsOut) {
  const auto describe = [](std::vector<std::uint64_t> wrong, std::uint64_t n) {
    return describe_pattern(wrong, n);
  };
  EXPECT_EQ(describe({0}, 1), "");
  EXPECT_EQ(describe({0, 1, 2}, 3), "every element");
  EXPECT_EQ(describe({9}, 10), "the last element alone");
  EXPECT_EQ(describe({0}, 10), "the first element alone");
  EXPECT_EQ(describe({4}, 10), "");
  EXPECT_EQ(describe({0, 1}, 10), "every element up to 1");
  EXPECT_EQ(describe({3, 4, 5}, 10), "every element from 3 to 5");
  EXPECT_EQ(describe({31, 63, 95}, 100), "one element in 32, from 31 on");
  EXPECT_EQ(describe({31, 63, 95}, 1000), "");
  EXPECT_EQ(describe({1, 2, 7}, 10), "");
}

TEST(PrintElement, ShowsEnoughDigits) {
  const auto print = [](auto value, DType dtype) {
    return print_element(dtype, reinterpret_cast<const std::byte*>(&value));
  };
  EXPECT_EQ(print(0.1f, DType::f32), "0.1");
  EXPECT_EQ(print(std::nextafter(0.1f, 1.0f), DType::f32), "0.10000001");
  EXPECT_EQ(print(std::int64_t{-5}, DType::i64), "-5");
  EXPECT_EQ(print(std::uint8_t{200}, DType::u8), "200");
  EXPECT_EQ(print(std::nanf("1"), DType::f32), "nan");
}

}  // namespace
}  // namespace course::lab
