// SPDX-License-Identifier: MIT
// The reduction lab's public tests. Run them on your kernels with
//   build/labs/reduction_test --gtest_filter='sequential.*'
// Each task is a suite, each case a test (public_tests.hpp lists the environment variables). The tests below
// need no kernel: they test the lab's own checks and baselines.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "lab/compare.hpp"
#include "reduction/baseline.hpp"
#include "reduction/lab.hpp"
#include "reduction/points.hpp"
#include "testing/public_tests.hpp"
#include "testing/tried.hpp"

namespace course::reduction {

const lab::Problem& problem();

namespace {

using lab::Case;
using lab::Tried;

Tried tried(std::string_view name, std::uint64_t seed = 1) {
  return lab::tried(problem(), "sequential", name, seed);
}

template <typename T>
T& output(Tried& t) {
  return t.output<T>()[0];
}

TEST(Cases, CoverEveryOperatorAndTypeThatIsOffered) {
  lab::expect_all_offered<Offered, OpId>(problem(), kTasks[0], kOpCount);
}

TEST(Baselines, HalvingFoldsEveryItemOnceForAnyLength) {
  for (std::size_t n = 0; n < 70; ++n) {
    std::vector<std::int32_t> values(n);
    std::iota(values.begin(), values.end(), 1);
    const auto expected = static_cast<std::int32_t>(n * (n + 1) / 2);
    EXPECT_EQ(fold_by_halving(std::span(values), Sum<std::int32_t>{}), expected) << n;
  }
}

TEST(Operators, LeaveAValueAloneThatMeetsTheirIdentity) {
  for (const std::int32_t x : {0, 1, -1, INT32_MAX, INT32_MIN}) {
    EXPECT_EQ(Sum<std::int32_t>{}(x, Sum<std::int32_t>{}.identity()), x);
    EXPECT_EQ(Product<std::int32_t>{}(x, Product<std::int32_t>{}.identity()), x);
    EXPECT_EQ(Min<std::int32_t>{}(x, Min<std::int32_t>{}.identity()), x);
    EXPECT_EQ(Max<std::int32_t>{}(x, Max<std::int32_t>{}.identity()), x);
  }
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(Max<float>{}(-infinity, Max<float>{}.identity()), -infinity);
  EXPECT_EQ(Max<float>{}(std::nanf(""), 2.0f), 2.0f);
  EXPECT_EQ(Sum<std::int32_t>{}(INT32_MAX, 1), INT32_MIN) << "integers wrap";
}

TEST(Check, NamesTheLikelyReason) {
  Tried t = tried("sum_i32_n1025_random");
  output<std::int32_t>(t) = 0;
  EXPECT_EQ(t.hint(), "0 is the identity: no item was combined into the result");

  t = tried("mean_i32_n1000_skewed");
  output<double>(t) *= 1000;
  EXPECT_TRUE(says(t, "op.finish was not applied"));

  t = tried("mean_i32_n100003_high_bits");
  output<double>(t) = fold_one_thread(t.input<std::int32_t>(), Sum<std::int32_t>{}) / 100003.0;
  EXPECT_TRUE(says(t, "overflowed 32 bits"));
}

TEST(Check, TellsMissingFinishOfNothingToo) {
  Tried t = tried("mean_f32_n0_random");
  EXPECT_TRUE(std::isnan(output<float>(t)));
  output<float>(t) = 0;
  EXPECT_TRUE(says(t, "op.finish was not applied"));
}

TEST(Check, TellsPlusInTheOperatorsPlace) {
  for (const char* name :
       {"max_i32_n1000_ascending", "min_f32_n1000_descending", "product_i32_n1025_random"}) {
    Tried t = tried(name);
    if (t.c.dtype == lab::DType::f32) {
      output<float>(t) = fold_one_thread(t.input<float>(), Sum<float>{});
    } else {
      output<std::int32_t>(t) = fold_one_thread(t.input<std::int32_t>(), Sum<std::int32_t>{});
    }
    EXPECT_TRUE(says(t, "combine with op(a, b), not +"));
  }
}

TEST(Check, TellsPlusThatAlsoAddsTheIdentitiesOfEmptyPlaces) {
  Tried t = tried("product_i32_n0_random");
  output<std::int32_t>(t) = 256;
  EXPECT_TRUE(says(t, "combine with op(a, b), not +"));
  t = tried("product_i32_n1025_random");
  // Blocks of 256: 255 empty positions among the items, then 251 beside five partial results.
  output<std::int32_t>(t) =
      lab::wrapping_add(fold_one_thread(t.input<std::int32_t>(), Sum<std::int32_t>{}), 255 + 251);
  EXPECT_TRUE(says(t, "combine with op(a, b), not +"));
}

TEST(Check, TellsOneItemTooManyOrTooFew) {
  Tried t = tried("sum_i32_n1025_random");
  const std::int32_t right = output<std::int32_t>(t);
  output<std::int32_t>(t) = lab::wrapping_add(right, t.input<std::int32_t>()[700]);
  EXPECT_EQ(t.hint(), "d_in[700] was combined twice");
  output<std::int32_t>(t) = lab::wrapping_add(right, -t.input<std::int32_t>()[3]);
  EXPECT_EQ(t.hint(), "d_in[3] was left out");
  const auto some = [&](std::size_t begin, std::size_t end) {
    return fold_one_thread(std::span(t.input<std::int32_t>()).subspan(begin, end - begin),
                           Sum<std::int32_t>{});
  };
  output<std::int32_t>(t) = lab::wrapping_add(right, -some(0, 3));
  EXPECT_EQ(t.hint(), "the items from 0 to 2 were left out");
  output<std::int32_t>(t) = lab::wrapping_add(right, some(256, 512));
  EXPECT_EQ(t.hint(), "the items from 256 to 511 were combined twice");
  output<std::int32_t>(t) = t.input<std::int32_t>()[0];
  EXPECT_EQ(t.hint(), "this is the first item alone: no other one was combined with it");
  output<std::int32_t>(t) = some(0, 1024);
  EXPECT_TRUE(says(t, "the last item, d_in[1024], was left out"));
  output<std::int32_t>(t) = lab::wrapping_add(right, right);
  EXPECT_EQ(t.hint(), "the items from 0 to 1024 were combined twice");
}

// What a tree in blocks of 256 with this round gives for one level of items.
template <typename Round>
std::int32_t tree_of(std::span<const std::int32_t> items, std::uint32_t identity, Round round) {
  std::vector<std::uint32_t> values(256, identity);
  std::copy(items.begin(), items.end(), values.begin());
  for (std::size_t stride = 128; stride > 0; stride /= 2)
    for (std::size_t i = 0; i < stride; ++i) values[i] = round(values[i], values[i + stride]);
  return static_cast<std::int32_t>(values[0]);
}

TEST(Check, TellsAValueCombinedTwiceInEachRound) {
  const auto own = [](std::uint32_t a, std::uint32_t b) { return 2 * a + b; };
  for (const char* name : {"sum_i32_n1_random", "sum_i32_n255_random"}) {
    Tried t = tried(name);
    output<std::int32_t>(t) = tree_of(t.input<std::int32_t>(), 0, own);
    EXPECT_TRUE(says(t, "the thread's own value is combined twice"));
  }
  Tried t = tried("product_i32_n0_random");
  output<std::int32_t>(t) = tree_of({}, 1, [](auto a, auto b) { return a + a * b; });
  EXPECT_TRUE(says(t, "the thread's own value is combined twice"));
}

TEST(Check, TellsAnEndThatEveryThreadCombines) {
  for (const char* name : {"sum_i32_n1_random", "sum_i32_n255_random"}) {
    Tried t = tried(name);
    const auto items = t.input<std::int32_t>();
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < items.size(); ++i)
      sum += (i < items.size() / 4 * 4 ? 1u : 256u) * static_cast<std::uint32_t>(items[i]);
    output<std::int32_t>(t) = static_cast<std::int32_t>(sum);
    EXPECT_TRUE(says(t, "combined 256 times")) << t.hint();
  }
}

TEST(Check, TellsThatARoundOfTheTreeIsMissing) {
  Tried t = tried("sum_i32_n255_random");
  const auto items = t.input<std::int32_t>();
  output<std::int32_t>(t) = fold_one_thread(items.first(128), Sum<std::int32_t>{});
  EXPECT_EQ(t.hint(), "this is the sum of the first 128 of the 255 items: the rest was left out");
}

TEST(Check, TellsALoopOverStridesThatEndsTooEarly) {
  // Blocks of 512, and the last round in shared memory is missing.
  for (const char* name : {"sum_i32_n33_random", "sum_i32_n511_random"}) {
    Tried t = tried(name);
    const auto items = t.input<std::int32_t>();
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < items.size(); ++i)
      if (i % 64 < 32) sum += static_cast<std::uint32_t>(items[i]);
    output<std::int32_t>(t) = static_cast<std::int32_t>(sum);
    EXPECT_TRUE(says(t, "32 apart"));
    EXPECT_TRUE(says(t, "ends too early"));
  }
}

TEST(Check, TellsItemsBeforeTheFirstVectorThatNobodyRead) {
  for (const char* name :
       {"sum_i32_n3_random_off4", "sum_i32_n100003_random_off4", "sum_i32_n4099_random_off12"}) {
    Tried t = tried(name);
    const auto rest = t.input<std::int32_t>().subspan((16 - t.c.misalign) / sizeof(std::int32_t));
    output<std::int32_t>(t) = fold_one_thread(rest, Sum<std::int32_t>{});
    EXPECT_TRUE(says(t, "before the first whole vector"));
  }
}

// The bound of a long float sum hides an item that was left out; whole numbers, in every task and of at least
// this length, do not.
TEST(Check, FindsAMissingItemByWholeNumbers) {
  const auto is_right_without_an_item = [](const char* name, auto type) {
    Tried t = tried(name);
    const auto items = t.input<decltype(type)>();
    output<decltype(type)>(t) -= *std::ranges::find_if(items, [](auto item) { return item != 0; });
    return !t.check();
  };
  EXPECT_TRUE(is_right_without_an_item("sum_f32_n100003_random", float{}));
  EXPECT_FALSE(is_right_without_an_item("sum_f32_n65537_alternating", float{}));
  EXPECT_FALSE(is_right_without_an_item("sum_i32_n200006_random_2sm", std::int32_t{}));
  for (const auto& task : kTasks) {
    std::uint64_t floats = 0, integers = 0;
    for (const Case& c : problem().cases(task)) {
      if (static_cast<OpId>(c.op) != OpId::sum) continue;
      std::uint64_t& longest = c.dtype == lab::DType::i32 ? integers : floats;
      longest = std::max(longest, c.n);
    }
    EXPECT_GE(integers, floats) << task.id;
  }
}

TEST(Check, WantsWholeNumberFloatsExactly) {
  Tried t = tried("sum_f32_n65537_alternating");
  EXPECT_FALSE(t.check());
  output<float>(t) = std::nextafter(output<float>(t), 1e9f);
  EXPECT_TRUE(t.check());
}

}  // namespace
}  // namespace course::reduction

int main(int argc, char** argv) {
  return course::lab::run_public_tests(argc, argv, course::reduction::problem());
}
