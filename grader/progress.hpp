// SPDX-License-Identifier: MIT
// Shows what is being done if it takes longer than two seconds: on a terminal one line that is redrawn,
// elsewhere a line every 15 seconds. Thread-safe; the destructor removes a terminal's line.
// Only the outermost Progress of the process draws. One that begins while another exists adds its text to
// that one's line until it ends, so a function that may wait can always have one of its own.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace course::grader {

class Progress {
 public:
  enum class Form : unsigned char {
    silent,  // also of those that begin inside
    redrawn,
    log,
  };
  // What suits stderr.
  static Form form_here();

  explicit Progress(Form form = form_here());
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `phase`: for example "Building". `n_steps`: its number of steps; 0 if unknown.
  void begin(const std::string& phase, std::size_t n_steps);
  // Starts a step.
  void step(const std::string& what);
  // Removes steps that will not be run.
  void skip(std::size_t n_steps);
  // How far the step is; "" if nothing is known.
  void detail(const std::string& text);

 private:
  void draw_until_stopped();
  void draw() const;
  std::string text() const;  // without the time

  const Form form_;
  Progress* const outer_;  // the one that draws; nullptr if it is this one
  const std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  mutable std::mutex mutex_;
  std::condition_variable stopped_;
  bool stop_ = false;
  std::string phase_, what_, detail_;
  std::size_t n_steps_ = 0, n_done_ = 0;
  std::thread painter_;
};

}  // namespace course::grader
