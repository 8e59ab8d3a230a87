// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "page/markup.hpp"
#include "report/edition.hpp"
#include "report/formats.hpp"
#include "text.hpp"

namespace course::grader {
namespace {

using nlohmann::json;

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k)
      out += k <= bytes.size() - i ? kDigits[group >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

// The line of the lab's file that a message mentions first: "reduction.cu:12" or "reduction.cu(12)"; 0 if
// there is none.
unsigned line_named(const std::string& message, const std::string& file) {
  for (std::size_t at = message.find(file); at != std::string::npos; at = message.find(file, at + 1)) {
    std::size_t i = at + file.size();
    if (i >= message.size() || (message[i] != ':' && message[i] != '(')) continue;
    unsigned line = 0;
    for (++i; i < message.size() && message[i] >= '0' && message[i] <= '9' && line < 1'000'000; ++i)
      line = 10 * line + static_cast<unsigned>(message[i] - '0');
    if (line != 0) return line;
  }
  return 0;
}

// Escapes the characters that would end a workflow command or its property.
std::string in_command(std::string_view text, bool property) {
  std::string out;
  for (const char c : text) {
    const bool special = c == '%' || c == '\r' || c == '\n' || (property && (c == ':' || c == ','));
    out += special ? fmt::format("%{:02X}", static_cast<unsigned>(c)) : std::string(1, c);
  }
  return out;
}

}  // namespace

std::string to_classroom(const RunResult& result) {
  const RunResult shown = for_students(result);
  json tests = json::array();
  const bool infra = has_infra(shown);  // then a sum of the scores would be too low
  int max_score = 0;
  bool all_ok = true;
  for (const LabResult& lab : shown.labs) {
    max_score += lab.max_points;
    for (const TaskResult& task : lab.tasks) {
      const bool ok = task.verdict == lab::Verdict::ok;
      all_ok = all_ok && (ok || task.bonus);
      const double milliseconds = std::isfinite(task.seconds) ? 1000 * task.seconds : 0;
      const bool fault = task.verdict == lab::Verdict::infra;
      tests.push_back({{"name", tame(lab.title + ": " + task.title)},
                       {"status", ok      ? "pass"
                                  : fault ? "error"
                                          : "fail"},
                       {"message", tame(task.message)},
                       {"test_code", fmt::format("./lab grade {} --task {}", lab.id, task.id)},
                       {"filename", fmt::format("labs/{0}/{0}.cu", lab.id)},
                       {"line_no", line_named(task.message, lab.id + ".cu")},
                       {"execution_time", fmt::format("{:.0f}ms", milliseconds)}});
      if (!infra) tests.back()["score"] = task.points;
    }
  }
  json out = {{"version", 1}, {"status", infra ? "error" : all_ok ? "pass" : "fail"}, {"tests", tests}};
  if (!infra) out["max_score"] = max_score;
  return base64(out.dump(-1, ' ', false, json::error_handler_t::replace)) + "\n";
}

std::string to_step_summary(const RunResult& result) {
  const RunResult shown = for_students(result);
  std::string out;
  for (const LabResult& lab : shown.labs) {
    const std::string points =
        fmt::format("{} of {} points{}", lab.points, lab.max_points,
                    lab.bonus_points > 0 ? fmt::format(", bonus {}", lab.bonus_points) : "");
    out += fmt::format("<h3>{}: {}</h3>\n\n", escape_markup(tame_line(lab.title)),
                       has_infra(lab) ? "not graded completely" : points);
    out += "<table><tr><th>task</th><th>verdict</th><th>points</th><th>speedup</th></tr>\n";
    for (const TaskResult& task : lab.tasks) {
      const bool fault = task.verdict == lab::Verdict::infra;
      out += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                         escape_markup(tame_line(task.title)), lab::name_of(task.verdict),
                         fault ? "no points" : fmt::format("{} / {}", task.points, task.max_points),
                         task.speedup ? fmt::format("{:.3g}", *task.speedup) : "");
    }
    out += "</table>\n\n";
    for (const TaskResult& task : lab.tasks) {
      if (task.message.empty() || task.verdict == lab::Verdict::not_implemented) continue;
      // On one line, because an empty line would end the HTML block and start Markdown.
      std::string message = escape_markup(tame(task.message));
      for (std::size_t at = 0; (at = message.find('\n', at)) != std::string::npos;)
        message.replace(at, 1, "&#10;");
      out += fmt::format("<details><summary>{}: {}</summary><pre>{}</pre></details>\n\n",
                         escape_markup(tame_line(task.title)), lab::name_of(task.verdict), message);
    }
  }
  out += fmt::format("<p>{}{}</p>\n", escape_markup(tame_line(shown.device)),
                     shown.modelled ? ": speedups are modelled" : "");
  return out;
}

std::string to_annotations(const RunResult& result) {
  const RunResult shown = for_students(result);
  std::string out;
  for (const LabResult& lab : shown.labs) {
    for (const TaskResult& task : lab.tasks) {
      if (task.verdict == lab::Verdict::ok || task.verdict == lab::Verdict::not_implemented) continue;
      const std::string file = fmt::format("labs/{0}/{0}.cu", lab.id);
      const unsigned line = line_named(task.message, lab.id + ".cu");
      const std::string title = fmt::format("{}: {}", tame_line(task.title), lab::name_of(task.verdict));
      out += fmt::format("::error file={}{},title={}::{}\n", in_command(file, true),
                         line > 0 ? fmt::format(",line={}", line) : "", in_command(title, true),
                         in_command(tame(task.message), false));
    }
  }
  return out;
}

}  // namespace course::grader
