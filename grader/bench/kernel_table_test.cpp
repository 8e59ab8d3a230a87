// SPDX-License-Identifier: MIT
#include "bench/kernel_table.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace course::grader {
namespace {

constexpr const char* kRun = R"({"device": "a GPU", "date": "2026-01-01", "items": 1024, "kernels": [
  {"lab": "scan", "kernel": "k01_rows", "grid": [4, 2, 1], "us": 10, "loaded_sectors": 200,
   "busy_percent": {"memory": 20, "issue": 75}},
  {"lab": "scan", "kernel": "k02_rows", "grid": [4, 1, 1], "us": 2, "loaded_sectors": 0,
   "busy_percent": {"memory": 3, "issue": 1}}]})";

std::string report(const char* kernel, int sectors, const char* bound_by) {
  return fmt::format(R"json({{"launches": [{{"kernel": "void course::{}<int>(int*)", "grid": [4, 2, 1],
      "modelled_us": 9, "bound_by": "{}", "counters": {{"global_load_sectors": {}}}}}]}})json",
                     kernel, bound_by, sectors);
}

// The table of kRun and of a simulator's report with these kernels.
struct Reported {
  const char *lab, *kernel;
  int sectors;
  const char* bound_by;
};
std::string table_with(const std::vector<Reported>& kernels) {
  const auto run = read_profiler_run(kRun);
  if (!run) return "kRun is no run";
  std::map<KernelKey, CountedKernel> counted;
  for (const Reported& k : kernels) collect_kernels(counted, k.lab, report(k.kernel, k.sectors, k.bound_by));
  return kernels_markdown(*run, counted);
}

TEST(KernelTable, ComparesCountsAndLimitersWithTheProfiler) {
  const std::string text = table_with({{"scan", "k01_rows", 201, "issue"}});
  EXPECT_NE(text.find("| scan `k01_rows` | 8 | 10.0 | 9.0 | 1.00 | issue, 75 % | issue |"), std::string::npos)
      << text;
  EXPECT_NE(text.find("Of 1 kernels, 1 load as many"), std::string::npos) << text;
  EXPECT_NE(text.find("One unit was busy for at least 50 % of the time in 1 of the kernels; in 1 of these"),
            std::string::npos)
      << text;
}

TEST(KernelTable, CountsDifferences) {
  const std::string text = table_with({{"scan", "k01_rows", 300, "memory"}});
  EXPECT_NE(text.find("| 1.50 | issue, 75 % | memory |"), std::string::npos) << text;
  EXPECT_NE(text.find("0 load as many"), std::string::npos) << text;
  EXPECT_NE(text.find("in 0 of these cases the model"), std::string::npos) << text;
}

TEST(KernelTable, DistinguishesLabsAndGrids) {
  const std::string text =
      table_with({{"sat", "k01_rows", 200, "issue"}, {"scan", "k02_rows", 200, "issue"}});
  EXPECT_NE(text.find("Of 0 kernels"), std::string::npos) << text;
}

TEST(KernelTable, RefusesOtherJson) {
  EXPECT_FALSE(read_profiler_run("{}"));
  EXPECT_FALSE(read_profiler_run("nothing"));
  EXPECT_FALSE(read_profiler_run(R"({"device": "a", "date": "b", "items": 1, "kernels": [{"lab": 3}]})"));
}

}  // namespace
}  // namespace course::grader
