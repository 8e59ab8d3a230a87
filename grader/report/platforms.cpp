// SPDX-License-Identifier: MIT
// Results in the formats of learning platforms. All of them are the students' edition. A machine fault never
// becomes a score of 0: each platform has a way to say "not graded".
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/edition.hpp"
#include "report/formats.hpp"
#include "text.hpp"

namespace course::grader {
namespace {

using nlohmann::json;

constexpr const char* kNotGraded =
    "Not graded: INFRA is a fault of the grader, not of your file. Your instructor can grade it again.";

bool is_infra(const TaskResult& task) {
  return task.verdict == lab::Verdict::infra;
}

struct Points {
  int given = 0, most = 0;  // without the bonus
};
Points points_of(const RunResult& result) {
  Points sum;
  for (const LabResult& lab : result.labs) {
    sum.given += lab.points;
    sum.most += lab.max_points;
  }
  return sum;
}

std::string one_line(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string to_autolab(const RunResult& result) {
  const RunResult shown = for_students(result);
  json scores = json::object();
  json feedback = {{"_presentation", "semantic"}, {"stages", json::array()}};
  for (const LabResult& lab : shown.labs) {
    const std::string stage = tame_line(lab.title);
    feedback["stages"].push_back(stage);
    for (const TaskResult& task : lab.tasks) {
      json test = {{"passed", task.verdict == lab::Verdict::ok}};
      const std::string said = is_infra(task) ? kNotGraded : tame(task.message);
      if (!said.empty()) test["hint"] = fmt::format("{}: {}", lab::name_of(task.verdict), said);
      feedback[stage][tame_line(task.title)] = test;
      if (!is_infra(task)) scores[fmt::format("{} {}", lab.id, task.id)] = task.points;
    }
  }
  return one_line(feedback) + one_line({{"scores", scores}});
}

std::string to_prairielearn(const RunResult& result) {
  const RunResult shown = for_students(result);
  const Points sum = points_of(shown);
  const bool gradable = !has_infra(shown) && sum.most > 0;
  json tests = json::array();
  for (const LabResult& lab : shown.labs) {
    for (const TaskResult& task : lab.tasks) {
      tests.push_back({{"name", tame_line(lab.title + ": " + task.title + (task.bonus ? " (bonus)" : ""))},
                       {"description", fmt::format("./lab grade {} --task {}", lab.id, task.id)},
                       {"points", task.points},
                       {"max_points", task.max_points},
                       {"message", lab::name_of(task.verdict)},
                       {"output", tame(task.message)}});
    }
  }
  json out = {{"gradable", gradable},
              {"output", tame(shown.device + (shown.modelled ? ": times are modelled\n" : "\n"))},
              {"tests", tests}};
  if (gradable) {
    out["score"] = std::min(1.0, static_cast<double>(sum.given) / sum.most);
    out["message"] = fmt::format("{} of {} points", sum.given, sum.most);
  } else {
    out["format_errors"] = json::array({kNotGraded});
  }
  return out.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string to_vpl(const RunResult& result) {
  const RunResult shown = for_students(result);
  // In a comment, a line with "-" is a title, and one with ">" is preformatted text. Each line of a message
  // gets a ">", so no message can end the comment or set the grade.
  std::string out = "<|--\n";
  for (const LabResult& lab : shown.labs) {
    for (const TaskResult& task : lab.tasks) {
      out += fmt::format("-{}: {}, {} of {} points\n", tame_line(lab.title + ": " + task.title),
                         lab::name_of(task.verdict), task.points, task.max_points);
      const std::string message = is_infra(task) ? kNotGraded : tame(task.message);
      std::size_t from = 0;
      while (from < message.size()) {
        const std::size_t end = std::min(message.find('\n', from), message.size());
        out += fmt::format(">{}\n", std::string_view(message).substr(from, end - from));
        from = end + 1;
      }
    }
  }
  out += "--|>\n";
  if (!has_infra(shown)) out += fmt::format("Grade :=>> {}\n", points_of(shown).given);
  return out;
}

}  // namespace course::grader
