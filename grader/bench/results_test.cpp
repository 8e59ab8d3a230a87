// SPDX-License-Identifier: MIT
// From the bench programs' JSON to tables: ratios are computed within one size of one run, and other JSON is
// refused.
#include "bench/results.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "text.hpp"

namespace course::grader {
namespace {

using ::testing::HasSubstr;

std::string program(const char* device, double rung_us, const char* name = "fast") {
  return fmt::format(
      R"({{"schema": 1, "lab": "fold", "title": "Fold", "device": "{}", "modelled": false,
    "driver": 13000, "runtime": 12080, "cccl": ["3.0.1", "3.5.0"],
    "sizes": [{{"n": 1024, "ceilings": {{"copy": {{"gb_per_s": 2.0}}, "read": {{"gb_per_s": 4.0}}}},
      "tables": [{{"case": "sum_i32_n99_random_bench1024", "n": 1024, "ideal_bytes": 4100, "rows": [
        {{"name": "{}", "kind": "rung", "median_us": {}, "launched_us": 16.4, "min_us": 1, "max_us": 9,
          "right": true}},
        {{"name": "Library", "kind": "peer", "median_us": 4.1, "launched_us": 8.2, "min_us": 4, "max_us": 5, "right": true}},
        {{"name": "one CPU thread", "kind": "cpu", "median_us": 41, "min_us": 40, "max_us": 50}}]}}]}}]}})",
      device, name, rung_us);
}

BenchResults results_of(const std::vector<std::string>& solutions,
                        const std::vector<std::string>& yours = {}) {
  const auto merged = merge_bench(solutions, yours, "2026-01-02");
  EXPECT_TRUE(merged);
  auto results = read_bench(*merged);
  EXPECT_TRUE(results) << (results ? "" : results.error().text);
  return *results;
}

TEST(BenchResults, ComparesRungsWithLibraryAndMemory) {
  const BenchResults results = results_of({program("GPU", 2.05)});
  ASSERT_EQ(results.labs.size(), 1u);
  ASSERT_EQ(results.labs[0].tables.size(), 1u);
  const BenchTable& table = results.labs[0].tables[0];
  EXPECT_EQ(table.work, "sum_i32_random");
  const BenchCell& cell = table.rows[0].cells.at(1024);
  EXPECT_DOUBLE_EQ(*cell.over_peer, 2);
  EXPECT_DOUBLE_EQ(cell.gb_per_s, 2);
  EXPECT_DOUBLE_EQ(cell.of_ceiling, 0.5) << "a fold writes next to nothing: reads are its ceiling";
  EXPECT_FALSE(table.rows[2].cells.at(1024).over_peer) << "a CPU is no rung";
}

TEST(BenchResults, NameTheLibrariesVersions) {
  EXPECT_THAT(bench_text(results_of({program("GPU", 2.05)})), HasSubstr("toolkit 12.8, CUB 3.0.1 and 3.5.0"));
}

TEST(BenchResults, FitIn80Columns) {
  const std::string text = bench_text(results_of({program("NVIDIA H200 NVL", 2.05)}));
  EXPECT_THAT(text, HasSubstr("3.5.0,\n2026-01-02\n"));
  for (const std::string_view line : lines_of(text)) EXPECT_LE(display_width(line), 80u) << line;
}

TEST(BenchResults, ShowStudentsRowsBesideSolutions) {
  const BenchResults results = results_of({program("GPU", 2.05)}, {program("GPU", 8.2, "fast")});
  EXPECT_THAT(bench_text(results), HasSubstr("yours: fast"));
  EXPECT_THAT(bench_csv(results), HasSubstr("fold,sum_i32_random,fast,yours,1024,8.200"));
}

TEST(BenchResults, StateDeviceVersionsAndDate) {
  EXPECT_EQ(bench_where(results_of({program("NVIDIA H200", 2.05)})),
            "NVIDIA H200, driver for CUDA 13.0, toolkit 12.8, CUB 3.0.1 and 3.5.0, 2026-01-02");
}

// A rung that is twice as fast on the GPU and half as fast for its caller.
TEST(BenchResults, ShowWhatTheLaunchCosts) {
  const BenchResults results = results_of({program("GPU", 2.05)});
  const BenchTable& table = results.labs[0].tables[0];
  EXPECT_DOUBLE_EQ(*table.rows[0].cells.at(1024).over_peer_launched, 0.5);
  EXPECT_FALSE(table.rows[2].cells.at(1024).launched_us) << "a CPU is not launched";
  const std::string text = bench_text(results);
  EXPECT_THAT(text, HasSubstr("    fast                       2.0 µs   2.00    16.4 µs   0.50"));
  EXPECT_THAT(text, HasSubstr(" ██████████\n")) << "the highest rate";
  for (const std::string_view line : lines_of(text)) EXPECT_LE(display_width(line), 80u) << line;
}

TEST(BenchResults, RefuseOtherJson) {
  for (const char* text : {"", "{}", "[]", R"({"labs": 3})", R"({"labs": [{"lab": "fold"}]})",
                           R"({"labs": [{"lab": "a", "title": "b", "device": "c",
      "modelled": false, "driver": 1, "runtime": 1, "sizes": [{"n": 1, "tables": [{"case": 3}]}]}]})"}) {
    const auto results = read_bench(text);
    ASSERT_FALSE(results) << text;
    EXPECT_THAT(results.error().text, HasSubstr("no results of ./lab bench"));
  }
  EXPECT_FALSE(merge_bench({"nonsense"}, {}, ""));
}

}  // namespace
}  // namespace course::grader
