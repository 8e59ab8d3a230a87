// SPDX-License-Identifier: MIT
// From the bench programs' JSON to tables: ratios are computed within one size of one run, numbers of GPUs
// are compared, and other JSON is refused.
#include "bench/tables.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "text.hpp"

namespace course::grader {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string program(const char* device, double rung_us, const char* name = "fast") {
  return fmt::format(
      R"({{"schema": 1, "lab": "fold", "title": "Fold", "device": "{}", "modelled": false,
    "driver": 13000, "runtime": 12080, "cccl": ["3.0.1", "3.5.0"],
    "sizes": [{{"n": 1024, "ceilings": {{"copy": {{"gb_per_s": 2.0}}, "read": {{"gb_per_s": 4.0}}}},
      "tables": [{{"case": "sum_i32_n99_random_bench1024", "n": 1024, "ideal_bytes": 4100, "rows": [
        {{"name": "{}", "kind": "rung", "median_us": {}, "launched_us": 16.4, "min_us": 1, "max_us": 9,
          "right": true}},
        {{"name": "Library", "kind": "peer", "median_us": 4.1, "launched_us": 8.2, "right": true}},
        {{"name": "one CPU thread", "kind": "cpu", "median_us": 41}}]}}]}}]}})",
      device, name, rung_us);
}

std::string text_of(const std::vector<std::string>& solutions, const std::vector<std::string>& yours = {}) {
  const auto merged = merge_bench(solutions, yours, "2026-01-02");
  EXPECT_TRUE(merged);
  auto text = bench_text(merged ? *merged : "");
  EXPECT_TRUE(text) << (text ? "" : text.error().text);
  return text ? *text : "";
}

// A rung that is twice as fast as the library on the GPU and half as fast for its caller.
TEST(BenchTables, CompareRungsWithTheLibrary) {
  const std::string text = text_of({program("GPU", 2.05)});
  EXPECT_THAT(text, HasSubstr("\nFold: sum_i32_random\n  2¹⁰ "));
  EXPECT_THAT(text, HasSubstr("    fast                       2.0 µs   2.00    16.4 µs   0.50      2 █████"));
  EXPECT_THAT(text, HasSubstr(" ██████████\n")) << "the highest rate";
  EXPECT_THAT(text, HasSubstr("    one CPU thread            41.0 µs                               0 "))
      << "a CPU is no rung and is not launched";
}

TEST(BenchTables, StateDeviceVersionsAndDate) {
  EXPECT_THAT(
      text_of({program("NVIDIA H200", 2.05)}),
      StartsWith("NVIDIA H200, driver for CUDA 13.0, toolkit 12.8, CUB 3.0.1 and 3.5.0, 2026-01-02\n"));
}

TEST(BenchTables, SizesArePowersOfTwoOrNumbers) {
  EXPECT_EQ(size_text(1), "2⁰");
  EXPECT_EQ(size_text(1u << 20), "2²⁰");
  EXPECT_EQ(size_text(77), "77");
  EXPECT_EQ(size_text(0), "0");
}

TEST(BenchTables, FitIn80Columns) {
  const std::string text = text_of({program("NVIDIA H200 NVL", 2.05)});
  EXPECT_THAT(text, HasSubstr("3.5.0,\n2026-01-02\n"));
  for (const std::string_view line : lines_of(text)) EXPECT_LE(display_width(line), 80u) << line;
}

TEST(BenchTables, ShowStudentsRowsBesideSolutions) {
  EXPECT_THAT(text_of({program("GPU", 2.05)}, {program("GPU", 8.2, "fast")}), HasSubstr("yours: fast"));
}

TEST(BenchTables, RefuseOtherJson) {
  for (const char* text : {"", "{}", "[]", R"({"labs": 3})", R"({"labs": [{"lab": "fold"}]})",
                           R"({"labs": [{"lab": "a", "title": "b", "device": "c",
      "modelled": false, "driver": 1, "runtime": 1, "sizes": [{"n": 1, "tables": [{"case": 3}]}]}]})"}) {
    const auto results = bench_text(text);
    ASSERT_FALSE(results) << text;
    EXPECT_THAT(results.error().text, HasSubstr("no results of ./lab bench"));
  }
  EXPECT_FALSE(merge_bench({"nonsense"}, {}, ""));
}

// 1,000 and 2,000 items; the times are those of the only rung.
std::string run_on(unsigned gpus, double us_of_1000, double us_of_2000, const char* nccl = "") {
  const auto size = [&](unsigned n, double us) {
    return fmt::format(
        R"({{"n": {0}, "ceilings": {{"copy": {{"gb_per_s": 2.0}}, "read": {{"gb_per_s": 4.0}}}}, "nccl": [{1}],
        "tables": [{{"case": "sum_d{2}_even_n99_random_bench{0}", "n": {0}, "ideal_bytes": 4000, "rows": [
          {{"name": "fast", "kind": "rung", "median_us": {3}, "min_us": 1, "max_us": 9, "right": true}}]}}]}})",
        n, nccl, gpus, us);
  };
  return fmt::format(
      R"({{"schema": 1, "lab": "far", "title": "Far", "device": "GPU", "modelled": true, "gpus": {},
      "driver": 13000, "runtime": 13000, "sizes": [{}, {}]}})",
      gpus, size(1000, us_of_1000), size(2000, us_of_2000));
}

constexpr const char* kAllReduce =
    R"({"name": "ncclAllReduce", "bytes": 2000, "median_us": 50, "bus_gb_per_s": 0.25})";

TEST(BenchTables, MeasureTheSameArrayAndAsMuchOnEachGpu) {
  EXPECT_THAT(sizes_on(1, {16, 64}), ElementsAre(16, 64));
  EXPECT_THAT(sizes_on(4, {16, 64}), ElementsAre(16, 64, 256));
}

TEST(BenchTables, CompareWithOneGpu) {
  const std::string text = text_of({run_on(1, 10, 20), run_on(2, 8, 12.5, kAllReduce)});
  EXPECT_THAT(text, HasSubstr("sum_random"));
  EXPECT_THAT(text, HasSubstr("1000 items on all GPUs      1000 items on each GPU"));
  //                             GPUs   time   Gitems/s   effic.   time   Gitems/s   effic.
  EXPECT_THAT(text, HasSubstr("   1   10.0 µs     0.10    100 %   10.0 µs     0.10    100 %"));
  EXPECT_THAT(text, HasSubstr("   2    8.0 µs     0.12     62 %   12.5 µs     0.16     80 %"));
  EXPECT_THAT(text, HasSubstr("   2   50.0 µs     0.25"));
  EXPECT_THAT(text, HasSubstr("bus GB/s"));
  EXPECT_THAT(text_of({program("GPU", 2.05)}), Not(HasSubstr("GPUs"))) << "a lab for one device";
}

TEST(BenchTables, ShowStudentsRowsOfTheSameNumberOfGpus) {
  const std::string text =
      text_of({run_on(1, 10, 20), run_on(2, 8, 12.5)}, {run_on(1, 40, 80), run_on(2, 40, 50)});
  EXPECT_THAT(text, HasSubstr("yours: fast"));
  EXPECT_THAT(text, HasSubstr("   2   40.0 µs     0.03     50 %   50.0 µs     0.04     80 %"));
}

}  // namespace
}  // namespace course::grader
