// SPDX-License-Identifier: MIT
// The times of equal runs, and when there are enough of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace course::lab {

class Times {
 public:
  void add(double us) { us_.insert(std::upper_bound(us_.begin(), us_.end(), us), us); }
  std::size_t size() const { return us_.size(); }
  // In microseconds. There must be at least one time.
  double lowest() const { return us_.front(); }
  double highest() const { return us_.back(); }
  double median() const { return us_[us_.size() / 2]; }
  double sum() const {
    double all = 0;
    for (const double us : us_) all += us;
    return all;
  }

  // Width of the median's 95 % confidence interval, as a share of the median. The interval reaches from one
  // order statistic to another: about as many of n times lie below the true median as heads fall in n tosses.
  // Source: J. Boudec, "Performance Evaluation of Computer and Communication Systems" (2010), section 2.2.2.
  double spread() const {
    const auto n = static_cast<double>(us_.size());
    const double half = 0.98 * std::sqrt(n);  // 1.96 standard deviations of the number of heads
    const auto from = static_cast<std::size_t>(std::max(0.0, std::floor(n / 2 - half)));
    const auto to = std::min(us_.size() - 1, static_cast<std::size_t>(std::ceil(n / 2 + half)));
    return (us_[to] - us_[from]) / median();
  }
  bool are_enough() const {
    constexpr std::size_t kFewest = 15;
    constexpr double kSpread = 0.01;
    return us_.size() >= kFewest && spread() <= kSpread;
  }

 private:
  std::vector<double> us_;  // ascending
};

}  // namespace course::lab
