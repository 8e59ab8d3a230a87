// SPDX-License-Identifier: MIT
// CPU baselines, on one thread, timed in this process on items like those of the speedup case. No other work
// of the grader may run at that time. Tasks with the same case, shape and result share the times. Other
// activity on the machine can only increase a time, even CPU time (cold caches after a context switch, a
// shared core, new pages). So the lowest time counts, and the runs are repeated until the lowest times agree.
// The times are then kept for this machine and build.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "lab/problem.hpp"
#include "verifier/request.hpp"

namespace course::grader {

// 0 if there are no values.
double median(std::vector<double> values);
// The median absolute deviation from the median.
double spread(const std::vector<double>& values);

constexpr int kBaselineRuns = 25;
// The inputs of baselines are always the same, so that the seed of a run does not influence its points.
constexpr std::uint64_t kBaselineSeed = 0xba5e;

// The time that counts: the lowest; 0 if there is none.
double lowest(const std::vector<double>& times);
// Whether the three lowest times are within 2 % (plus 20 µs) and one of this size was reached in the first
// half of the runs.
bool is_stable(const std::vector<double>& times);

// Times measured earlier, by "lab/task/case". They are the same for all submissions of a class, so that the
// machine's load does not influence points.
using KnownBaselines = std::map<std::string, std::vector<double>>;
std::string baseline_key(const lab::Problem& problem, const lab::Task& task, const lab::Case& c);

// The recorded times that count instead of measured ones: on the simulator only. nullptr if there are none.
const lab::CpuTime* recorded_cpu_time(const lab::Problem& problem, const lab::Task& task, const lab::Case& c,
                                      lab::DeviceKind device);

// The folder in which times are kept between runs: in the user's cache, which sandboxes cannot see. "" if
// there is none.
std::string kept_baselines_folder();

class BaselineTimer {
 public:
  // `kept_in`: a folder with one file per machine and build; "" for none. A file that other users may write
  // is ignored. `before_timing`: called before the CPU is timed; waits until nothing else runs.
  explicit BaselineTimer(const std::string& kept_in = "", std::function<void()> before_timing = nullptr);
  // Writes new stable times to the file.
  void keep() const;

  // Times the baseline after one untimed run: at least `runs` times, and until the times are stable, for at
  // most kMaxSeconds. Times of earlier calls for this task, or for one that computes the same, are included;
  // nothing is added to times from the file.
  static constexpr double kMaxSeconds = 5;
  std::vector<double> time(const lab::Problem& problem, const lab::Task& task, const lab::Case& c,
                           std::uint64_t seed, int runs = kBaselineRuns);

 private:
  struct Known {
    std::uint64_t digest;  // of the outputs
    std::vector<double> us;
    std::set<std::string, std::less<>> tasks;  // that are known to compute this
    bool kept = false;
  };
  std::map<std::string, std::vector<Known>> known_;
  std::string file_;      // "" for none
  bool changed_ = false;  // since it was read
  std::function<void()> before_timing_;
};

}  // namespace course::grader
