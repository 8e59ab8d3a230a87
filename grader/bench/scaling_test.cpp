// SPDX-License-Identifier: MIT
// The tables of a lab for several devices, from runs on different numbers of GPUs.
#include "bench/scaling.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace course::grader {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

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

BenchResults results_of(const std::vector<std::string>& runs, const std::vector<std::string>& yours = {}) {
  const auto merged = merge_bench(runs, yours, "");
  auto results = read_bench(merged ? *merged : "");
  EXPECT_TRUE(results) << (results ? "" : results.error().text);
  return results ? *results : BenchResults{};
}

TEST(Scaling, MeasuresTheSameArrayAndAsMuchOnEachGpu) {
  EXPECT_THAT(sizes_on(1, {16, 64}), ElementsAre(16, 64));
  EXPECT_THAT(sizes_on(4, {16, 64}), ElementsAre(16, 64, 256));
}

TEST(Scaling, ComparesWithOneGpu) {
  EXPECT_DOUBLE_EQ(strong_efficiency(100, 50, 2), 1);
  EXPECT_DOUBLE_EQ(weak_efficiency(100, 125), 0.8);
  const std::string text = bench_text(results_of({run_on(1, 10, 20), run_on(2, 8, 12.5, kAllReduce)}));
  EXPECT_THAT(text, HasSubstr("sum_random"));
  EXPECT_THAT(text, HasSubstr("1000 items on all GPUs      1000 items on each GPU"));
  //                             GPUs   time   Gitems/s   effic.   time   Gitems/s   effic.
  EXPECT_THAT(text, HasSubstr("   1   10.0 µs     0.10    100 %   10.0 µs     0.10    100 %"));
  EXPECT_THAT(text, HasSubstr("   2    8.0 µs     0.12     62 %   12.5 µs     0.16     80 %"));
  EXPECT_THAT(text, HasSubstr("   2   50.0 µs     0.25"));
  EXPECT_THAT(text, HasSubstr("bus GB/s"));
}

TEST(Scaling, ShowsStudentsRowsOfTheSameNumberOfGpus) {
  const std::string text =
      bench_text(results_of({run_on(1, 10, 20), run_on(2, 8, 12.5)}, {run_on(1, 40, 80), run_on(2, 40, 50)}));
  EXPECT_THAT(text, HasSubstr("yours: fast"));
  EXPECT_THAT(text, HasSubstr("   2   40.0 µs     0.03     50 %   50.0 µs     0.04     80 %"));
}

TEST(Scaling, IsWrittenAsCsv) {
  const BenchResults results = results_of({run_on(1, 10, 20), run_on(2, 8, 12.5)});
  EXPECT_THAT(bench_csv(results),
              HasSubstr("far,sum_random,fast,rung,2000,12.500,1.000,9.000,0.3,0.0800,,yes,2,,\n"));
}

TEST(Scaling, IsNotShownForLabsOfOneDevice) {
  BenchResults results = results_of({run_on(1, 10, 20)});
  results.labs.front().gpus = 0;
  EXPECT_EQ(scaling_text(results, "far"), "");
  EXPECT_THAT(bench_text(results), Not(HasSubstr("GPUs")));
}

}  // namespace
}  // namespace course::grader
