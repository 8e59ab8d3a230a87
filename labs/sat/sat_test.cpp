// SPDX-License-Identifier: MIT
// The summed area table lab's public tests. Run them on your kernels with
//   build/labs/sat_test --gtest_filter='transpose.*'
// Each task is a suite, each case a test (public_tests.hpp lists the environment variables). The tests below
// need no kernel: they test the lab's own checks and baselines, and check the two tables of the handout.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/rng.hpp"
#include "lab/compare.hpp"
#include "lab/diagnosis.hpp"
#include "sat/baseline.hpp"
#include "sat/lab.hpp"
#include "sat/points.hpp"
#include "testing/public_tests.hpp"
#include "testing/tried.hpp"

namespace course::sat {

const lab::Problem& problem();

namespace {

using lab::Case;
using lab::Tried;

const lab::Task& task(std::string_view id) {
  return *lab::find_task(kManifest, id);
}

Tried tried(std::string_view task_id, std::string_view name, std::uint64_t seed = 1) {
  return lab::tried(problem(), task_id, name, seed);
}

// --- The handout's tables.

using Numbers = std::vector<std::int64_t>;

template <typename T>
Numbers table_of(const std::vector<T>& items, std::size_t width, Corner corner) {
  std::vector<typename SumOf<T>::Type> table(items.size());
  table_one_thread<T>(items, width, items.size() / width, corner, table);
  return {table.begin(), table.end()};
}

TEST(Tables, FromTheTopLeft) {
  const std::vector<std::int32_t> items{1, 2, 3, 4, 5, 6, 7, 8, 9};
  const Numbers expected{1, 3, 6, 5, 12, 21, 12, 27, 45};
  EXPECT_EQ(table_of(items, 3, Corner::top_left), expected);
  Tried t = tried("serial", "top_left_i32_3x3_example");
  EXPECT_TRUE(std::ranges::equal(t.input<std::int32_t>(), items));
  EXPECT_TRUE(std::ranges::equal(t.output<std::int64_t>(), expected));
}

TEST(Tables, FromTheLowerLeft) {
  const std::vector<std::int32_t> items{2, 1, 0, 0, 0, 1, 2, 0, 1, 2, 1, 0, 1, 1, 0, 2};
  const Numbers expected{4, 9, 12, 14, 2, 6, 9, 11, 2, 5, 6, 8, 1, 2, 2, 4};
  EXPECT_EQ(table_of(items, 4, Corner::lower_left), expected);
  Tried t = tried("serial", "lower_left_i32_4x4_example");
  EXPECT_TRUE(std::ranges::equal(t.input<std::int32_t>(), items));
  EXPECT_TRUE(std::ranges::equal(t.output<std::int64_t>(), expected));
}

TEST(Tables, OfBytesHoldMoreThanBytes) {
  EXPECT_EQ(table_of(std::vector<std::uint8_t>(300, 255), 100, Corner::top_left).back(), 300 * 255);
}

TEST(Tables, OfIntegersHoldMoreThan32Bits) {
  EXPECT_EQ(table_of(std::vector<std::int32_t>(4, INT32_MAX), 2, Corner::lower_left)[1], 4ll * INT32_MAX);
}

// --- Baselines.

template <typename T>
std::vector<T> random_items(std::size_t n, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<T> items(n);
  for (T& item : items) item = static_cast<T>(rng());
  return items;
}

// Adds up the items of one window: up to (2 · radius + 1)² additions, which four look-ups in the table would
// save.
template <typename T, typename Sum = typename SumOf<T>::Type>
Sum window_sum(std::span<const T> items, std::size_t width, const Box& box) {
  Sum sum{0};
  for (std::size_t r = box.first_row; r <= box.last_row; ++r)
    for (std::size_t c = box.first_column; c <= box.last_column; ++c)
      sum = wrapping_add(sum, static_cast<Sum>(items[r * width + c]));
  return sum;
}

TEST(Baselines, FourLookUpsGiveTheSumOfTheWindow) {
  constexpr std::size_t kW = 13, kH = 9;
  const auto items = random_items<std::uint8_t>(kW * kH, 3);
  for (const Corner corner : {Corner::top_left, Corner::lower_left}) {
    std::vector<std::uint32_t> table(items.size());
    table_one_thread<std::uint8_t>(items, kW, kH, corner, table);
    for (const std::size_t radius : {0u, 1u, 2u, 4u, 6u, 8u, 100u}) {
      for (std::size_t i = 0; i < items.size(); ++i) {
        const Box box = box_around(i / kW, i % kW, radius, kW, kH);
        EXPECT_EQ(box_sum<std::uint32_t>(table, kW, edges_of(box, corner, kH)),
                  window_sum<std::uint8_t>(items, kW, box))
            << name_of(corner) << " radius " << radius << " item " << i;
      }
    }
  }
}

// --- Cases.

TEST(Cases, CoverEveryTypeFromBothCorners) {
  for (const char* id : {"serial", "box"}) {
    const auto rung = static_cast<Rung>(lab::index_of(kManifest, task(id)));
    std::set<std::pair<std::uint32_t, lab::DType>> seen;
    for (const Case& c : problem().cases(task(id))) seen.emplace(c.op, c.dtype);
    std::size_t offered = 0;
    using enum lab::DType;
    for (const auto dtype : {u8, i32, u32, i64, f32, f64}) offered += offers(rung, dtype) ? kCornerCount : 0;
    EXPECT_EQ(seen.size(), offered) << id;
  }
}

TEST(Cases, OfBoxFiltersHaveTablesThatWrapped) {
  const Tried t = tried("box", "top_left_u32_300x200_high_bits_radius1");
  const auto table = t.input<std::uint32_t>();
  EXPECT_FALSE(std::is_sorted(table.begin(), table.begin() + 300));
}

TEST(Check, SaysWhereAndWhatAWrongTableIs) {
  Tried t = tried("serial", "top_left_i32_301x203_high_bits");
  const auto out = t.output<std::int64_t>();
  const std::vector<std::int64_t> right(out.begin(), out.end());
  const auto items = t.input<std::int32_t>();

  out[301 * 5 + 17] += 1;
  EXPECT_EQ(t.hint(), "wrong");
  EXPECT_EQ(t.check()->position, "row 5, column 17 of 203 rows of 301");

  for (std::size_t r = 0; r < 203; ++r)
    table_one_thread<std::int32_t>(items.subspan(r * 301, 301), 301, 1, Corner::top_left,
                                   out.subspan(r * 301, 301));
  const std::vector<std::int64_t> rows(out.begin(), out.end());
  std::copy_n(right.begin(), 202 * 301, out.begin());
  EXPECT_TRUE(says(t, "the last row is not added to the columns"));
  std::copy(rows.begin(), rows.end(), out.begin());

  for (std::size_t i = 0; i < out.size(); ++i) out[i] = items[i] + (i < 301 ? 0 : out[i - 301]);
  EXPECT_TRUE(says(t, "the rows are not"));

  for (std::size_t i = 0; i < out.size(); ++i) out[i] = i < 301 || i % 301 == 0 ? 0 : right[i - 302];
  EXPECT_TRUE(says(t, "exclusive"));
}

TEST(Check, TellsACarryOfOneThreadOrWithTheOwnPiece) {
  for (const bool own : {false, true}) {
    Tried t = tried("serial", "top_left_i32_301x203_high_bits");
    const auto items = t.input<std::int32_t>();
    const auto out = t.output<std::int64_t>();
    const std::size_t piece = own ? 32 : 256;
    std::vector<std::int64_t> local(out.size()), rows(out.size());
    for (std::size_t i = 0; i < out.size(); ++i) {
      const std::size_t column = i % 301, first = i - column, next = column - column % piece + piece;
      local[i] = (column % piece == 0 ? 0 : local[i - 1]) + items[i];
      rows[i] = local[i];
      for (std::size_t k = 0; own && column >= piece && k < std::min<std::size_t>(next, 301); ++k)
        rows[i] += items[first + k];
      if (!own && column >= piece) rows[i] += rows[i - piece];
      out[i] = rows[i] + (i < 301 ? 0 : out[i - 301]);
    }
    EXPECT_TRUE(says(t, own ? "also hold the total of their own 32 items" : "the sum 256 columns before it"));
  }
}

TEST(Check, TellsACarryThatIsReplacedOrLate) {
  for (const bool late : {false, true}) {
    Tried t = tried("serial", "lower_left_i32_1000x37_random");
    const auto items = t.input<std::int32_t>();
    const auto out = t.output<std::int64_t>();
    for (std::size_t r = 37; r-- > 0;)
      for (std::size_t c = 0; c < 1000; ++c) {
        const std::size_t tile = c / 256 * 256, before = c < 256 ? 0 : tile - 256;
        std::int64_t row = 0;
        for (std::size_t k = 0; k <= c; ++k)
          if (late ? k < before || k >= tile : k >= before) row += items[r * 1000 + k];
        out[r * 1000 + c] = row + (r == 36 ? 0 : out[(r + 1) * 1000 + c]);
      }
    EXPECT_TRUE(says(t, late ? "one tile late" : "hold only the 256 items before each tile"));
  }
}

TEST(Check, TellsRowsThatWereReadFromWrongStarts) {
  for (const std::size_t pitch : {std::size_t{0}, std::size_t{37}}) {
    Tried t = tried("serial", "lower_left_i32_1000x37_random");
    const std::vector<std::int32_t> items(t.input<std::int32_t>().begin(), t.input<std::int32_t>().end());
    for (std::size_t k = 0; k < 37; ++k)
      std::copy_n(items.begin() + static_cast<std::ptrdiff_t>(36 * 1000 - k * pitch), 1000,
                  t.inputs[0].as<std::int32_t>().begin() + static_cast<std::ptrdiff_t>((36 - k) * 1000));
    problem().baseline(*t.task, t.c, t.inputs, t.outputs);
    std::ranges::copy(items, t.inputs[0].as<std::int32_t>().begin());
    EXPECT_TRUE(says(t, pitch == 0 ? "the image's first row" : "began 37 items apart"));
  }
}

// First the turned table has rows as long as those of the image; then no thread stores its second sum.
TEST(WrongStores, AreSumsAtAnothersPlaceInTheTurnedTable) {
  Tried t = tried("transpose", "top_left_i32_300x7_random");
  lab::TracedRun run{{}, 2};
  for (std::uint64_t i = 0; i < 4; ++i) run.stores.push_back({"s_tile", i, i, 0, 1, 0, {{"d_out", i}}});
  const auto moves = [&](std::uint64_t i, std::uint64_t to) {
    run.stores.push_back({"d_scratch", to, i, 0, 1, 0, {{"s_tile", i}}});
    return wrong_in(t, "transpose", run);
  };
  EXPECT_EQ(moves(0, 0), "s_tile[1] 1");
  EXPECT_EQ(wrong_in(t, "rows_columns", run), "none");
  run.fault = "a fault of the launch";
  EXPECT_EQ(moves(1, 7), "none") << "others may follow";
  run.n_launches = 3;
  EXPECT_EQ(wrong_in(t, "transpose", run), "s_tile[2] 2") << "not in a later launch";
  EXPECT_EQ(moves(2, 600), "d_scratch[600] 14");
  t.c.op = static_cast<std::uint32_t>(Corner::lower_left);
  EXPECT_EQ(wrong_in(t, "transpose", run), "d_scratch[0] 6");
}

// A grid for the height has whole blocks: those of 256 threads for 7 rows cover 256 columns.
TEST(Check, TellsColumnsBeyondAGridForTheHeight) {
  const auto rules = [](std::size_t first) {
    Tried t = tried("serial", "top_left_i32_300x7_random");
    const auto out = t.output<std::int64_t>();
    const auto items = t.input<std::int32_t>();
    for (std::size_t r = 1; r < 7; ++r)
      for (std::size_t c = first; c < 300; ++c)
        out[r * 300 + c] =
            items[r * 300 + c] + out[r * 300 + c - 1] - (c == first ? out[(r - 1) * 300 + c - 1] : 0);
    return rules_of(t);
  };
  EXPECT_TRUE(rules(256).contains("columns_not_scanned height"));
  EXPECT_TRUE(rules(256).contains("columns_not_scanned"));
  EXPECT_FALSE(rules(200).contains("columns_not_scanned height"));
}

// In an image of one column, two mistakes give the same table; in others they give different ones.
TEST(Check, TellsSwappedSidesFromTheOtherCorner) {
  Tried one_column = tried("serial", "lower_left_i32_1x31_random");
  table_one_thread<std::int32_t>(one_column.input<std::int32_t>(), 31, 1, Corner::lower_left,
                                 one_column.output<std::int64_t>());
  const auto ambiguous = one_column.check();
  ASSERT_TRUE(ambiguous);
  EXPECT_NE(ambiguous->hint().find("several mistakes look like this"), std::string::npos)
      << ambiguous->hint();

  Tried t = tried("serial", "lower_left_i32_31x33_random");
  table_one_thread<std::int32_t>(t.input<std::int32_t>(), 33, 31, Corner::lower_left,
                                 t.output<std::int64_t>());
  const auto clear = t.check();
  ASSERT_TRUE(clear);
  EXPECT_NE(clear->hint().find("width and height are swapped"), std::string::npos) << clear->hint();

  const std::vector<lab::FailedCase> both{{one_column.c.name, ambiguous->causes}, {t.c.name, clear->causes}};
  EXPECT_NE(text_of(lab::likely_cause(both)).find("width and height are swapped"), std::string::npos);
  EXPECT_EQ(text_of(lab::likely_cause(both)).find("corner"), std::string::npos);
}

TEST(Check, TellsMeansThatWereRoundedDown) {
  for (const Case& c : problem().cases(task("box"))) {
    if (c.n < 100 || c.n > 100000 || mean_type(c.dtype) != lab::DType::f64) continue;
    Tried t = tried("box", c.name);
    const auto means = t.output<double>();
    const std::vector<double> right(means.begin(), means.end());
    for (double& mean : means) mean = std::trunc(mean);
    if (std::ranges::equal(means, right)) continue;
    EXPECT_TRUE(says(t, "divide floats, not integers"));
    return;
  }
  FAIL() << "no case has fractions";
}

TEST(Check, WantsWholeNumberFloatsExactly) {
  Tried t = tried("serial", "top_left_f32_200x210_alternating");
  EXPECT_FALSE(t.check());
  float& entry = t.output<float>()[41999];
  entry = std::nextafter(entry, 1e9f);
  EXPECT_TRUE(t.check());
}

// The bound grows with the number of additions: near the corner it is very small.
TEST(Check, AllowsFloatsToRoundAndNoMore) {
  Tried t = tried("serial", "lower_left_f32_512x512_all_equal");
  const auto out = t.output<float>();
  out[511] *= 1.0f + 1e-6f;  // the sum of the whole image, item by item
  EXPECT_FALSE(t.check());
  out[511] *= 1.01f;
  EXPECT_TRUE(t.check());
  Tried u = tried("serial", "lower_left_f32_512x512_all_equal");
  u.output<float>()[511 * 512 + 1] *= 1.00001f;  // the sum of two items
  EXPECT_TRUE(u.check());
}

// The likely causes of a wrong image of this length are not looked for: that takes much memory.
TEST(Check, FindsWrongEntriesOfLongImages) {
  for (const char* id : {"serial", "box"}) {
    const auto all = problem().cases(task(id));
    const auto like = std::ranges::find_if(all, [](const Case& c) {
      return c.dtype == lab::DType::f32 && static_cast<Corner>(c.op) == Corner::lower_left &&
             c.params[kWidth] == 640;
    });
    ASSERT_NE(like, all.end());
    const auto c = problem().with_items(task(id), *like, 4099 * 4099, lab::Pattern::random);
    Tried t = lab::tried(problem(), task(id), *c, 1);
    EXPECT_FALSE(t.check(id)) << id;
    const auto out = t.output<float>();
    const std::size_t wrong[] = {4098, 4099 * 4099 - 1};
    for (const std::size_t at : wrong) {
      const float right = out[at];
      out[at] = right + 1e6f;  // the sums of so many items may be wrong by thousands
      const auto mismatch = t.check(id);
      ASSERT_TRUE(mismatch) << id << at;
      EXPECT_EQ(mismatch->index, at);
      EXPECT_EQ(mismatch->got, lab::print_element(lab::DType::f32, t.outputs[0].bytes.data() + 4 * at));
      EXPECT_EQ(mismatch->n_wrong, 1u);
      EXPECT_EQ(mismatch->n_total, 4099u * 4099u);
      out[at] = right;
    }
    for (const std::size_t at : wrong) out[at] = NAN;
    const auto mismatch = t.check(id);
    ASSERT_TRUE(mismatch);
    EXPECT_EQ(mismatch->n_wrong, 2u);
    EXPECT_EQ(mismatch->position, "row 0, column 4098 of 4099 rows of 4099");
  }
}

TEST(Check, SaysWhatAWrongMeanIs) {
  Tried t = tried("box", "top_left_u32_121x87_random_radius20");
  const auto out = t.output<float>();
  const auto table = t.input<std::uint32_t>();
  const auto each = [&](auto f) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = f(box_around(i / 121, i % 121, 20, 121, 87));
  };
  const auto sum = [&](const Box& box) {
    return static_cast<float>(box_sum(table, 121, edges_of(box, Corner::top_left, 87)));
  };
  each([&](const Box& box) { return sum(box) / static_cast<float>(box.area()); });
  EXPECT_FALSE(t.check());
  each([&](const Box& box) { return sum(box); });
  EXPECT_TRUE(says(t, "divide by how many"));
}

TEST(Check, BlamesNoColumnInAnImageOfOne) {
  Tried t = tried("box", "top_left_u32_1x589833_random_radius4");
  const auto table = t.input<std::uint32_t>();
  const auto out = t.output<float>();
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Box box = box_around(i, 0, 4, 1, 589833);
    const std::uint32_t above = box.first_row > 0 ? table[box.first_row] : 0;
    out[i] = static_cast<float>(table[box.last_row] - above) / static_cast<float>(box.area());
  }
  EXPECT_TRUE(says(t, "each box lacks the row next to"));
}

}  // namespace
}  // namespace course::sat

int main(int argc, char** argv) {
  return course::lab::run_public_tests(argc, argv, course::sat::problem());
}
