// SPDX-License-Identifier: MIT
// A profile divides a launch's counters among the source lines, and each count belongs to exactly one line.

#include <map>
#include <nlohmann/json.hpp>

#include "sim/testing/test_device.hpp"

namespace course::sim {
namespace {

using Json = nlohmann::json;

TEST(Profile, AddsUpToTheCounters) {
  TestDevice t(TestDevice::read(SIM_PTX_DIR "/machine_test.ptx"));
  auto out = t.array<int>(3 * 64, 0);
  t.device.set_mode(kCounters | kProfile);
  t.launch("nested_ifs", 3, 64, out);
  const Json report = Json::parse(t.device.report_json());
  std::map<std::string, std::uint64_t> sums;
  for (const Json& line : report.at("lines")) {
    EXPECT_EQ(line.at("kernel"), report.at("launches")[0].at("kernel"));
    for (const char* key : {"warp_instructions", "lane_instructions", "branches", "divergent_branches",
                            "global_requests", "global_sectors"})
      sums[key] += line.at(key).get<std::uint64_t>();
  }
  const Json& totals = report.at("totals");
  for (const char* key : {"warp_instructions", "lane_instructions", "branches", "divergent_branches"})
    EXPECT_EQ(sums[key], totals.at(key)) << key;
  EXPECT_EQ(sums["global_requests"], totals.at("global_load_requests").get<std::uint64_t>() +
                                         totals.at("global_store_requests").get<std::uint64_t>());
  EXPECT_EQ(sums["global_sectors"], totals.at("global_load_sectors").get<std::uint64_t>() +
                                        totals.at("global_store_sectors").get<std::uint64_t>());
  EXPECT_GT(sums["divergent_branches"], 0u);
  EXPECT_GT(report.at("lines").size(), 3u);
}

TEST(Profile, SumsLaunchesAndIsOmittedInOtherModes) {
  TestDevice t(TestDevice::read(SIM_PTX_DIR "/machine_test.ptx"));
  auto out = t.array<int>(3 * 64, 0);
  t.device.set_mode(kCounters | kProfile);
  t.launch("nested_ifs", 1, 64, out);
  const std::size_t lines = Json::parse(t.device.report_json()).at("lines").size();
  t.launch("nested_ifs", 1, 64, out);
  EXPECT_EQ(Json::parse(t.device.report_json()).at("lines").size(), lines);
  t.device.set_mode(kCounters);
  EXPECT_FALSE(Json::parse(t.device.report_json()).contains("lines"));
}

}  // namespace
}  // namespace course::sim
