// SPDX-License-Identifier: MIT
#include "build.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "build_config.hpp"
#include "process.hpp"
#include "text.hpp"

namespace course::grader {
namespace {

using lab::Verdict;

constexpr std::size_t kMaxErrors = 3;
constexpr std::size_t kMaxLines = 24;

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

// "[3/9] Compiling …": ninja's line before each command's output.
bool is_progress(std::string_view line) {
  if (line.size() < 5 || line[0] != '[') return false;
  const std::size_t slash = line.find('/');
  const std::size_t close = line.find(']');
  if (slash == std::string_view::npos || close == std::string_view::npos || slash > close) return false;
  return std::all_of(line.begin() + 1, line.begin() + static_cast<std::ptrdiff_t>(slash),
                     [](char c) { return c >= '0' && c <= '9'; });
}

bool is_error_line(std::string_view line) {
  // nvcc's front end says "file(12): error: …" or "file(12): error #20: …"; g++ and the linkers ": error: ",
  // "undefined reference", "multiple definition"; ptxas "ptxas fatal   : …".
  for (const std::string_view mark :
       {": error", ": fatal error", "fatal   :", "error   :", "undefined reference", "multiple definition",
        "catastrophic error", "No such file"}) {
    if (line.find(mark) != std::string_view::npos) return true;
  }
  return false;
}

std::string tail_lines(std::string_view text, std::size_t n) {
  const std::vector<std::string_view> lines = lines_of(text);
  const std::size_t first = lines.size() > n ? lines.size() - n : 0;
  std::string out;
  for (std::size_t i = first; i < lines.size(); ++i) out += std::string(lines[i]) + "\n";
  return out;
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  if (from.empty()) return;
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

}  // namespace

std::vector<FailedEdge> failed_edges(std::string_view ninja_output) {
  std::vector<FailedEdge> edges;
  bool in_failed = false;
  bool command_line = false;  // the line after FAILED repeats the command
  for (const std::string_view line : lines_of(ninja_output)) {
    if (line.starts_with("FAILED: ")) {
      std::string_view target = line.substr(8);
      // Newer versions say "FAILED: [code=1] target".
      if (target.starts_with("[code=")) target.remove_prefix(std::min(target.find(' ') + 1, target.size()));
      target = target.substr(0, target.find(' '));
      edges.push_back({std::string(target), ""});
      in_failed = true;
      command_line = true;
      continue;
    }
    if (is_progress(line) || line.starts_with("ninja: ")) {
      in_failed = false;
      continue;
    }
    if (command_line) {
      command_line = false;
      continue;
    }
    if (in_failed) edges.back().output += std::string(line) + "\n";
  }
  return edges;
}

std::string first_errors(std::string_view compiler_output, std::size_t limit) {
  const std::vector<std::string_view> lines = lines_of(compiler_output);
  std::string out;
  std::size_t n_errors = 0;
  bool showing = false;
  for (const std::string_view line : lines) {
    const bool error = is_error_line(line);
    if (error && ++n_errors > limit) break;
    // Warnings between errors are not what stops the build.
    if (!error && line.find("warning") != std::string_view::npos) showing = false;
    if (error) showing = true;
    if (showing && !line.empty()) out += std::string(line) + "\n";
  }
  if (n_errors == 0) out = std::string(compiler_output);
  out = first_lines(out, kMaxLines);
  while (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

std::string shorten_paths(std::string text, const Layout& layout) {
  std::error_code ignored;
  const std::string from_build = std::filesystem::relative(layout.root, layout.build, ignored).string();
  replace_all(text, layout.build + "/", "");
  replace_all(text, layout.root + "/", "");
  if (!from_build.empty() && from_build.starts_with("..")) replace_all(text, from_build + "/", "");
  return text;
}

std::map<std::string, BuildOutcome> judge_build(std::span<const std::string> labs, bool solutions,
                                                int exit_code, std::string_view ninja_output,
                                                const Layout& layout) {
  std::map<std::string, BuildOutcome> outcomes;
  if (exit_code == 0) {
    for (const std::string& lab : labs) outcomes[lab] = {Verdict::ok, ""};
    return outcomes;
  }
  const std::vector<FailedEdge> edges = failed_edges(ninja_output);
  const auto folder = [&](const std::string& lab) {
    return fmt::format("{}/{}/", solutions ? "solutions" : "labs", lab);
  };
  std::string not_ours;  // what failed outside of all these labs
  for (const FailedEdge& edge : edges) {
    const bool ours = std::any_of(labs.begin(), labs.end(), [&](const std::string& lab) {
      return edge.target.starts_with(folder(lab));
    });
    if (!ours) not_ours += edge.target + "\n" + first_errors(edge.output, 1) + "\n";
  }
  if (edges.empty()) not_ours = tail_lines(ninja_output, 12);
  for (const std::string& lab : labs) {
    std::string own;
    for (const FailedEdge& edge : edges) {
      if (edge.target.starts_with(folder(lab))) own += edge.output;
    }
    const bool failed = std::any_of(edges.begin(), edges.end(), [&](const FailedEdge& edge) {
      return edge.target.starts_with(folder(lab));
    });
    if (failed) {
      outcomes[lab] = {Verdict::compile_error, tame(shorten_paths(first_errors(own, kMaxErrors), layout))};
    } else if (!not_ours.empty()) {
      outcomes[lab] = {Verdict::infra, "The course's own code did not build:\n" +
                                           tame(shorten_paths(first_lines(not_ours, kMaxLines), layout))};
    } else {
      outcomes[lab] = {Verdict::ok, ""};
    }
  }
  return outcomes;
}

std::map<std::string, BuildOutcome> build_runners(const Layout& layout, std::span<const std::string> labs,
                                                  const BuildOptions& options) {
  std::map<std::string, BuildOutcome> outcomes;
  const auto all = [&](Verdict verdict, const std::string& message) {
    for (const std::string& lab : labs) outcomes[lab] = {verdict, message};
    return outcomes;
  };
  // -k 0: one lab's error must not keep the others from being built.
  std::vector<std::string> command{
      "ninja", "-C", layout.build, "-k", "0", "-j", std::to_string(options.jobs)};
  for (const std::string& lab : labs) command.push_back(Layout::runner_target(lab, options.solutions));
  if (*kSimulatorTarget != '\0') command.emplace_back(kSimulatorTarget);
  ProcessOptions process;
  process.seconds = options.seconds;
  process.environment = {"NINJA_STATUS=[%f/%t] ", "CLICOLOR_FORCE=0", "LC_ALL=C.UTF-8"};
  const Result<ProcessResult> done = run_process(command, process);
  if (!done) return all(Verdict::infra, done.error().text + " Run ./lab doctor to see what is missing.");
  if (done->timed_out) {
    return all(Verdict::compile_error,
               fmt::format("Compiling took longer than {:.0f} s and was stopped.", options.seconds));
  }
  return judge_build(labs, options.solutions, done->exit_code, done->output, layout);
}

}  // namespace course::grader
