// SPDX-License-Identifier: MIT
#include "grading/scoring/metrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "grading/scoring/line_with_most.hpp"
#include "testing/scripted.hpp"

namespace course::grader {
namespace {

using ::testing::HasSubstr;

sim::Counters counted() {
  sim::Counters c;
  c.launches = 3;
  c.warp_instructions = 100;
  c.lane_instructions = 1600;
  c.global_load_sectors = 120;
  c.global_store_sectors = 8;
  c.shared_requests = 50;
  c.shared_wavefronts = 75;
  c.shared_conflicts = 25;
  c.work = 2000;
  c.steps = 30;
  c.barriers = 7;
  c.atomic_requests = 20;
  c.atomic_lanes = 600;
  c.atomic_turns = 50;
  return c;
}
constexpr lab::Ideal kIdeal{.items = 1000, .units = 4, .bytes = 2048};

TEST(Metrics, AreCountsOfItemsAndUnits) {
  const auto of = [](lab::Metric metric) { return measure(metric, counted(), kIdeal).value(); };
  EXPECT_DOUBLE_EQ(of(lab::Metric::instructions), 1.6);
  EXPECT_DOUBLE_EQ(of(lab::Metric::active_lanes), 0.5);
  EXPECT_DOUBLE_EQ(of(lab::Metric::bytes_ratio), 128 * 32 / 2048.0);
  EXPECT_DOUBLE_EQ(of(lab::Metric::launches), 3);
  EXPECT_DOUBLE_EQ(of(lab::Metric::barriers), 7 / 4.0);
  EXPECT_DOUBLE_EQ(of(lab::Metric::bank_conflicts), 25 / 4.0);
  EXPECT_DOUBLE_EQ(of(lab::Metric::atomics), 0.6);
  EXPECT_DOUBLE_EQ(of(lab::Metric::contention), 0.03);
}

// Instructions that hide idle lanes are instructions.
TEST(Metrics, UselessWorkMakesNoneBetterButTheShareOfLanes) {
  sim::Counters more = counted();
  more.warp_instructions += 1000, more.lane_instructions += 32000;
  more.shared_requests += 1000, more.shared_wavefronts += 1000;
  more.atomic_requests += 1000, more.atomic_lanes += 1000, more.atomic_turns += 1000;
  for (const lab::Metric metric : lab::kAllMetrics) {
    const double before = measure(metric, counted(), kIdeal).value();
    const double after = measure(metric, more, kIdeal).value();
    EXPECT_EQ(after < before, false) << lab::name_of(metric);
    if (metric == lab::Metric::instructions) {
      EXPECT_GT(after, before);
    }
  }
}

TEST(Metrics, LineWithMostBytesSaysWhetherTheyAreLocal) {
  const auto line = [](const char* local) {
    return line_with_most(
        lab::Metric::bytes_ratio, "scan",
        std::string(R"({"lines": [{"file": "labs/scan/scan.cu", "line": 7, "global_requests": 10,
                                        "global_sectors": 40, "local_sectors": )") +
            local + "}]}");
  };
  EXPECT_EQ(line("0"), "scan.cu:7, 4.0 sectors a request");
  EXPECT_EQ(line("30"), "scan.cu:7, 4.0 sectors a request of local memory");
}

TEST(Metrics, LocalMemoryIsTraffic) {
  sim::Counters c = counted();
  c.local_sectors = 128;
  EXPECT_DOUBLE_EQ(measure(lab::Metric::bytes_ratio, c, kIdeal).value(), 256 * 32 / 2048.0);
}

TEST(Metrics, BytesAreImplausibleBelowTheLeastThatSuffice) {
  lab::Ideal ideal = kIdeal;
  ideal.bytes *= 5;
  EXPECT_NE(implausible(counted(), ideal), "");
  ideal.least_bytes = kIdeal.bytes;
  EXPECT_EQ(implausible(counted(), ideal), "");
}

TEST(Metrics, AreAbsentWithoutUnitsOrLaunches) {
  EXPECT_FALSE(measure(lab::Metric::barriers, counted(), {.items = 1000}).has_value());
  for (const lab::Metric metric : lab::kAllMetrics)
    EXPECT_FALSE(measure(metric, sim::Counters{}, kIdeal).has_value()) << lab::name_of(metric);
}

TEST(Metrics, AreZeroWithoutTheirInstructions) {
  sim::Counters c;
  c.launches = 1;
  for (const lab::Metric metric :
       {lab::Metric::barriers, lab::Metric::bank_conflicts, lab::Metric::atomics, lab::Metric::contention})
    EXPECT_EQ(measure(metric, c, kIdeal), 0) << lab::name_of(metric);
}

TEST(Metrics, BytesOfSeveralDevicesAreThoseSent) {
  lab::Ideal ideal = kIdeal;
  ideal.bytes_sent = 12;
  EXPECT_DOUBLE_EQ(measure(lab::Metric::bytes_ratio, counted(), ideal, {3, 24}).value(), 2.0);
  const auto report = lab::read_sim_report(R"({"totals": {}, "traffic": {"messages": 3, "bytes_sent": 24}})");
  ASSERT_TRUE(report.readable);
  EXPECT_EQ(report.traffic.messages, 3u);
  EXPECT_EQ(report.traffic.bytes_sent, 24u);
}

TEST(Metrics, CompareWithLimitsInTheRightDirectionAndLeaveOnePercent) {
  EXPECT_TRUE(lab::meets(lab::Metric::bytes_ratio, 1.009, 1.0));
  EXPECT_FALSE(lab::meets(lab::Metric::bytes_ratio, 1.011, 1.0));
  EXPECT_FALSE(lab::meets(lab::Metric::barriers, 0.01, 0)) << "none is none";
  EXPECT_TRUE(lab::meets(lab::Metric::active_lanes, 0.892, 0.9));
  EXPECT_FALSE(lab::meets(lab::Metric::active_lanes, 0.89, 0.9));
  EXPECT_FALSE(lab::meets(lab::Metric::bytes_ratio, std::numeric_limits<double>::quiet_NaN(), 1.0));
}

TEST(Metrics, ReportTooLittleWorkOfKernels) {
  sim::Counters c = counted();
  EXPECT_EQ(implausible(c, kIdeal), "");
  c.global_load_sectors = 2, c.local_sectors = 128;
  EXPECT_THAT(implausible(c, kIdeal), HasSubstr("must move at least 2048"));
  EXPECT_EQ(implausible(c, lab::Ideal{}), "");
}

}  // namespace
}  // namespace course::grader
