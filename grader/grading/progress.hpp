// SPDX-License-Identifier: MIT
// One line on the terminal that shows what is being done if it takes longer than two seconds. Prints nothing
// if the stream is not a terminal. Thread-safe; the destructor removes the line.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace course::grader {

class Progress {
 public:
  explicit Progress(bool enabled);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `phase`: for example "Building". `n_steps`: its number of steps; 0 if unknown.
  void begin(const std::string& phase, std::size_t n_steps);
  // Starts a step.
  void step(const std::string& what);
  // Removes steps that will not be run.
  void skip(std::size_t n_steps);

 private:
  void draw_until_stopped();
  void draw() const;

  const bool enabled_;
  const std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  mutable std::mutex mutex_;
  std::condition_variable stopped_;
  bool stop_ = false;
  std::string phase_, what_;
  std::size_t n_steps_ = 0, n_done_ = 0;
  std::thread painter_;
};

// Whether stderr is a terminal that can redraw a line.
bool stderr_is_terminal();

}  // namespace course::grader
