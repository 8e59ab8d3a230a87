// SPDX-License-Identifier: MIT
// Elapsed time and deadlines, measured with the monotonic clock.
#pragma once

#include <algorithm>
#include <chrono>

namespace course {

class Stopwatch {
 public:
  double microseconds() const {
    return std::chrono::duration<double, std::micro>(Clock::now() - start_).count();
  }
  double seconds() const { return microseconds() * 1e-6; }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

class Deadline {
 public:
  explicit Deadline(double seconds)
      : end_(Clock::now() +
             std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))) {}
  bool passed() const { return Clock::now() >= end_; }
  // The time left for poll(): milliseconds, rounded up, at most one hour; 0 once the deadline has passed.
  int milliseconds_left() const {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end_ - Clock::now()).count();
    return static_cast<int>(std::clamp<long long>(left, 0, 3'600'000));
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point end_;
};

}  // namespace course
