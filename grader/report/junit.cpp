// SPDX-License-Identifier: MIT
#include "report/formats.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "page/markup.hpp"
#include "report/edition.hpp"

namespace course::grader {
namespace {

using lab::Verdict;

bool is_error(const TaskResult& task) {
  return task.verdict == Verdict::infra;
}
bool is_failure(const TaskResult& task) {
  return task.verdict != Verdict::ok && !is_error(task);
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

std::string property(std::string_view name, std::string_view value) {
  return fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", escape_markup(name),
                     escape_markup(value));
}

std::string to_junit(const LabResult& lab, const TaskResult& task) {
  std::string out = fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\">\n",
                                escape_markup(lab.id), escape_markup(task.id), task.seconds);
  out += "      <properties>\n";
  out += "  " + property("points", std::to_string(task.points));
  out += "  " + property("max_points", std::to_string(task.max_points));
  if (task.speedup) out += "  " + property("speedup", fmt::format("{:.4g}", *task.speedup));
  out += "      </properties>\n";
  if (task.verdict != Verdict::ok) {
    out += fmt::format("      <{0} type=\"{1}\" message=\"{2}\">{3}</{0}>\n",
                       is_error(task) ? "error" : "failure", lab::name_of(task.verdict),
                       escape_markup(first_line(task.message)), escape_markup(task.message));
  }
  return out + "    </testcase>\n";
}

}  // namespace

std::string to_junit(const RunResult& result) {
  const auto count = [](const LabResult& lab, bool (*what)(const TaskResult&)) {
    return std::ranges::count_if(lab.tasks, what);
  };
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"gpu-labs\">\n";
  for (const LabResult& lab : result.labs) {
    double seconds = 0;
    for (const TaskResult& task : lab.tasks) seconds += task.seconds;
    out += fmt::format(
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" time=\"{:.3f}\" "
        "timestamp=\"{}\">\n",
        escape_markup(lab.id), lab.tasks.size(), count(lab, is_failure), count(lab, is_error), seconds,
        escape_markup(result.started));
    out += "    <properties>\n";
    out += property("device", result.device);
    out += property("seed", seed_text(result));
    out += property("points", std::to_string(lab.points));
    out += property("max_points", std::to_string(lab.max_points));
    out += "    </properties>\n";
    for (const TaskResult& task : lab.tasks) out += to_junit(lab, task);
    out += "  </testsuite>\n";
  }
  return out + "</testsuites>\n";
}

}  // namespace course::grader
