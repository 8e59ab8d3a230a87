// SPDX-License-Identifier: MIT
// The page shows a table for each kind of work, and says when figures are modelled.
#include "bench/html.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/well_formed.hpp"

namespace course::grader {
namespace {

using ::testing::HasSubstr;

BenchResults results() {
  BenchRow rung{"fast <&> neat", "rung", {}};
  BenchRow peer{"Library", "peer", {}};
  for (const std::uint64_t n : {1024u, 4096u}) {
    rung.cells[n] = {12.5, 12, 13, 14, 300, 0.5, 1.25, true};
    peer.cells[n] = {15.6, 15, 16, 17, 240, 0.4, 1.0, true};
  }
  BenchTable table{"sum_i32_random", {rung, peer}};
  BenchLab lab{"fold", "Fold", {1024, 4096}, {table}};
  BenchResults all;
  all.device = "GPU";
  all.date = "2026-01-02";
  all.driver = all.runtime = 13000;
  all.clock_mhz = 1980;
  all.labs = {lab};
  return all;
}

TEST(BenchPage, ShowsTimesRatesSharesAndRatios) {
  const std::string page = bench_html(results());
  EXPECT_EQ(testing::why_malformed(page, testing::kVoidElements), "");
  EXPECT_THAT(page, HasSubstr("12.5 µs, 300 GB/s, 50 %, 1.25×"));
  EXPECT_THAT(page, HasSubstr("<rect width=\"30.0\"")) << "a bar for 50 %";
  EXPECT_THAT(page, HasSubstr("12.0 µs … 13.0 µs"));
  EXPECT_THAT(page, HasSubstr("GPU, driver for CUDA 13.0, toolkit 13.0, 1980 MHz, 2026-01-02"));
  EXPECT_THAT(page, HasSubstr("fast &lt;&amp;&gt; neat"));
}

TEST(BenchPage, MarksModelledFiguresAndWrongResults) {
  BenchResults r = results();
  r.modelled = true;
  r.labs[0].tables[0].rows[0].cells[4096].right = false;
  const std::string page = bench_html(r);
  EXPECT_THAT(page, HasSubstr("Modelled figures"));
  EXPECT_THAT(page, HasSubstr("GPU (modelled)"));
  EXPECT_THAT(page, HasSubstr("WRONG"));
}

}  // namespace
}  // namespace course::grader
