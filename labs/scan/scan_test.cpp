// SPDX-License-Identifier: MIT
// The scan lab's public tests. Run them on your kernels with
//   build/labs/scan_test --gtest_filter='hillis_steele.*'
// Each task is a suite, each case a test (public_tests.hpp lists the environment variables). The tests below
// need no kernel: they test the lab's own checks and baselines.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>

#include "lab/compare.hpp"
#include "scan/baseline.hpp"
#include "scan/lab.hpp"
#include "scan/points.hpp"
#include "testing/public_tests.hpp"
#include "testing/tried.hpp"

namespace course::scan {

const lab::Problem& problem();

namespace {

using lab::Case;
using lab::Tried;
using Items = std::vector<std::int32_t>;
using Map = lab::AffineMap<std::uint32_t>;

const lab::Task& task(std::string_view id) {
  return *lab::find_task(kManifest, id);
}

Tried tried(std::string_view name, std::string_view id = "hillis_steele", std::uint64_t seed = 1) {
  return lab::tried(problem(), id, name, seed);
}

TEST(Baselines, GiveTheHandoutsExample) {
  const Case c = problem().example(task("blelloch"), 8);
  Tried t = lab::tried(problem(), task("blelloch"), c);
  EXPECT_EQ(Items(t.input<std::int32_t>().begin(), t.input<std::int32_t>().end()),
            (Items{3, 1, 7, 0, 4, 1, 6, 3}));
  EXPECT_EQ(Items(t.output<std::int32_t>().begin(), t.output<std::int32_t>().end()),
            (Items{0, 3, 4, 11, 11, 15, 16, 22}));
  t = lab::tried(problem(), task("hillis_steele"), problem().example(task("hillis_steele"), 8));
  EXPECT_EQ(Items(t.output<std::int32_t>().begin(), t.output<std::int32_t>().end()),
            (Items{3, 4, 11, 11, 15, 16, 22, 25}));
}

// --- Cases and baselines.

TEST(Cases, KeepToTheRungsRows) {
  for (const auto* list : {&kManifest.tasks, &kManifest.further_rungs}) {
    for (const auto& t : *list) {
      const auto longest = max_row_length(static_cast<Rung>(lab::index_of(kManifest, t)));
      bool full = false;
      for (const Case& c : problem().cases(t)) {
        EXPECT_GE(c.params[kRowLengthParam], 1) << c.name;
        EXPECT_LE(c.params[kRowLengthParam], longest) << c.name;
        full = full || c.params[kRowLengthParam] == longest;
      }
      EXPECT_TRUE(full) << t.id << ": its longest row is not tried";
    }
  }
}

TEST(Cases, CoverEveryOperatorTypeAndKindThatIsOffered) {
  for (const auto& t : kManifest.tasks) {
    lab::expect_all_offered<Offered, OpId>(problem(), t, kOpCount,
                                           [](const Case& c) { return c.params[kKindParam] == 0; });
    lab::expect_all_offered<Offered, OpId>(problem(), t, kOpCount,
                                           [](const Case& c) { return c.params[kKindParam] == 1; });
  }
}

TEST(Operators, AffineMapsAssociateAndDoNotCommute) {
  const Affine<std::uint32_t> op;
  const Map a{3, 5}, b{7, 11}, c{0x80000001u, 13};
  EXPECT_EQ(op(a, op.identity()), a);
  EXPECT_EQ(op(op.identity(), a), a);
  EXPECT_EQ(op(a, op(b, c)), op(op(a, b), c));
  EXPECT_NE(op(a, b), op(b, a));
  // First a, then b, applied to x = 2.
  EXPECT_EQ(alignof(Map), sizeof(Map));
  EXPECT_EQ(op(a, b).scale * 2 + op(a, b).shift, 7u * (3u * 2 + 5) + 11);
}

TEST(Operators, SegmentsStartAnewAtTheirHeadsAndAtTheRowsStart) {
  const Items in{3, 1, 7, 0, 4, 1, 6, 3};
  const std::vector<std::uint8_t> heads{0, 0, 0, 1, 0, 0, 1, 0};
  Items out(8);
  scan_segments(in.data(), heads.data(), 8, Sum<std::int32_t>{}, Kind::inclusive, out.data());
  EXPECT_EQ(out, (Items{3, 4, 11, 0, 4, 5, 6, 9}));
  scan_segments(in.data(), heads.data(), 8, Sum<std::int32_t>{}, Kind::exclusive, out.data());
  EXPECT_EQ(out, (Items{0, 3, 4, 0, 0, 4, 0, 6}));
}

// --- What the check reports.

constexpr const char* kLongRows = "exclusive_sum_i32_n2389_row1024_random";

TEST(Check, TellsTheOtherKind) {
  Tried t = tried(kLongRows);
  t.c.params[kKindParam] = static_cast<std::int64_t>(Kind::inclusive);
  EXPECT_TRUE(says(t, "this is the exclusive scan; the inclusive one"));
}

TEST(Check, TellsTheOtherKindBehindTheFirstResult) {
  Tried t = tried("inclusive_sum_i32_n2389_row1024_random");
  t.c.params[kKindParam] = static_cast<std::int64_t>(Kind::exclusive);
  const auto out = t.output<std::int32_t>();
  for (std::size_t i = 0; i < out.size(); i += 1024) out[i] = 0;
  EXPECT_TRUE(says(t, "but for a row's first result, this is the inclusive scan"));
  const auto in = t.input<std::int32_t>();
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = i % 1024 == 0 ? 0 : static_cast<std::int32_t>(std::int64_t{out[i - 1]} + in[i]);
  EXPECT_TRUE(says(t, "the items were not moved"));
}

TEST(Check, TellsAFirstItemThatGetsLost) {
  const auto minus = [](std::int32_t a, std::int32_t b) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) - static_cast<std::uint32_t>(b));
  };
  Tried t = tried("inclusive_sum_i32_n2389_row1024_random");
  const auto in = t.input<std::int32_t>();
  const auto out = t.output<std::int32_t>();
  for (std::size_t i = 0; i < out.size(); ++i)
    if (i % 1024 != 0) out[i] = minus(out[i], in[i / 1024 * 1024]);
  EXPECT_TRUE(says(t, "a row's first item is missing from all results after it"));
  t = tried(kLongRows);
  const auto items = t.input<std::int32_t>();
  const auto results = t.output<std::int32_t>();
  for (std::size_t i = 0; i < results.size(); ++i)
    if (i % 1024 > 1) results[i] = minus(results[i], items[i / 1024 * 1024]);
  EXPECT_TRUE(says(t, "a row's first item is missing from all results after it"));
}

// Each result combines the last `window` items of its part of `border` items, moved right row by row.
void combine_windows(Tried& t, std::size_t border, std::size_t window) {
  const auto in = t.input<std::int32_t>();
  const auto out = t.output<std::int32_t>();
  const auto row = static_cast<std::size_t>(t.c.params[kRowLengthParam]);
  const bool exclusive = t.c.params[kKindParam] == static_cast<std::int64_t>(Kind::exclusive);
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = 0;
    for (std::size_t k = i - std::min(i % border, window - 1); k <= i; ++k)
      if (!exclusive || k % row != 0) out[i] = lab::wrapping_add(out[i], in[exclusive ? k - 1 : k]);
  }
}

TEST(Check, TellsRoundsThatAreMissing) {
  for (const char* name : {kLongRows, "inclusive_sum_i32_n2389_row1024_random"}) {
    Tried t = tried(name);
    combine_windows(t, 1024, 512);
    EXPECT_TRUE(says(t, "the round with offset 512 is missing"));
  }
}

TEST(Check, TellsWhatIsWrongWithThePrefixOfAPart) {
  constexpr const char* kRow = "exclusive_sum_i32_n4095_row4095_random";
  Tried t = tried(kRow, "coarsened");
  const auto in = t.input<std::int32_t>();
  const auto out = t.output<std::int32_t>();
  const Items right(out.begin(), out.end());
  constexpr std::size_t kChunk = 17, kPart = 32 * kChunk;
  const auto sum_of = [&](std::size_t first, std::size_t last) {
    return std::accumulate(&in[first], &in[0] + last, std::uint32_t{0});
  };
  const auto with = [&](const auto& wrong_by) {  // what the prefix of the item has too much
    for (std::size_t i = 0; i < in.size(); ++i)
      out[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(right[i]) + wrong_by(i));
  };
  with([&](std::size_t i) { return 0 - sum_of(i / kChunk * kChunk, i); });
  EXPECT_TRUE(says(t, "lacks the items before it in its part of 17 items", "coarsened"));
  with([&](std::size_t i) {
    const std::size_t first = i / kPart * kPart;
    return i < kPart || i >= first + kChunk ? 0u : sum_of(first, std::min(first + kChunk, in.size()));
  });
  EXPECT_TRUE(says(t, "lane 0 of every warp but a block's first", "coarsened"));
  for (const bool first_only : {true, false}) {
    with([&](std::size_t i) {
      std::uint32_t lost = 0;
      for (std::size_t part = 0; part + kPart <= i; part += kPart)
        lost +=
            first_only ? sum_of(part + kChunk, part + kPart) : sum_of(part + kPart - kChunk, part + kPart);
      return 0 - lost;
    });
    EXPECT_TRUE(says(t,
                     first_only ? "only the first lane's items of each warp" : "lacks the last lane's items",
                     "coarsened"));
  }
}

TEST(Check, TellsRowsThatWereNotKeptApartOrNotJoined) {
  Tried t = tried(kLongRows);
  const auto in = t.input<std::int32_t>();
  const auto out = t.output<std::int32_t>();
  scan_row(in.data(), in.size(), Sum<std::int32_t>{}, Kind::exclusive, out.data());
  EXPECT_TRUE(says(t, "items of the row before"));
  combine_windows(t, in.size(), 1024);
  EXPECT_TRUE(says(t, "items of the row before"));
  rows_one_thread(in.size(), 1024, [&](std::size_t row, std::size_t length) {
    rows_one_thread(length, 32, [&](std::size_t first, std::size_t k) {
      scan_row(&in[row + first], k, Sum<std::int32_t>{}, Kind::exclusive, &out[row + first]);
    });
  });
  EXPECT_TRUE(says(t, "every 32 items of a row are scanned on their own"));
}

TEST(Check, TellsTheRootThatWasNotZeroed) {
  Tried t = tried(kLongRows);
  const auto in = t.input<std::int32_t>();
  const auto out = t.output<std::int32_t>();
  rows_one_thread(in.size(), 1024, [&](std::size_t row, std::size_t length) {
    const std::int32_t total = lab::wrapping_add(out[row + length - 1], in[row + length - 1]);
    for (std::size_t i = row; i < row + length; ++i) out[i] = lab::wrapping_add(total, out[i]);
  });
  EXPECT_TRUE(says(t, "the root must become op.identity()", "blelloch"));
  EXPECT_EQ(t.hint("coarsened"), "every result has the row's total in front");
}

TEST(Check, PrintsMapsAndTheirPositions) {
  Tried t = tried("inclusive_affine_u64_n2049_row1024_random");
  t.output<Map>()[5] = {1, 2};
  const auto mismatch = problem().check(task("hillis_steele"), t.c, t.inputs, t.outputs);
  ASSERT_TRUE(mismatch);
  EXPECT_EQ(mismatch->got, "1x+2");
  EXPECT_EQ(mismatch->position, "position 5 of row 0, rows of 1024");
}

TEST(Check, TellsSumsWhereAnotherOperatorWasAskedFor) {
  Tried t = tried("exclusive_max_i32_n9001_row1024_random");
  const auto in = t.input<std::int32_t>();
  const auto out = t.output<std::int32_t>();
  rows_one_thread(in.size(), 1024, [&](std::size_t first, std::size_t length) {
    scan_row(&in[first], length, Sum<std::int32_t>{}, Kind::exclusive, &out[first]);
    out[first] = Max<std::int32_t>{}.identity();
  });
  EXPECT_TRUE(says(t, "combine with op(a, b), not +"));
}

TEST(Check, TellsLanesThatCombineThemselvesInShortAndExclusiveRows) {
  Tried one = tried("inclusive_sum_i32_n1_row1_random");
  one.output<std::int32_t>()[0] =
      static_cast<std::int32_t>(static_cast<std::uint32_t>(one.input<std::int32_t>()[0]) * 32u);
  EXPECT_TRUE(says(one, "lanes below the shuffle's offset"));
  Tried two = tried("exclusive_sum_i32_n2_row2_random");
  two.output<std::int32_t>()[1] =
      static_cast<std::int32_t>(static_cast<std::uint32_t>(two.input<std::int32_t>()[0]) * 32u);
  EXPECT_TRUE(says(two, "lanes below the shuffle's offset"));
}

TEST(Check, TellsATreeWithoutThreadsAtItsEnd) {
  Tried t = tried("inclusive_sum_i32_n3_row3_random", "blelloch");
  const auto in = t.input<std::int32_t>();
  const std::int32_t both = lab::wrapping_add(in[0], in[1]);
  t.output<std::int32_t>()[0] = lab::wrapping_add(both, in[0]);
  t.output<std::int32_t>()[1] = lab::wrapping_add(lab::wrapping_add(both, in[0]), in[1]);
  t.output<std::int32_t>()[2] = lab::wrapping_add(in[2], in[2]);
  EXPECT_TRUE(says(t, "4 leaves, but a block only 3 threads"));
}

TEST(Check, TellsAHeadThatACombinationForgets) {
  Tried t = tried("exclusive_sum_i32_n100_row8_random", "segmented");
  const auto in = t.input<std::int32_t>();
  const auto heads = t.input<std::uint8_t>(1);
  std::size_t at = 2;  // neither it nor the item before it begins a segment, but one before them does
  while (at % 8 < 2 || heads[at] != 0 || heads[at - 1] != 0 || heads[at / 8 * 8 + 1] == 0) ++at;
  std::int32_t sum = 0;
  for (std::size_t i = at / 8 * 8; i < at; ++i) sum = lab::wrapping_add(sum, in[i]);
  t.output<std::int32_t>()[at] = sum;
  EXPECT_TRUE(says(t, "or the head is lost"));
}

TEST(Check, TellsZeroInPlaceOfAffinesIdentity) {
  Tried t = tried("inclusive_affine_u64_n4001_row7_random");
  t.output<Map>()[9].scale = 0;
  EXPECT_EQ(t.hint(), "0 is not the identity of affine: use op.identity() where there is no item");
}

TEST(Check, TakesNoZeroForTheFirstItemIfThatIsZero) {
  Tried t = tried("exclusive_min_i32_n1024_row1024_extremes");
  for (std::uint64_t seed = 2; t.input<std::int32_t>()[0] != 0; ++seed)
    t = tried("exclusive_min_i32_n1024_row1024_extremes", "hillis_steele", seed);
  t.output<std::int32_t>()[0] = 0;
  EXPECT_EQ(t.hint(), "0 is not the identity of min: use op.identity() where there is no item");
}

TEST(Check, TellsResultsThatHoldNothingOfTheItemsBefore) {
  Tried exclusive = tried(kLongRows);
  for (std::int32_t& result : exclusive.output<std::int32_t>()) result = 0;
  EXPECT_EQ(exclusive.hint(), "every result is the identity: no item was combined into it");
  Tried inclusive = tried("inclusive_sum_i32_n2389_row1024_random");
  const auto in = inclusive.input<std::int32_t>();
  std::copy(in.begin(), in.end(), inclusive.output<std::int32_t>().begin());
  EXPECT_TRUE(says(inclusive, "the round with offset 1 is missing"));
}

TEST(Check, WantsWholeNumberFloatsExactlyAndOthersWithinTheirOwnPrefixsBound) {
  Tried t = tried("inclusive_sum_f32_n9000_row1024_alternating");
  auto out = t.output<float>();
  out[700] = std::nextafter(out[700], 1e9f);
  EXPECT_NE(t.hint(), "right");

  t = tried("inclusive_sum_f32_n9000_row1024_all_equal");
  out = t.output<float>();
  // An error that is small at the end of a row is too large at its start.
  const float little = 1e-5f * out[1023];
  const float last = out[1023], second = out[1];
  out[1023] = std::nextafter(last, 1e9f);
  EXPECT_EQ(t.hint(), "right");
  out[1023] = last;
  out[1] = second + little;
  EXPECT_NE(t.hint(), "right");
}

}  // namespace
}  // namespace course::scan

int main(int argc, char** argv) {
  return course::lab::run_public_tests(argc, argv, course::scan::problem());
}
