// SPDX-License-Identifier: MIT
#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "text.hpp"

namespace course::grader {
namespace {

constexpr std::chrono::milliseconds kQuietAtFirst{2000};
constexpr std::chrono::milliseconds kRedraw{200};
constexpr std::chrono::milliseconds kBetweenLines{15000};
constexpr std::size_t kColumns = 79;

std::atomic<Progress*> outermost = nullptr;

Progress* one_outside(Progress* self) {
  Progress* other = nullptr;
  return outermost.compare_exchange_strong(other, self) ? nullptr : other;
}

}  // namespace

Progress::Progress(Form form) : form_(form), outer_(one_outside(this)) {
  if (outer_ == nullptr && form_ != Form::silent) painter_ = std::thread([this] { draw_until_stopped(); });
}

Progress::~Progress() {
  if (outer_ != nullptr) {
    outer_->detail("");
    return;
  }
  outermost = nullptr;
  if (!painter_.joinable()) return;
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
  detail_.clear();
  n_steps_ = n_steps;
  n_done_ = 0;
  if (outer_ != nullptr) outer_->detail(text());
}

void Progress::step(const std::string& what) {
  const std::lock_guard lock(mutex_);
  what_ = what;
  detail_.clear();
  if (n_done_ < n_steps_) ++n_done_;
  if (outer_ != nullptr) outer_->detail(text());
}

void Progress::skip(std::size_t n_steps) {
  const std::lock_guard lock(mutex_);
  n_done_ = std::min(n_steps_, n_done_ + n_steps);
}

void Progress::detail(const std::string& text_of_step) {
  const std::lock_guard lock(mutex_);
  detail_ = text_of_step;
  if (outer_ != nullptr) outer_->detail(text());
}

std::string Progress::text() const {
  const std::string count = n_steps_ == 0 ? "" : fmt::format(" [{}/{}]", n_done_, n_steps_);
  return fmt::format("{}{}{}{}{}{}", phase_, count, what_.empty() ? "" : "  ", what_,
                     detail_.empty() ? "" : ": ", detail_);
}

void Progress::draw() const {
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
  const std::string line = fit_left(
      fmt::format("{}{:.0f} s  {}", form_ == Form::log ? "lab: " : "", seconds, tame(text())), kColumns);
  std::fputs(
      (form_ == Form::log ? line.substr(0, line.find_last_not_of(' ') + 1) + "\n" : "\r" + line).c_str(),
      stderr);
  std::fflush(stderr);
}

void Progress::draw_until_stopped() {
  const bool log = form_ == Form::log;
  std::unique_lock lock(mutex_);
  if (stopped_.wait_for(lock, log ? kBetweenLines : kQuietAtFirst, [this] { return stop_; })) return;
  do {
    draw();
  } while (!stopped_.wait_for(lock, log ? kBetweenLines : kRedraw, [this] { return stop_; }));
  if (log) return;
  std::fputs(("\r" + std::string(kColumns, ' ') + "\r").c_str(), stderr);
  std::fflush(stderr);
}

Progress::Form Progress::form_here() {
  const char* term = std::getenv("TERM");
  const bool redraws = isatty(STDERR_FILENO) != 0 && term != nullptr && std::string_view(term) != "dumb";
  return redraws ? Form::redrawn : Form::log;
}

}  // namespace course::grader
