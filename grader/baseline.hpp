// SPDX-License-Identifier: MIT
// CPU baselines, timed in this process on items like those of the speedup case: one thread and all cores.
// Nothing else of ours may run while they are timed. Tasks that share a case, its shape and its result share
// the times.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "lab/problem.hpp"

namespace course::grader {

// 0 when empty.
double median(std::vector<double> values);
// The median distance from the median.
double spread(const std::vector<double>& values);

struct BaselineTimes {
  std::vector<double> one_thread_us, all_cores_us;
};

constexpr int kBaselineRuns = 7;

// Times taken before, by "lab/task/case": the same for all submissions of a class, so that load decides no points.
using KnownBaselines = std::map<std::string, BaselineTimes>;
std::string baseline_key(const lab::Problem& problem, const lab::Task& task, const lab::Case& c);

class BaselineTimer {
 public:
  // Times both baselines, after one run each that is not timed, until there are `runs` times of each. Times taken by an earlier
  // call, for this task or one that computes the same, count.
  BaselineTimes time(const lab::Problem& problem, const lab::Task& task, const lab::Case& c,
                     std::uint64_t seed, int runs = kBaselineRuns);

 private:
  struct Known {
    std::uint64_t digest;  // of the one-thread baseline's outputs
    BaselineTimes times;
  };
  std::map<std::string, std::vector<Known>> known_;
};

}  // namespace course::grader
