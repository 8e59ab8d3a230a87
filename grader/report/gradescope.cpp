// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "report/edition.hpp"
#include "report/formats.hpp"
#include "text.hpp"

namespace course::grader {
namespace {

using nlohmann::json;

// The text that students see for a task.
std::string output_of(const TaskResult& task) {
  std::string out = std::string(lab::name_of(task.verdict)) + "\n";
  if (!task.message.empty()) out += task.message + "\n";
  if (task.speedup) {
    out += fmt::format("speedup: {:.3g}{}\n", *task.speedup,
                       task.timing && task.timing->modelled ? " (modelled)" : "");
  }
  if (!task.section.empty()) out += "read: " + task.section + "\n";
  return tame(out);
}

json test_of(const TaskResult& task, const std::string& lab, const std::string& number) {
  return {{"name", tame(lab + ": " + task.title + (task.bonus ? " (bonus)" : ""))},
          {"number", number},
          {"score", task.points},
          {"max_score", task.max_points},
          {"status", task.verdict == lab::Verdict::ok ? "passed" : "failed"},
          {"output", output_of(task)},
          {"output_format", "text"},
          {"visibility", "visible"}};
}

std::string for_instructors(const RunResult& result) {
  std::string out = fmt::format("device: {}\nisolation: {} ({})\ncommit: {}\nseed: {}\nstarted: {}\n",
                                result.device, result.isolation, fmt::join(result.isolation_parts, ", "),
                                result.commit, seed_text(result), result.started);
  for (const LabResult& lab : result.labs) {
    for (const TaskResult& task : lab.tasks) {
      if (!task.message.empty()) out += fmt::format("\n{} / {}\n{}\n", lab.id, task.id, task.message);
    }
  }
  return tame(out);
}

}  // namespace

std::string to_gradescope(const RunResult& result) {
  const RunResult shown = for_students(result);
  json tests = json::array();
  int score = 0, bonus = 0;  // the bonus is never part of the score
  // Gradescope adds up the tests' scores where there is no total, so neither may be there.
  const bool infra = has_infra(shown);
  for (std::size_t i = 0; i < shown.labs.size(); ++i) {
    const LabResult& lab = shown.labs[i];
    score += lab.points;
    bonus += lab.bonus_points;
    for (std::size_t k = 0; k < lab.tasks.size(); ++k) {
      json test = test_of(lab.tasks[k], lab.title, fmt::format("{}.{}", i + 1, k + 1));
      if (infra) {
        for (const char* name : {"score", "max_score", "status"}) test.erase(name);
      }
      tests.push_back(std::move(test));
    }
  }
  if (!result.for_students) {
    tests.push_back({{"name", "For instructors"},
                     {"output", for_instructors(result)},
                     {"output_format", "text"},
                     {"visibility", "hidden"}});
  }
  std::string output = fmt::format("Graded on: {}{}.\n", shown.device,
                                   shown.modelled ? ", a simulated device: times are modelled" : "");
  if (infra)
    output +=
        "There is no score: INFRA is a fault of the grader, not of your file. Your instructor can grade it "
        "again.\n";
  if (!infra && bonus > 0) output += fmt::format("Bonus, beside the score: {} points.\n", bonus);
  json out = {{"output", tame(output)},
              {"output_format", "text"},
              {"visibility", "visible"},
              {"stdout_visibility", "hidden"},
              {"tests", tests}};
  if (!infra) out["score"] = score;
  if (std::isfinite(shown.seconds) && shown.seconds >= 0 && shown.seconds < 1e9)
    out["execution_time"] = std::llround(shown.seconds);
  return out.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace course::grader
