// SPDX-License-Identifier: MIT
// The histogram lab's public tests. Run them on your kernels with
//   build/labs/histogram_test --gtest_filter='shared_counts.*'
// Each task is a suite, each case a test (public_tests.hpp lists the environment variables). The tests below
// need no kernel: they test the lab's own bins, checks and baselines.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "base/rng.hpp"
#include "histogram/baseline.hpp"
#include "histogram/lab.hpp"
#include "histogram/points.hpp"
#include "testing/public_tests.hpp"
#include "testing/tried.hpp"

namespace course::histogram {

const lab::Problem& problem();

namespace {

using lab::Case;
using lab::Tried;

Tried tried(std::string_view name, std::uint64_t seed = 1) {
  return lab::tried(problem(), "shared_counts", name, seed);
}

// --- Bins.

TEST(EvenBins, OfIntegersAreTheExactQuotient) {
  Rng rng(1);
  for (int round = 0; round < 200000; ++round) {
    std::int64_t a = static_cast<std::int32_t>(rng()), b = static_cast<std::int32_t>(rng());
    const auto narrow = static_cast<int>(rng.below(32));
    a >>= narrow, b >>= narrow;
    if (rng.below(8) == 0) a = INT32_MIN;
    if (rng.below(8) == 0) b = std::int64_t{INT32_MAX} + 1;
    if (a == b) ++b;
    const std::int64_t lo = std::min(a, b), hi = std::max(a, b);
    const auto n_bins = static_cast<std::uint32_t>(1 + rng.below(rng() % 2 == 0 ? kMaxBins : 40));
    const EvenBins<std::int32_t> bins(n_bins, lo, hi);
    const auto range = static_cast<std::uint64_t>(hi - lo);
    // On both sides of an edge, and anywhere.
    const std::uint64_t edge = rng.below(n_bins + 1) * range / n_bins;
    for (const std::uint64_t distance :
         {edge - 1, edge, edge + 1, rng.below(range), std::uint64_t{0}, range - 1}) {
      if (distance >= range) continue;
      const auto x = static_cast<std::int32_t>(lo + static_cast<std::int64_t>(distance));
      ASSERT_EQ(bin_of(bins, x), distance * n_bins / range)
          << x << " in " << n_bins << " of " << lo << ".." << hi;
    }
  }
}

TEST(EvenBins, OfIntegersEndWhereTheySay) {
  const EvenBins<std::int32_t> bins(4, -5, 7);
  EXPECT_EQ(bin_of(bins, -6), 4u);
  EXPECT_EQ(bin_of(bins, -5), 0u);
  EXPECT_EQ(bin_of(bins, 6), 3u);
  EXPECT_EQ(bin_of(bins, 7), 4u) << "hi itself lies outside";
  EXPECT_EQ(bin_of(bins, INT32_MIN), 4u);
  EXPECT_EQ(bin_of(bins, INT32_MAX), 4u);
  const EvenBins<std::int32_t> all(2, INT32_MIN, std::int64_t{INT32_MAX} + 1);
  EXPECT_EQ(bin_of(all, INT32_MIN), 0u);
  EXPECT_EQ(bin_of(all, -1), 0u);
  EXPECT_EQ(bin_of(all, 0), 1u);
  EXPECT_EQ(bin_of(all, INT32_MAX), 1u);
  const EvenBins<std::uint8_t> bytes(256, 0, 256);
  for (unsigned x = 0; x < 256; ++x) EXPECT_EQ(bin_of(bytes, static_cast<std::uint8_t>(x)), x);
}

TEST(EvenBins, OfFloatsHoldEveryNumberInRangeAndNothingElse) {
  const EvenBins<float> bins(10, 0.0f, 1.0f);
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float x : {std::nextafter(0.0f, -1.0f), 1.0f, infinity, -infinity, std::nanf("")}) {
    EXPECT_EQ(bin_of(bins, x), 10u) << x;
  }
  EXPECT_EQ(bin_of(bins, -0.0f), 0u);
  EXPECT_EQ(bin_of(bins, std::nextafter(1.0f, 0.0f)), 9u);
  const EvenBins<float> both_signs(10, -1.0f, 1.0f);
  const float largest = std::nextafter(1.0f, 0.0f);
  EXPECT_EQ((largest - both_signs.lo) * both_signs.scale, 10.0f) << "rounded up to n_bins";
  EXPECT_EQ(bin_of(both_signs, largest), 9u) << "and kept in the last bin";
  std::uint32_t before = 0;
  for (float x = 0; x < 1; x += 0x1p-16f) {
    EXPECT_GE(bin_of(bins, x), before) << "a larger sample never lies in a lower bin";
    before = bin_of(bins, x);
  }
}

TEST(EvenBins, OfFloatsRoundAtAnEdge) {
  // 0.7f is less than 0.7, so its exact bin is 6; with rounding, (x - 0) * 10 is 7.
  const EvenBins<float> bins(10, 0.0f, 1.0f);
  EXPECT_LT(static_cast<double>(0.7f), 0.7);
  EXPECT_EQ(bin_of(bins, 0.7f), 7u);
}

TEST(EdgeBins, BeginWithTheirLowerEdge) {
  const std::vector<std::int32_t> edges = {-3, 0, 1, 10};
  const HostEdgeBins<std::int32_t> bins{3, edges};
  const std::pair<std::int32_t, std::uint32_t> expected[] = {{-4, 3}, {-3, 0}, {-1, 0}, {0, 1},
                                                             {1, 2},  {9, 2},  {10, 3}, {11, 3}};
  for (const auto& [x, bin] : expected) EXPECT_EQ(bin_of(bins, x), bin) << x;
  const std::vector<std::int32_t> byte_edges = {0, 100, 256};
  EXPECT_EQ(bin_of(HostEdgeBins<std::uint8_t>{2, byte_edges}, std::uint8_t{255}), 1u);
}

TEST(Params, CarryBoundsOfEveryType) {
  EXPECT_EQ(bound_of<float>(param_of<float>(-1.5f)), -1.5f);
  EXPECT_EQ(bound_of<std::int32_t>(param_of<std::int32_t>(-7)), -7);
  EXPECT_EQ(bound_of<std::uint8_t>(param_of<std::uint8_t>(256)), 256);
}

TEST(PrivateCounters, AreWholeWarpsAndFitTheirRoom) {
  for (const std::uint64_t n : {0ull, 1ull, 100000ull, 1ull << 24, 1ull << 40}) {
    for (const std::uint32_t n_bins : {1u, 2u, 256u, 4096u, kMaxBins}) {
      const std::uint64_t threads = n_private(n, n_bins);
      EXPECT_EQ(threads % 32, 0u);
      EXPECT_GE(threads, 32u);
      EXPECT_LE(threads * (n_bins + 1), std::max<std::uint64_t>(1 << 23, 32 * (n_bins + 1)));
    }
  }
}

// --- Cases.

TEST(Cases, CoverBothKindsOfBinsForEveryType) {
  std::set<std::pair<std::uint32_t, lab::DType>> seen;
  for (const Case& c : problem().cases(kTasks[0])) seen.emplace(c.op, c.dtype);
  EXPECT_EQ(seen.size(), 6u);
}

template <typename E>
bool strictly_ascending(std::span<const E> edges) {
  return std::adjacent_find(edges.begin(), edges.end(), [](E a, E b) { return !(a < b); }) == edges.end();
}

TEST(Cases, HaveStrictlyAscendingEdges) {
  for (const Case& c : problem().cases(kTasks[0])) {
    if (static_cast<OpId>(c.op) != OpId::edges) continue;
    const Tried t = tried(c.name);
    EXPECT_TRUE(c.dtype == lab::DType::f32 ? strictly_ascending(t.input<float>(1))
                                           : strictly_ascending(t.input<std::int32_t>(1)))
        << c.name;
  }
}

TEST(Cases, AreSpreadAsTheirNamesSay) {
  const auto counts = [](std::string_view name) {
    Tried t = tried(name);
    const auto span = t.output<Count>();
    return std::vector<Count>(span.begin(), span.end());
  };
  const auto most = [](const std::vector<Count>& c) { return *std::max_element(c.begin(), c.end()); };
  EXPECT_EQ(most(counts("even_i32_b2_n262147_all_equal")), 262147u);
  const auto skewed = counts("even_i32_b4096_n100003_skewed");
  EXPECT_NEAR(static_cast<double>(most(skewed)), 90000, 1000);
  EXPECT_EQ(skewed.back(), 0u);
  const auto random = counts("even_i32_b256_n1048576_random");
  EXPECT_LT(most(random), 2 * 4096u);
  EXPECT_EQ(random.back(), 0u);
  EXPECT_NEAR(static_cast<double>(counts("even_i32_b256_n100003_random_outside").back()), 6250, 500);
  EXPECT_GT(counts("even_f32_b10_n20000_extremes").back(), 1000u);
  const auto alternating = counts("even_i32_b256_n70001_alternating");
  EXPECT_EQ(alternating[0], 35001u);
  EXPECT_EQ(alternating[255], 35000u);
}

TEST(Cases, ExtremesHitEveryEdgeExactly) {
  for (const char* name : {"edges_i32_b10_n5000_extremes", "edges_u8_b7_n5000_extremes"}) {
    const Tried t = tried(name);
    for (const std::int32_t edge : t.input<std::int32_t>(1)) {
      const bool hit = t.c.dtype == lab::DType::u8
                           ? std::ranges::count(t.input<std::uint8_t>(), static_cast<std::uint8_t>(edge)) > 0
                           : std::ranges::count(t.input<std::int32_t>(), edge) > 0;
      EXPECT_TRUE(hit) << name << " " << edge;
    }
  }
  const Tried floats = tried("edges_f32_b10_n20000_extremes");
  const auto samples = floats.input<float>();
  EXPECT_TRUE(std::ranges::any_of(samples, [](float x) { return std::isnan(x); }));
  EXPECT_GT(std::ranges::count(samples, floats.input<float>(1).back()), 0) << "hi itself";
}

// --- Baselines and the check.

TEST(Check, FewSamplesDoNotTellWhichBinsWereLeftOut) {
  Tried t = tried("even_i32_b16_n2_random");
  const auto counts = t.output<Count>();
  for (std::size_t b = counts.size(); b-- > 0;) {
    if (counts[b] == 0) continue;
    counts[b] = 0;
    break;
  }
  EXPECT_EQ(t.hint().find("bins"), std::string::npos) << t.hint();
}

TEST(Check, CountsLostAndSurplusSamples) {
  Tried t = tried("even_i32_b256_n70001_skewed");
  t.output<Count>()[3] -= 2;
  EXPECT_TRUE(says(t, "2 less than there are samples"));
  t.output<Count>()[3] += 5;
  EXPECT_TRUE(says(t, "3 more than there are samples"));
  for (Count& count : t.output<Count>()) count = 0;
  EXPECT_EQ(
      t.hint(),
      "every count is 0: no sample was counted, or the counts were cleared after the samples were counted");
}

TEST(Check, RecognisesAStrideOfOneBlock) {
  Tried t = tried("even_i32_b256_n65536_random_outside");
  const auto bins = even_bins<std::int32_t>(t.c.params);
  const auto samples = t.input<std::int32_t>();
  for (Count& count : t.output<Count>()) count = 0;
  for (std::size_t first = 0; first < samples.size(); first += 512)
    for (const std::int32_t sample : samples.subspan(first)) ++t.output<Count>()[bin_of(bins, sample)];
  EXPECT_TRUE(says(t, "gridDim.x * blockDim.x"));
}

TEST(Check, RecognisesSamplesLeftOutAtARegularDistance) {
  const auto counted = [](std::string_view name, std::uint64_t stride, std::uint64_t threads) {
    Tried t = tried(name);
    const auto samples = t.input<std::int32_t>();
    const auto bins = even_bins<std::int32_t>(t.c.params);
    std::ranges::fill(t.output<Count>(), Count{0});
    for (std::uint64_t i = 0; i < samples.size(); ++i)
      if (i % stride < threads) ++t.output<Count>()[bin_of(bins, samples[i])];
    return rules_of(t);
  };
  EXPECT_TRUE(counted("even_i32_b256_n65536_random_outside", 512, 256).contains("advances_too_far"));
  EXPECT_TRUE(counted("even_i32_b16_n2049_random_outside", 256, 32).contains("advances_too_far"));
  EXPECT_TRUE(counted("even_i32_b16_n255_random_outside", 256, 32).contains("advances_too_far"));
  EXPECT_FALSE(counted("even_i32_b16_n2049_random_outside", 4096, 32).contains("advances_too_far"));
  EXPECT_FALSE(counted("even_i32_b16_n2049_random_outside", 256, 33).contains("advances_too_far"));
}

TEST(Check, RecognisesThatTheLastBinIsNeverFound) {
  Tried t = tried("even_i32_b16_n4097_random_outside");
  t.output<Count>()[14] += std::exchange(t.output<Count>()[15], 0);
  EXPECT_TRUE(rules_of(t).contains("last_bin_never_found"));
  Tried none = tried("even_i32_b16_n4097_random_outside");
  none.output<Count>()[14] += 1, none.output<Count>()[15] -= 1;
  EXPECT_FALSE(rules_of(none).contains("last_bin_never_found"));
}

TEST(Check, RecognisesANarrowCounter) {
  Tried t = tried("even_u8_b256_n200003_all_equal");
  for (Count& count : t.output<Count>()) count &= 0xffff;
  EXPECT_TRUE(says(t, "a counter of 16 bits overflowed"));
}

TEST(Check, RecognisesCountersInTheOrderOfThreads) {
  Tried t = tried("even_i32_b256_n65536_random_outside");
  const auto samples = t.input<std::int32_t>();
  const auto bins = even_bins<std::int32_t>(t.c.params);
  const std::uint64_t threads = n_private(t.c.n, 256);
  std::vector<Count> stored(threads * 257);
  for (std::uint64_t i = 0; i < t.c.n; ++i) ++stored[i % threads * 257 + bin_of(bins, samples[i])];
  for (std::uint64_t b = 0; b < 257; ++b)
    t.output<Count>()[b] = std::accumulate(&stored[b * threads], &stored[b * threads] + threads, Count{0});
  EXPECT_TRUE(says(t, "stored at t * (n_bins + 1) + b"));
}

TEST(Check, RecognisesSamplesThatLieInNoBin) {
  Tried t = tried("even_f32_b10_n20000_extremes");
  const auto samples = t.input<float>();
  const auto n_where = [&](auto where) { return static_cast<Count>(std::ranges::count_if(samples, where)); };
  const std::vector<Count> right(t.output<Count>().begin(), t.output<Count>().end());
  const auto hint_when_moved = [&](std::size_t to, Count how_many) {
    std::copy(right.begin(), right.end(), t.output<Count>().begin());
    t.output<Count>()[to] += how_many;
    t.output<Count>()[10] -= how_many;
    return t.hint();
  };
  EXPECT_NE(hint_when_moved(0, n_where([](float x) { return std::isnan(x); }))
                .find("NaNs were counted in the first"),
            std::string::npos);
  EXPECT_NE(hint_when_moved(0, n_where([](float x) { return x < 0; })).find("below the first bin"),
            std::string::npos);
}

TEST(Check, RecognisesExchangedBounds) {
  Tried t = tried("edges_f32_b10_n20000_extremes");
  const auto samples = t.input<float>(), edges = t.input<float>(1);
  const auto count = [&](auto bin_of_sample) {
    std::ranges::fill(t.output<Count>(), Count{0});
    for (const float x : samples) ++t.output<Count>()[bin_of_sample(x)];
  };
  const auto bin = [&](float x) {
    return static_cast<std::size_t>(std::ranges::upper_bound(edges, x) - edges.begin()) - 1;
  };
  const auto inside = [&](float x) { return x >= edges[0] && x < edges[10]; };
  count([&](float x) { return inside(x) && x > edges[0] ? bin(x) : 10; });
  EXPECT_TRUE(says(t, "equal to the lower end were counted in no bin"));
  count([&](float x) { return x == edges[10] ? 9 : inside(x) && x > edges[0] ? bin(x) : 10; });
  EXPECT_TRUE(says(t, "equal to the upper end in the last bin"));
  count([](float) { return std::size_t{10}; });
  EXPECT_TRUE(says(t, "are the two ends exchanged"));
  count([&](float x) { return std::size_t{!inside(x) ? 10u : x < edges[5] ? 9u : 0u}; });
  EXPECT_TRUE(says(t, "in the wrong half"));
}

TEST(Check, RecognisesNeighbours) {
  Tried t = tried("even_f32_b1000_n50000_extremes");
  ASSERT_GT(t.output<Count>()[500], 0u);
  --t.output<Count>()[500];
  ++t.output<Count>()[501];
  EXPECT_TRUE(says(t, "neighbouring bin, all at the edge between bins 500 and 501"));
}

}  // namespace
}  // namespace course::histogram

int main(int argc, char** argv) {
  return course::lab::run_public_tests(argc, argv, course::histogram::problem());
}
