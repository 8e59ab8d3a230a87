// SPDX-License-Identifier: MIT
#include "testing/submission.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "screen/screen.hpp"

namespace course::grader::testing {

std::optional<lab::Verdict> verdict_named(std::string_view name) {
  for (const lab::VerdictRow& row : lab::kVerdicts)
    if (row.name == name) return row.verdict;
  return std::nullopt;
}

Result<Submission> parse_submission(std::string_view text, std::string name) {
  Submission out;
  out.name = std::move(name);
  Expectation single;
  bool has_verdict = false;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line) && line.starts_with("// ");) {
    const std::size_t colon = line.find(": ");
    if (colon == std::string::npos) continue;
    const std::string key = line.substr(3, colon - 3);
    const std::string value = line.substr(colon + 2);
    if (key == "about") out.about = value;
    if (key == "task") single.task = value;
    if (key == "screen") out.screen = value;
    if (key == "needs") out.needs = value;
    if (key == "jobs") out.jobs = static_cast<unsigned>(std::max(1, std::atoi(value.c_str())));
    if (key == "checker") single.checker = value;
    if (key == "says") single.says.push_back(value);
    if (key == "reason") {
      std::istringstream words(value);
      for (std::string reason; words >> reason;) single.reasons.push_back(reason);
    }
    if (key == "misses") {
      MissedGoal& goal = out.missed.emplace_back();
      std::istringstream(value) >> goal.task >> goal.metric;
    }
    if (key == "verdict") {
      const auto verdict = verdict_named(value);
      if (!verdict) return Error{fmt::format("{}: there is no verdict {}", out.name, value)};
      single.verdict = *verdict;
      has_verdict = true;
    }
    if (key == "expect") {
      std::istringstream words(value);
      Expectation expectation;
      std::string verdict_name, says;
      words >> expectation.task >> verdict_name;
      const auto verdict = verdict_named(verdict_name);
      if (!verdict) return Error{fmt::format("{}: there is no verdict {}", out.name, verdict_name)};
      expectation.verdict = *verdict;
      if (std::getline(words >> std::ws, says) && !says.empty()) expectation.says.push_back(says);
      out.expected.push_back(std::move(expectation));
    }
  }
  if (!single.task.empty() && has_verdict) out.expected.push_back(std::move(single));
  if (out.about.empty() || (out.expected.empty() && out.screen.empty())) {
    return Error{fmt::format("{}: the header needs about, and task and verdict, expect or screen", out.name)};
  }
  for (const MissedGoal& goal : out.missed) {
    const bool graded = std::any_of(out.expected.begin(), out.expected.end(),
                                    [&](const Expectation& one) { return one.task == goal.task; });
    if (!graded) return Error{fmt::format("{}: nothing is expected of task {}", out.name, goal.task)};
  }
  return out;
}

int expect_screened(const Submission& submission, const std::string& folder, const std::string& lab,
                    bool several_devices) {
  std::string message;
  int n_objects = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (!entry.path().string().ends_with(".cu.o")) continue;
    ++n_objects;
    const auto said = screen::screen_object(entry.path().string(), lab, several_devices);
    EXPECT_TRUE(said) << said.error().text;
    if (said) message += said->message;
  }
  if (submission.screen.empty()) {
    EXPECT_EQ(message, "") << "screening must let it pass";
  } else {
    EXPECT_NE(message.find(submission.screen), std::string::npos)
        << "not said by screening: " << submission.screen << "\n"
        << message;
  }
  return n_objects;
}

}  // namespace course::grader::testing
