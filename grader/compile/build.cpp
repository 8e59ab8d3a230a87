// SPDX-License-Identifier: MIT
#include "compile/build.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <thread>

#include "compile/compile_file.hpp"
#include "compile/diagnostics.hpp"
#include "compile/recipe.hpp"
#include "compile/run_folder.hpp"
#include "process.hpp"
#include "progress.hpp"
#include "text.hpp"

namespace course::grader {
namespace {

using lab::Verdict;
namespace fs = std::filesystem;

// Only regular files are accepted: a link could lead anywhere, and reading a pipe might never end.
BuildOutcome ingest(const Layout& layout, const std::string& lab) {
  const std::string source = fmt::format("labs/{0}/{0}.cu", lab);
  std::error_code failed;
  const auto status = fs::symlink_status(layout.root + "/" + source, failed);
  if (!fs::exists(status))
    return {Verdict::compile_error, fmt::format("{} is not there, so there is nothing to compile", source)};
  if (!fs::is_regular_file(status))
    return {Verdict::policy,
            fmt::format("{} is not a plain file: hand in the file itself, no link and nothing else", source)};
  if (fs::file_size(layout.root + "/" + source, failed) > kMaxSource)
    return {Verdict::policy, fmt::format("{} is larger than {} KiB", source, kMaxSource / 1024)};
  return {Verdict::ok, ""};
}

BuildOutcome build_student(const Layout& layout, const std::string& lab, const BuildOptions& options) {
  if (BuildOutcome ingested = ingest(layout, lab); ingested.verdict != Verdict::ok) return ingested;
  const auto folder = run_folder(layout);
  if (!folder) return {Verdict::infra, folder.error().text};
  const auto recipe = recipe_for(layout, lab);
  if (!recipe) return {Verdict::infra, recipe.error().text + " Run ./lab doctor to see what is missing."};
  return compile_file(layout, *recipe, lab, fmt::format("{0}/labs/{1}/{1}.cu", layout.root, lab),
                      *folder + "/" + lab, options);
}

BuildOutcome build_solution(const Layout& layout, const std::string& lab, const BuildOptions& options) {
  const auto done = run_ninja(layout, {Layout::solution_target(lab)}, options.seconds);
  if (done) return {Verdict::ok, ""};
  return {Verdict::infra, fmt::format("solutions/{} did not build:\n{}", lab, done.error().text)};
}

}  // namespace

std::string shorten_paths(std::string text, const Layout& layout) {
  std::error_code ignored;
  const std::string from_build = fs::relative(layout.root, layout.build, ignored).string();
  replace_all(text, layout.build + "/", "");
  replace_all(text, layout.root + "/", "");
  if (!from_build.empty() && from_build.starts_with("..")) replace_all(text, from_build + "/", "");
  return text;
}

Result<void> run_ninja(const Layout& layout, std::vector<std::string> arguments, double seconds) {
  arguments.insert(arguments.begin(), {"ninja", "-C", layout.build});
  ProcessOptions how;
  how.seconds = seconds;
  how.environment = {"CLICOLOR_FORCE=0", "LC_ALL=C.UTF-8"};
  Progress progress;
  progress.begin("building", 0);
  how.on_line = [&](std::string_view line) { progress.detail(std::string(line)); };
  const BuildLock alone(layout);
  const auto done = run_process(arguments, how);
  if (!done) return Error{done.error().text + " Run ./lab doctor to see what is missing."};
  if (done->timed_out)
    return Error{fmt::format("Building took longer than {:.0f} s and was stopped.", seconds)};
  if (done->exit_code != 0) return Error{tame(shorten_paths(first_errors(done->output, kMaxErrors), layout))};
  return {};
}

Result<std::string> runner_of(const Layout& layout, const std::string& lab, bool solutions) {
  if (solutions) return layout.solution_runner(lab);
  auto folder = run_folder(layout);
  return folder ? Result<std::string>(*folder + "/" + lab + "/runner") : folder.error();
}

std::map<std::string, BuildOutcome> build_runners(const Layout& layout, std::span<const std::string> labs,
                                                  const BuildOptions& options) {
  std::map<std::string, BuildOutcome> outcomes;
  for (const std::string& lab : labs) outcomes[lab];
  if (options.solutions) {
    std::vector<std::string> targets{"-k", "0"};
    for (const std::string& lab : labs) targets.push_back(Layout::solution_target(lab));
    const bool all = static_cast<bool>(run_ninja(layout, targets, options.seconds));
    for (auto& [lab, outcome] : outcomes)
      outcome = all ? BuildOutcome{Verdict::ok, ""} : build_solution(layout, lab, options);
    return outcomes;
  }
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < labs.size(); i = next++)
      outcomes.at(labs[i]) = build_student(layout, labs[i], options);
  };
  std::vector<std::thread> workers;
  for (std::size_t i = 1; i < std::min<std::size_t>(options.jobs, labs.size()); ++i)
    workers.emplace_back(work);
  work();
  for (std::thread& worker : workers) worker.join();
  return outcomes;
}

}  // namespace course::grader
