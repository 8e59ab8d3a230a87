// SPDX-License-Identifier: MIT
// The hierarchical scan lab's public tests. Run them on your kernels with
//   build/labs/hierarchical_scan_test --gtest_filter='recursive.*'
// Each task is a suite, each case a test (public_tests.hpp lists the environment variables). The tests below
// need no kernel: they test the lab's own checks, sizes and baselines.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "hierarchical_scan/baseline.hpp"
#include "hierarchical_scan/lab.hpp"
#include "hierarchical_scan/points.hpp"
#include "lab/compare.hpp"
#include "testing/public_tests.hpp"
#include "testing/tried.hpp"

namespace course::hierarchical_scan {

const lab::Problem& problem();

namespace {

using lab::Case;
using lab::Tried;
using Map = AffineMap<std::uint32_t>;

const lab::Task& task(std::string_view id) {
  return *lab::find_task(kManifest, id);
}

Tried tried(std::string_view name, std::uint64_t seed = 1) {
  return lab::tried(problem(), "recursive", name, seed);
}

// Overwrites the outputs by a scan tile by tile, where combine(carry(first item of the tile), x) makes each
// result.
template <typename Op, typename Carry, typename Combine>
void spoil(Tried& t, std::uint64_t tile, Op op, Kind kind, Carry carry, Combine combine) {
  using Value = typename Op::Value;
  const auto items = t.input<Value>();
  const auto out = t.output<Value>();
  for (std::uint64_t first = 0; first < items.size(); first += tile) {
    const auto count = std::min<std::uint64_t>(tile, items.size() - first);
    std::vector<Value> local(count);
    scan_one_thread(items.subspan(first, count), std::span(local), kind, op, op.identity());
    const Value before = carry(first);
    for (std::uint64_t i = 0; i < count; ++i) out[first + i] = combine(before, local[i]);
  }
}

TEST(Cases, CoverEveryKindOperatorAndTypeThatIsOffered) {
  std::set<std::pair<std::uint32_t, std::int64_t>> kinds;
  for (const Case& c : problem().cases(kTasks[1])) kinds.emplace(c.op, c.params[0]);
  EXPECT_EQ(kinds.size(), 2 * lab::kScanOps);
  lab::expect_all_offered<Offered, OpId>(problem(), kTasks[1], lab::kScanOps);
}

TEST(Cases, GoBeyondTwoLevelsOnlyToBeRefusedThere) {
  const auto longest = [](const char* id) {
    std::uint64_t n = 0;
    for (const Case& c : problem().cases(task(id))) n = std::max(n, c.n);
    return n;
  };
  EXPECT_EQ(longest("two_levels"), kTwoLevelItems + 1);
  EXPECT_GT(longest("recursive"), kTwoLevelItems + 1);
  for (const char* id : {"two_levels", "recursive"}) {
    for (const Case& c : problem().cases(task(id))) {
      EXPECT_EQ(problem().refuses(task(id), c), c.n > kTwoLevelItems && std::string_view(id) == "two_levels")
          << c.name;
    }
  }
}

TEST(Cases, HoldMapsThatForgetNothing) {
  const Tried t = tried("exclusive_affine_u64_n70001_random");
  for (const Map map : t.input<Map>()) EXPECT_EQ(map.scale % 2, 1u);
}

// No test can run with more than 2^32 items, so this one computes their sizes only.
TEST(Sizes, CountBeyond32Bits) {
  constexpr std::uint64_t kHuge = (std::uint64_t{1} << 33) + 1;  // 8.6G items: four levels
  std::uint64_t levels = 1, sums = 0;
  for (std::uint64_t n = kHuge; n > kTile; ++levels) {
    n = (n + kTile - 1) / kTile;
    sums += n;
  }
  EXPECT_EQ(levels, 4u);
  EXPECT_LE(sums, sums_count(kHuge));
  EXPECT_EQ(sums_count(kHuge), (std::uint64_t{1} << 29) + 1024);
  EXPECT_LE((kHuge + kTile - 1) / kTile, std::uint64_t{INT32_MAX}) << "tiles still fit the grid";
  Case c;
  c.n = kHuge;
  const lab::Shape shape = problem().shape(kTasks[1], c);
  EXPECT_EQ(shape.outputs[0].count, kHuge);
  EXPECT_GT(shape.workspace.n_bytes(), sums_count(kHuge) * 4);
}

TEST(Sizes, LeaveRoomForTilesOf32Items) {
  for (const std::uint64_t n : {1ull, 33ull, 1025ull, 1000000ull, 123456789ull}) {
    std::uint64_t sums = 0;
    for (std::uint64_t m = n; m > 1; sums += m) m = (m + 31) / 32;
    EXPECT_LE(sums, sums_count(n)) << n;
    EXPECT_LE(2 * ((n + 31) / 32), sums_count(n)) << n;
    EXPECT_LE((n + 31) / 32 + 1, flags_count(n)) << n;
  }
}

TEST(Baselines, GiveTheLecturesExample) {
  using Items = std::vector<std::int32_t>;
  const Items items{3, 1, 7, 0, 4, 1, 6, 3};
  Items out(items.size());
  const auto scan = [&](Kind kind) {
    scan_one_thread(std::span(items), std::span(out), kind, Sum<std::int32_t>{}, 0);
    return out;
  };
  EXPECT_EQ(scan(Kind::exclusive), (Items{0, 3, 4, 11, 11, 15, 16, 22}));
  EXPECT_EQ(scan(Kind::inclusive), (Items{3, 4, 11, 11, 15, 16, 22, 25}));
}

TEST(Check, TellsWhatTheCarryHolds) {
  const Sum<std::int32_t> op;
  for (const Kind kind : {Kind::inclusive, Kind::exclusive}) {
    Tried t = tried(kind == Kind::inclusive ? "inclusive_sum_i32_n131073_random"
                                            : "exclusive_sum_i32_n65537_random");
    const auto items = t.input<std::int32_t>();
    const auto fold = [&](std::uint64_t begin, std::uint64_t end) {
      std::int32_t sum = 0;
      for (auto i = begin; i < std::min<std::uint64_t>(end, items.size()); ++i) sum = op(sum, items[i]);
      return sum;
    };
    spoil(
        t, kTile, op, kind, [&](std::uint64_t i) { return i < kTile ? 0 : fold(0, i - kTile); }, op);
    EXPECT_TRUE(
        says(t, "the tile at element 2048 has none, and each one after it has that of the tile before"));
    const std::uint64_t last = (items.size() - 1) / kTile * kTile;
    spoil(
        t, kTile, op, kind, [&](std::uint64_t i) { return i < last ? fold(0, i) : 0; }, op);
    EXPECT_TRUE(says(t, "only the last tile, from element " + std::to_string(last) + " on, has no carry"));
    spoil(
        t, kTile, op, kind, [&](std::uint64_t i) { return op(i > kTile ? fold(0, kTile) : 0, fold(0, i)); },
        op);
    EXPECT_TRUE(says(t, "nothing must be added after the first prefix that is found"));
  }
}

// The last tile of the example has one item; its items repeat.
TEST(Check, TellsTheBorderOfATileAmongItemsThatRepeat) {
  const Sum<std::int32_t> op;
  Case c = problem().example(task("recursive"), kTile + 1);
  c.params[0] = static_cast<std::int64_t>(Kind::inclusive);
  Tried t = lab::tried(problem(), task("recursive"), c);
  const auto items = t.input<std::int32_t>();
  const auto fold = [&](std::uint64_t end) {
    std::int32_t sum = 0;
    for (std::uint64_t i = 0; i < end; ++i) sum = op(sum, items[i]);
    return sum;
  };
  spoil(
      t, kTile, op, Kind::inclusive, [&](std::uint64_t i) { return i == 0 ? 0 : fold(kTile + 1); }, op);
  EXPECT_TRUE(says(t, "the scan of the sums must be exclusive"));
  spoil(
      t, kTile, op, Kind::inclusive, [&](std::uint64_t i) { return i == 0 ? 0 : fold(kTile - 4); }, op);
  EXPECT_TRUE(says(t, "lacks the last 4 items of every tile before"));
}

TEST(Check, TellsTheBorderOfATile) {
  const Sum<std::int32_t> op;
  for (const Kind kind : {Kind::inclusive, Kind::exclusive}) {
    Tried t = tried(kind == Kind::inclusive ? "inclusive_sum_i32_n131073_random"
                                            : "exclusive_sum_i32_n65537_random");
    const auto items = t.input<std::int32_t>();
    std::vector<std::int32_t> right(t.output<std::int32_t>().begin(), t.output<std::int32_t>().end());
    std::int32_t total = 0;
    for (std::uint64_t i = 0; i < kTile; ++i) total = op(total, items[i]);
    t.output<std::int32_t>()[kTile - 1] = op(total, right[kTile - 1]);
    EXPECT_TRUE(says(t, "element 2047, the last one of its tile, also has the prefix"));
    const auto without_last = [&](std::uint64_t first) {
      std::int32_t sum = 0;
      for (std::uint64_t i = 0; i < first; ++i) sum = i % kTile == kTile - 1 ? sum : op(sum, items[i]);
      return sum;
    };
    spoil(t, kTile, op, kind, without_last, op);
    EXPECT_TRUE(says(t, "lacks the last item of every tile before"));
    const auto without_last_vector = [&](std::uint64_t first) {
      std::int32_t sum = 0;
      for (std::uint64_t i = 0; i < first; ++i) sum = i % kTile >= kTile - 4 ? sum : op(sum, items[i]);
      return sum;
    };
    spoil(t, kTile, op, kind, without_last_vector, op);
    EXPECT_TRUE(says(t, "lacks the last 4 items of every tile before"));
    spoil(
        t, kTile, op, kind,
        [&](std::uint64_t i) {
          std::int32_t sum = 0;
          for (std::uint64_t k = 0; k + kTile < i; ++k) sum = op(sum, items[k]);
          return sum;
        },
        op);
    EXPECT_TRUE(says(t, "one tile late"));
  }
  // Of two tiles, the second has no carry in either case: further cases decide.
  Tried t = tried("inclusive_sum_i32_n4096_random");
  spoil(
      t, kTile, op, Kind::inclusive, [](std::uint64_t) { return 0; }, op);
  for (const char* way : {"one tile late", "the scan starts again", "only the last tile"})
    EXPECT_TRUE(says(t, way));
}

TEST(Check, TellsALookBackThatStopsAmongItemsThatAreMostlyEqual) {
  Tried t = tried("inclusive_sum_i32_n5000_skewed");
  const Sum<std::int32_t> op;
  const auto items = t.input<std::int32_t>();
  const auto fold = [&](std::uint64_t begin, std::uint64_t end) {
    std::int32_t sum = 0;
    for (auto i = begin; i < end; ++i) sum = op(sum, items[i]);
    return sum;
  };
  spoil(
      t, kTile, op, Kind::inclusive, [&](std::uint64_t i) { return fold(i > kTile ? i - kTile : 0, i); }, op);
  EXPECT_TRUE(says(t, "only the last 2048 items before it are counted"));
}

TEST(Check, RefusesAFloatSumThatGotTooLong) {
  Tried t = tried("inclusive_sum_f32_n1048576_all_equal");
  scan_one_thread(t.input<float>(), t.output<float>(), Kind::inclusive, Sum<float>{}, 0.0f);
  for (const char* id : {"recursive", "look_back"}) EXPECT_NE(t.hint(id), "right") << id;
}

TEST(Check, WantsWholeNumberFloatsExactly) {
  Tried t = tried("exclusive_sum_f32_n65537_alternating");
  EXPECT_EQ(t.hint(), "right");
  t.output<float>()[65536] = std::nextafter(t.output<float>()[65536], 1e9f);
  EXPECT_NE(t.hint(), "right");
}

TEST(Check, CallsNoFiniteNumberNearlyInfinite) {
  Tried t = tried("exclusive_max_f32_n3001_all_equal");
  EXPECT_EQ(t.hint(), "right");
  for (float& x : t.output<float>()) x = std::numeric_limits<float>::lowest();
  EXPECT_EQ(t.hint(), "wrong") << "no reason is known";
}

}  // namespace
}  // namespace course::hierarchical_scan

int main(int argc, char** argv) {
  return course::lab::run_public_tests(argc, argv, course::hierarchical_scan::problem());
}
