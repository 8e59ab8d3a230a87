// SPDX-License-Identifier: MIT
#include "grading/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "text.hpp"

namespace course::grader {
namespace {
constexpr std::chrono::milliseconds kQuietAtFirst{2000};
constexpr std::chrono::milliseconds kRedraw{200};
constexpr std::size_t kColumns = 79;
}  // namespace

Progress::Progress(bool enabled) : enabled_(enabled) {
  if (enabled_) painter_ = std::thread([this] { draw_until_stopped(); });
}

Progress::~Progress() {
  if (!enabled_) return;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  stopped_.notify_all();
  painter_.join();
}

void Progress::begin(const std::string& phase, std::size_t n_steps) {
  const std::lock_guard lock(mutex_);
  phase_ = phase;
  what_.clear();
  n_steps_ = n_steps;
  n_done_ = 0;
}

void Progress::step(const std::string& what) {
  const std::lock_guard lock(mutex_);
  what_ = what;
  if (n_done_ < n_steps_) ++n_done_;
}

void Progress::skip(std::size_t n_steps) {
  const std::lock_guard lock(mutex_);
  n_done_ = std::min(n_steps_, n_done_ + n_steps);
}

void Progress::draw() const {
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
  const std::string count = n_steps_ == 0 ? "" : fmt::format(" [{}/{}]", n_done_, n_steps_);
  const std::string line = fmt::format("{}{} {:.0f} s  {}", phase_, count, seconds, tame(what_));
  std::fputs(("\r" + fit_left(line, kColumns)).c_str(), stderr);
  std::fflush(stderr);
}

void Progress::draw_until_stopped() {
  std::unique_lock lock(mutex_);
  if (stopped_.wait_for(lock, kQuietAtFirst, [this] { return stop_; })) return;
  do {
    draw();
  } while (!stopped_.wait_for(lock, kRedraw, [this] { return stop_; }));
  std::fputs(("\r" + std::string(kColumns, ' ') + "\r").c_str(), stderr);
  std::fflush(stderr);
}

bool stderr_is_terminal() {
  const char* term = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && term != nullptr && std::string_view(term) != "dumb";
}

}  // namespace course::grader
