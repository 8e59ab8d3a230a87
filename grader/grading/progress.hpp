// SPDX-License-Identifier: MIT
// One line on a terminal that says what is going on, for whatever takes longer than two seconds. Silent when
// the stream is no terminal. Thread-safe; the line is gone when the Progress is.
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

  // "Building", and how many steps it has; 0 when that is not known.
  void begin(const std::string& phase, std::size_t n_steps);
  // A step that begins now.
  void step(const std::string& what);
  // Steps that will not be run after all.
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

// True when stderr is a terminal that can redraw a line.
bool stderr_is_terminal();

}  // namespace course::grader
