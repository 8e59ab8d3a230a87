// SPDX-License-Identifier: MIT
// What a caller pays beside the GPU's time: a rung may ask the runtime about its device once, not at every
// call (the driver answers slowly for the clock rates). Each rung runs several times in one process that
// counts its queries (count_queries.cpp). Compiled once per lab with -DCOURSE_LAB=<lab>; the
// environment variables RUNNER and COUNT_QUERIES are the paths of the solution's runner and of that library.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "testing/public_tests.hpp"

namespace course::COURSE_LAB {
const lab::Problem& problem();
}

namespace course::lab {
namespace {

constexpr int kCalls = 3;
constexpr std::uint64_t kFew = 5000, kMany = (std::uint64_t{1} << 22) + 1;  // some rungs change at 2^22 items

// The queries that one process made more than once while the task ran kCalls times for the case.
std::vector<std::string> repeated_queries(const Task& task, const Case& c) {
  const Problem& problem = course::COURSE_LAB::problem();
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("queries_" + std::to_string(::getpid()));
  std::filesystem::remove(file);
  {
    SessionOptions options = session_options_for_tests(problem.manifest(), DeviceKind::sim);
    options.launcher = {"/usr/bin/env", std::string("LD_PRELOAD=") + std::getenv("COUNT_QUERIES"),
                        "QUERIES=" + file.string()};
    Session session(options);
    for (int k = 0; k < kCalls; ++k)
      EXPECT_EQ(session.run(problem, task, c, 1, {.only_verdict = true}).verdict, Verdict::ok) << c.name;
  }
  std::map<std::string, int> counts;
  std::ifstream lines(file);
  for (std::string query; std::getline(lines, query);) ++counts[query];
  EXPECT_EQ(counts.erase("preloaded"), 1u) << "the runner was not counted";
  std::filesystem::remove(file);
  std::vector<std::string> repeated;
  for (const auto& [query, count] : counts)
    if (count > 1) repeated.push_back(std::to_string(count) + " x " + query);
  return repeated;
}

TEST(HostTime, EachPropertyIsAskedOnce) {
  const Problem& problem = course::COURSE_LAB::problem();
  const Manifest& manifest = problem.manifest();
  for (const auto* rungs : {&manifest.tasks, &manifest.further_rungs}) {
    for (const Task& task : *rungs) {
      std::set<std::pair<std::uint32_t, DType>> kinds;  // each operator and type with few items
      std::set<std::size_t> shapes;                     // keys alone, and pairs, with many
      for (const Case& c : problem.cases(task)) {
        if (problem.refuses(task, c)) continue;
        const bool is_new = kinds.emplace(c.op, c.dtype).second;
        const bool is_large =
            task.id == "state_of_the_art" && shapes.insert(problem.shape(task, c).inputs.size()).second;
        for (const auto& [n, wanted] : {std::pair(kFew, is_new), std::pair(kMany, is_large)}) {
          const auto like = wanted ? problem.with_items(task, c, n, c.pattern) : std::nullopt;
          if (!like) continue;
          EXPECT_EQ(repeated_queries(task, *like), std::vector<std::string>{})
              << task.id << ", " << like->name;
        }
      }
    }
  }
}

}  // namespace
}  // namespace course::lab
