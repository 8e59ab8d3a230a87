// SPDX-License-Identifier: MIT
// CPU baselines, timed in this process on items like those of the speedup case: one thread and all cores.
// Nothing else of ours may run while they are timed. Tasks that share a case, its shape and its result share the times.
// What else the machine does only ever adds to a time, also to the processor's (cold caches after a switch, a shared core, fresh
// pages), so the lowest counts, and it is repeated until the lowest ones agree. Then it is kept: once a machine and build.
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

constexpr int kBaselineRuns = 25;
// The inputs of baselines are always the same, so that the seed of a run decides nothing about its points.
constexpr std::uint64_t kBaselineSeed = 0xba5e;

// What counts of them: the lowest. 0 when there is none.
double lowest(const std::vector<double>& times);
// Whether the three lowest lie within 2 %, and the later half of the runs brought none lower than that.
bool is_stable(const std::vector<double>& times);

// Times taken before, by "lab/task/case": the same for all submissions of a class, so that load decides no points.
using KnownBaselines = std::map<std::string, BaselineTimes>;
std::string baseline_key(const lab::Problem& problem, const lab::Task& task, const lab::Case& c);

// Where times are kept between runs: in the user's own cache, which no sandbox shows. "" where there is none.
std::string kept_baselines_folder();

class BaselineTimer {
 public:
  // `kept_in`: a folder of files, one a machine and build; "" for none. A file that others may write counts as missing.
  explicit BaselineTimer(const std::string& kept_in = "");
  // Puts the stable times that are new into the file.
  void keep() const;

  // Times both baselines, after one run each that is not timed: `runs` times of each, and more until the one thread's are
  // stable, at most for kMostSeconds. Times taken by an earlier call, for this task or one that computes the same, count;
  // those that are kept are not added to.
  static constexpr double kMostSeconds = 5;
  BaselineTimes time(const lab::Problem& problem, const lab::Task& task, const lab::Case& c,
                     std::uint64_t seed, int runs = kBaselineRuns);

 private:
  struct Known {
    std::uint64_t digest;  // of the one-thread baseline's outputs
    BaselineTimes times;
    bool kept = false;
  };
  std::map<std::string, std::vector<Known>> known_;
  std::string file_;  // "" for none
};

}  // namespace course::grader
