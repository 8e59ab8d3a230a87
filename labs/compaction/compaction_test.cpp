// SPDX-License-Identifier: MIT
// The compaction lab's public tests. Run them on your kernels with
//   build/labs/compaction_test --gtest_filter='fused.*'
// Each task is a suite, each case a test (public_tests.hpp lists the environment variables). The tests below
// need no kernel: they test the lab's own checks and baselines.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "compaction/baseline.hpp"
#include "compaction/lab.hpp"
#include "compaction/points.hpp"
#include "lab/compare.hpp"
#include "testing/public_tests.hpp"
#include "testing/tried.hpp"

namespace course::compaction {

const lab::Problem& problem();

namespace {

using lab::Case;
using lab::Tried;

const lab::Task& task(std::string_view id = "fused") {
  return *lab::find_task(kManifest, id);
}

Tried tried(std::string_view name, std::uint64_t seed = 1) {
  return lab::tried(problem(), task(), name, seed);
}

std::span<std::int32_t> out_of(Tried& t) {
  return t.output<std::int32_t>(0);
}
Index& count_of(Tried& t) {
  return t.output<Index>(1)[0];
}

TEST(Cases, CoverEveryPredicateAndTypeThatIsOffered) {
  lab::expect_all_offered<Offered, KeepId>(problem(), task(), kKeepCount);
}

TEST(Cases, KeepWhatTheirNamesSay) {
  const auto kept = [](const char* name) {
    Tried t = tried(name);
    return count_of(t);
  };
  EXPECT_EQ(kept("is_positive_i32_n0_half"), 0u);
  EXPECT_EQ(kept("is_positive_i32_n1000_none"), 0u);
  EXPECT_EQ(kept("is_positive_i32_n1000_all"), 1000u);
  EXPECT_EQ(kept("is_positive_i32_n1000_all_but_last"), 999u);
  EXPECT_EQ(kept("nonzero_i32_n8192_alternate"), 4096u);
  EXPECT_NEAR(static_cast<double>(kept("is_even_i32_n100003_tenth")), 10000, 500);
  for (const char* end : {"first", "last"}) {
    Tried t = tried(std::string("is_positive_i32_n1000_") + end);
    EXPECT_EQ(count_of(t), 1u);
    EXPECT_EQ(out_of(t)[0],
              end == std::string("first") ? t.input<std::int32_t>()[0] : t.input<std::int32_t>()[999]);
  }
}

TEST(Example, IsTheHandouts) {
  Tried t = lab::tried(problem(), task(), problem().example(task(), 8));
  EXPECT_EQ(count_of(t), 5u);
  const std::vector<std::int32_t> kept(out_of(t).begin(), out_of(t).begin() + 5);
  EXPECT_EQ(kept, (std::vector<std::int32_t>{3, 1, 0, 1, 3}));
}

TEST(Predicates, AreDefinedAtTheEndsOfTheirTypes) {
  const float nan = std::nanf("");
  EXPECT_FALSE(IsPositive<float>{}(nan));
  EXPECT_FALSE(IsPositive<float>{}(0.0f));
  EXPECT_TRUE(IsPositive<float>{}(std::numeric_limits<float>::denorm_min()));
  EXPECT_TRUE(Nonzero<float>{}(nan));
  EXPECT_FALSE(Nonzero<float>{}(-0.0f));
  EXPECT_FALSE(LessThan<float>{1}(nan));
  EXPECT_TRUE(IsEven<std::int32_t>{}(INT32_MIN));
  EXPECT_FALSE(IsEven<std::int64_t>{}(-1));
}

TEST(Check, NamesTheLikelyReasonOfAWrongCount) {
  Tried even = tried("is_positive_i32_n33_half");  // 16 are kept, 17 are not
  for (std::uint64_t i = 0; i < 33; ++i) even.inputs[0].as<std::int32_t>()[i] = i > 0 && i % 2 == 0 ? 1 : -1;
  count_of(even) = 17;
  EXPECT_NE(even.hint(), "this is the number of items that are not kept") << "one too many, too";

  Tried t = tried("is_positive_i32_n1000_all");
  count_of(t) = 999;
  EXPECT_TRUE(says(t, "the count is scan[n - 1] + flag[n - 1]"));

  t = tried("is_positive_i32_n1025_half");
  const auto items = t.input<std::int32_t>();
  count_of(t) = 1025;
  EXPECT_EQ(t.hint(), "this is n, not the number of items that are kept");
  const auto others = std::count_if(items.begin(), items.end(), [](auto x) { return x <= 0; });
  count_of(t) = static_cast<Index>(others);
  EXPECT_EQ(t.hint(), "this is the number of items that are not kept");
  const auto kept = std::count_if(items.begin(), items.begin() + 1024, [](auto x) { return x > 0; });
  count_of(t) = static_cast<Index>(items.size()) - static_cast<Index>(others) + static_cast<Index>(kept);
  EXPECT_EQ(t.hint().find("In a look back"), std::string::npos) << "this task has none: " << t.hint();
  EXPECT_TRUE(says(t, "items of earlier tiles were added twice", "single_pass"));
  count_of(t) += Index{2} << 62;
  EXPECT_FALSE(says(t, "added twice", "single_pass"));
  count_of(t) += 1;
  EXPECT_EQ(t.hint(), "wrong");
  t = tried("is_positive_i32_n1025_half");
  const auto first = t.input<std::int32_t>().first(256);
  count_of(t) = static_cast<Index>(std::ranges::count_if(first, [](auto x) { return x > 0; }));
  EXPECT_TRUE(says(t, "the first 256 items alone"));
  t = tried("less_than_minus_5_i64_n4099_first");
  count_of(t) = 2;
  EXPECT_TRUE(says(t, "items of earlier tiles were added twice", "single_pass"));
  count_of(t) = 1 + (Index{2} << 62);
  EXPECT_TRUE(says(t, "without them", "single_pass"));

  t = tried("is_positive_i32_n1000_none");
  count_of(t) = 1;
  EXPECT_TRUE(says(t, "the last item is not kept, but counted"));

  t = tried("is_positive_i32_n1000_all");
  count_of(t) = 768;
  EXPECT_TRUE(says(t, "the last, partial block was left out"));
  count_of(t) = 1000 - 768;
  EXPECT_TRUE(says(t, "the last block's total is not the array's"));
}

TEST(Check, TellsRowsOfAWarpThatLieApart) {
  Tried t = tried("is_positive_i32_n4097_half");
  const auto items = t.input<std::int32_t>();
  const auto stored_by_rows = [&](std::size_t apart, std::size_t n_rows) {
    std::size_t at = 0;
    for (std::size_t tile = 0; tile < items.size(); tile += apart * n_rows)
      for (std::size_t warp = 0; warp < apart; warp += 32)
        for (std::size_t row = 0; row < n_rows; ++row)
          for (std::size_t i = tile + row * apart + warp, lane = 0; lane < 32 && i < items.size();
               ++i, ++lane)
            if (items[i] > 0) out_of(t)[at++] = items[i];
    return rules_of(t);
  };
  using Rules = std::set<std::string>;
  EXPECT_EQ(stored_by_rows(256, 8), Rules{"rows_apart"});
  EXPECT_EQ(stored_by_rows(64, 2), Rules{"rows_apart"});
  EXPECT_EQ(stored_by_rows(96, 3), Rules{"other_order"});
}

TEST(WrongStores, AreFoundInFlagsAndPositions) {
  Tried t = tried("is_positive_i32_n256_all");
  lab::TracedRun run{{}, 3};
  for (std::uint64_t i = 0; i < 256; ++i) run.stores.push_back({"d_flags", i, 1});
  run.stores.push_back({"d_positions", 1, 0, 0, 1});
  EXPECT_EQ(wrong_in(t, "three_kernels", run), "none") << "the scan may go on";
  run.fault = "thread 1 of block 0 writes d_out, element 0 of 256";
  EXPECT_EQ(wrong_in(t, "three_kernels", run), "d_positions[1] 1");
  run.stores.back().value = 1;
  EXPECT_EQ(wrong_in(t, "three_kernels", run), "none");
  run.stores[7].value = 0;
  EXPECT_EQ(wrong_in(t, "three_kernels", run), "d_flags[7] 1");
}

TEST(WrongStores, AreFoundInStatusesAndItemsThatAreTakenTwice) {
  constexpr Index kStatus = Index{2} << 62;
  Tried t = tried("is_positive_i32_n4099_all_off8");
  lab::TracedRun run{{{"d_spare", 3, 0}, {"d_spare", 1, kStatus + 2048}, {"d_spare", 2, kStatus + 2048, 1}},
                     2};
  EXPECT_EQ(wrong_in(t, "single_pass", run), fmt::format("d_spare[2] {}", kStatus + 2048));
  run.stores[2].value += 2048;
  EXPECT_EQ(wrong_in(t, "single_pass", run), "none");
  run.stores.push_back({"d_out", 7, 1, 0, 1, 7, {{"d_in", 7}}});
  run.stores.push_back({"d_out", 8, 1, 0, 1, 9, {{"d_in", 7}}});
  EXPECT_EQ(wrong_in(t, "single_pass", run), "d_out[8] 7");
}

TEST(WrongStores, AreItemsAtAnotherItemsPlace) {
  Tried t = tried("is_positive_i32_n1025_half");
  const auto items = t.input<std::int32_t>();
  const auto kept = [&](std::uint64_t i) { return items[i] > 0; };
  std::uint64_t first = 0, second = 0, none = 0;
  while (!kept(first)) ++first;
  for (second = first + 1; !kept(second);) ++second;
  while (kept(none)) ++none;
  const auto wrong = [&](std::uint64_t element, std::uint64_t item) {
    return wrong_in(t, "fused", {{{"d_out", element, 1, 0, 0, 0, {{"d_in", item}}}}, 1});
  };
  EXPECT_EQ(wrong(0, first), "none");
  EXPECT_EQ(wrong(1, second), "none");
  EXPECT_EQ(wrong(0, second), "d_out[0] 1");
  EXPECT_EQ(wrong(0, none), "d_out[0] 0") << "it is not kept";
}

TEST(Check, NamesTheLikelyReasonOfWrongItems) {
  Tried t = tried("is_positive_i32_n1025_half");
  const auto count = static_cast<std::ptrdiff_t>(count_of(t));
  const auto begin = out_of(t).begin();
  std::swap(begin[3], begin[40]);
  EXPECT_EQ(t.hint(), "the right items, in another order: compaction keeps the order of d_in");
  std::swap(begin[3], begin[40]);
  ASSERT_FALSE(t.check());

  std::copy_backward(begin, begin + count, begin + count + 1);
  begin[0] = 1;
  EXPECT_TRUE(says(t, "one place too late"));

  t = tried("is_positive_i32_n1025_half");
  std::copy(out_of(t).begin() + 1, out_of(t).begin() + count, out_of(t).begin());
  EXPECT_TRUE(says(t, "one place too early"));

  t = tried("is_even_i32_n100003_tenth");
  const auto odd = [](auto x) { return x % 2 != 0; };
  std::vector<std::int32_t> rejected;
  std::ranges::copy_if(t.input<std::int32_t>(), std::back_inserter(rejected), odd);
  std::copy_n(rejected.begin(), count_of(t), out_of(t).begin());
  EXPECT_TRUE(says(t, "that the predicate does not keep"));

  t = tried("is_positive_i32_n1025_half");
  for (std::size_t i = 0; i < t.c.n; ++i)
    if (t.input<std::int32_t>()[i] > 0) out_of(t)[i] = t.input<std::int32_t>()[i];
  EXPECT_TRUE(says(t, "at the index that it has in d_in"));

  t = tried("is_positive_i32_n1025_half");
  out_of(t)[5] = -7;
  EXPECT_EQ(t.hint(), "wrong");
}

TEST(Check, WantsTheRestUntouched) {
  Tried t = tried("is_positive_i32_n1025_half");
  const Index count = count_of(t);
  out_of(t)[1000] = 0;
  const auto mismatch = t.check();
  ASSERT_TRUE(mismatch);
  EXPECT_EQ(mismatch->index, 1000u);
  EXPECT_EQ(mismatch->n_wrong, 1u);
  EXPECT_NE(mismatch->hint().find(std::to_string(count) + " items are kept"), std::string::npos)
      << mismatch->hint();
}

TEST(Check, ComparesBitsSinceItemsAreMovedOnly) {
  Tried t = tried("nonzero_f32_n5000_extremes");
  const auto out = t.output<std::uint32_t>(0).first(count_of(t));
  const auto nan = std::find(out.begin(), out.end(), 0x7fc00000u);
  ASSERT_NE(nan, out.end());
  *nan = 0x7fc00001u;
  EXPECT_TRUE(t.check()) << "another NaN";
}

}  // namespace
}  // namespace course::compaction

int main(int argc, char** argv) {
  return course::lab::run_public_tests(argc, argv, course::compaction::problem());
}
