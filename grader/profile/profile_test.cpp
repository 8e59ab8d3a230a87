// SPDX-License-Identifier: MIT
// Profiles from the simulator's counts to text. The counts may come from a student's process, so no input may
// break the reader.
#include "profile/profile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "sim/timing/bounds.hpp"
#include "testing/scripted.hpp"
#include "text.hpp"

namespace course::grader {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kReport = R"json({
 "device": "Simulated H200", "modelled_us": 9.5,
 "totals": {"launches": 3, "work": 4095, "steps": 12, "global_load_sectors": 512, "global_store_sectors": 1,
            "warp_instructions": 200, "lane_instructions": 4800},
 "launches": [{"kernel": "void fake::k01_fold<int>(int const*)", "modelled_us": 6,
               "bound_by": "shared memory and first-level cache", "block": [16, 16, 1],
               "occupancy": 0.75, "resident_blocks": 6, "registers": 40, "shared": 2048},
              {"kernel": "void fake::k01_fold<int>(int const*)", "modelled_us": 3, "bound_by": "launch"}],
 "lines": [
  {"kernel": "void fake::k01_fold<int>(int const*)", "file": "fold.cu", "line": 31, "warp_instructions": 100,
   "lane_instructions": 1600, "branches": 10, "divergent_branches": 4,
   "shared_requests": 10, "shared_wavefronts": 30},
  {"kernel": "void fake::k01_fold<int>(int const*)", "file": "fold.cu", "line": 30, "warp_instructions": 100,
   "lane_instructions": 3200, "global_requests": 16, "global_sectors": 64, "global_bytes": 2048,
   "shared_requests": 10, "shared_wavefronts": 14}]})json";

Profile of(std::string_view report) {
  static const testing::FakeProblem kProblem;
  return profile_of(kProblem, testing::kTasks[0], kProblem.example(testing::kTasks[0], 4096), report);
}

TEST(Profile, DividesTheLimitingResourceAmongLines) {
  const Profile p = of(kReport);
  ASSERT_EQ(p.kernels.size(), 1u);
  const ProfiledKernel& k = p.kernels[0];
  EXPECT_EQ(k.name, "k01_fold");
  EXPECT_EQ(k.launches, 2u);
  EXPECT_EQ(k.bound_by, "shared memory and first-level cache") << "of the longest launch";
  EXPECT_EQ(k.block_threads, 256u);
  EXPECT_DOUBLE_EQ(k.occupancy, 0.75);
  ASSERT_EQ(k.lines.size(), 2u);
  EXPECT_EQ(k.lines[0].line, 30u) << "in the order of the source";
  EXPECT_DOUBLE_EQ(k.lines[0].share, 0.5) << "14 passes, and 64 sectors of 16 whole lines";
  EXPECT_DOUBLE_EQ(k.lines[1].share, 0.5);
  EXPECT_DOUBLE_EQ(k.lines[1].active_lanes, 0.5);
  EXPECT_DOUBLE_EQ(*k.lines[1].divergent, 0.4);
  EXPECT_DOUBLE_EQ(*k.lines[1].passes_per_request, 3);
  EXPECT_DOUBLE_EQ(*k.lines[0].sectors_per_request, 4);
  EXPECT_FALSE(k.lines[1].sectors_per_request);
  EXPECT_DOUBLE_EQ(p.intensity(), 4095.0 / (32 * 513));
}

// A report with two lines. The second has three quarters of `count` and half of every other count.
Profile profile_limited_by(const std::string& bound, const std::string& count) {
  nlohmann::json line{{"kernel", "k"}, {"file", "k.cu"}, {"line", 1}};
  for (const char* other : {"warp_instructions", "global_sectors", "global_bytes", "shared_wavefronts",
                            "atomic_serialised", "atomic_lanes"})
    line[other] = count == "passes" ? 0 : 10;
  const std::string key = count == "passes" ? "shared_wavefronts" : count;
  nlohmann::json second = line;
  line[key] = 25;
  second[key] = 75;
  second["line"] = 2;
  nlohmann::json report{{"launches", {{{"kernel", "k"}, {"modelled_us", 6}, {"bound_by", bound}}}},
                        {"lines", {line, second}}};
  return of(report.dump());
}

TEST(Profile, JsonContainsTheMetrics) {
  const auto metrics = nlohmann::json::parse(profile_json(of(kReport))).at("metrics");
  EXPECT_DOUBLE_EQ(metrics.at("active_lanes"), 0.75);
}

TEST(Profile, DividesEveryLimiterTheModelKnows) {
  const std::pair<sim::Bound, const char*> counts[] = {
      {sim::Bound::memory, "global_sectors"},
      {sim::Bound::second_level_cache, "global_sectors"},
      {sim::Bound::shared_memory_and_l1, "passes"},
      {sim::Bound::issue, "warp_instructions"},
      {sim::Bound::shared_atomics, "atomic_serialised"},
      {sim::Bound::global_atomics, "atomic_lanes"},
      {sim::Bound::starting_blocks, "warp_instructions"},
      {sim::Bound::latency, "warp_instructions"},
      {sim::Bound::launch, "warp_instructions"},
  };
  ASSERT_EQ(std::size(counts), sim::kBoundNames.size());
  std::set<std::string> meanings;
  for (const auto& [bound, count] : counts) {
    const Profile p = profile_limited_by(sim::name_of(bound), count);
    ASSERT_EQ(p.kernels.size(), 1u);
    ASSERT_EQ(p.kernels[0].lines.size(), 2u);
    EXPECT_DOUBLE_EQ(p.kernels[0].lines[1].share, 0.75) << sim::name_of(bound);
    meanings.insert(meaning_of(sim::name_of(bound)));
  }
  EXPECT_EQ(meanings.size(), sim::kBoundNames.size()) << "each name has words of its own";
}

TEST(Profile, PrintsSourceBesideCounts) {
  const std::string text = profile_text(of(kReport), [](const std::string&, std::uint32_t line) {
    return line == 31 ? "    s_data[tid] += s_data[tid + 1];" : "";
  });
  EXPECT_THAT(text,
              HasSubstr("  50% ████   50%   40%       3.0         31  s_data[tid] += s_data[tid + 1];"));
  EXPECT_THAT(text, HasSubstr("limiter: shared memory"));
  EXPECT_THAT(text,
              HasSubstr("occupancy 75%: 6 blocks x 256 threads per SM, 40 registers each, 2048 B shared"));
  EXPECT_THAT(profile_text(of(kReport), [](auto&&...) { return "<b>\x1b"; }), HasSubstr("<b>\\x1b"));
}

TEST(Profile, TextFitsItsColumns) {
  const std::string code =
      "if (tid % (2 * stride) == 0) s_data[tid] = op(s_data[tid], s_data[tid + stride]);";
  const auto source = [&](const std::string&, std::uint32_t) { return "      " + code; };
  for (const std::size_t columns : {80u, 100u, 200u}) {
    const std::string text = profile_text(of(kReport), source, columns);
    for (const std::string_view line : lines_of(text)) EXPECT_LE(display_width(line), columns) << line;
    // All words of the code are there, perhaps on several lines.
    std::istringstream words(code);
    for (std::string word; words >> word;) EXPECT_THAT(text, HasSubstr(word));
    EXPECT_EQ(has(text, code), columns == 200u);
    // A column without values makes room for the code.
    EXPECT_EQ(has(text, "pass meet  line"), columns == 200u) << text;
  }
}

TEST(Profile, LegendNamesTheIdealOfWideLoads) {
  EXPECT_THAT(profile_text(of(kReport), [](auto&&...) { return ""; }), HasSubstr("16 for 16 bytes"));
}

TEST(Profile, WithoutCountedOperationsShowsNoRatio) {
  const Profile p = of(R"({"totals": {"work": 0, "steps": 0, "global_load_sectors": 8}})");
  const auto no_source = [](const std::string&, std::uint32_t) { return ""; };
  const std::string text = profile_text(p, no_source);
  EXPECT_THAT(text, HasSubstr("work                0 operations none counted\n  steps "));
  EXPECT_THAT(text, HasSubstr("bytes             256 moved      closed form"));
  EXPECT_THAT(text, Not(HasSubstr("intensity")));
}

}  // namespace
}  // namespace course::grader
