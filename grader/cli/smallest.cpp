// SPDX-License-Identifier: MIT
// labcli smallest: finds the smallest input that a task gets wrong.
#include "cli/smallest.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cli/commands.hpp"
#include "cli/one_case.hpp"
#include "compile/build.hpp"
#include "grading/printed.hpp"
#include "grading/session_runner.hpp"
#include "lab/derived_cases.hpp"
#include "progress.hpp"
#include "registry.hpp"
#include "smallest/message.hpp"
#include "smallest/search.hpp"
#include "text.hpp"
#include "trace/picture.hpp"

namespace course::grader::cli {
namespace {

constexpr double kSecondsPerCase = 5;  // of processor time: these inputs are small
constexpr int kMaxTasks = 3;           // for which `grade` searches by itself
constexpr std::size_t kMaxLike = 3;    // failed cases of a task from which it begins

constexpr const char* kSmallestFooter = R"(
Runs the task's cases on the simulator, GPU or not, until one fails. Then it
tries shorter inputs, simpler items, and the other operators and types. It shows
the items, the right and the actual output, and the store that went wrong.
`./lab grade` does this by itself for the first tasks that fail.

Examples:
  ./lab smallest reduction sequential
  ./lab smallest scan blelloch --case exclusive_sum_i32_n33_row33_random)";

std::unique_ptr<CaseRunner> runner_for(const Layout& layout, const std::string& program,
                                       const std::string& lab, bool solutions) {
  const RunContext context{lab, kSmallestSeed, solutions, lab::DeviceKind::sim, false};
  return session_runner(layout, program, lab::DeviceKind::sim, context, kSecondsPerCase);
}

// The shortest case, of those that the search takes, that fails in a way that a smaller one may show. Throws
// if the task is not written.
std::optional<lab::Case> first_failure(const OneTask& one, CaseRunner& runner, Progress& progress) {
  std::vector<lab::Case> cases = one.problem->cases(*one.task);
  std::ranges::stable_sort(cases, {}, &lab::Case::n);
  for (const lab::Case& c : cases) {
    if (c.n > SmallestLimits{}.items) break;
    progress.step(c.name);
    lab::Measure measure;
    measure.checks = measure.only_verdict = true;
    const lab::Outcome outcome = runner.run(*one.problem, *one.task, c, kSmallestSeed, measure);
    if (outcome.verdict == lab::Verdict::not_implemented) throw std::runtime_error(outcome.message());
    if (can_be_smaller(outcome.verdict)) return c;
  }
  return std::nullopt;
}

int run_smallest(const OneCaseOptions& options) {
  const OneTask one = select_one(options);
  std::optional<lab::Case> like;
  if (!options.case_name.empty()) like = named_case(one, options.case_name);
  const std::string program = build_one(one, options.solutions);
  const auto runner =
      runner_for(need(find_layout()), program, std::string(one.problem->manifest().id), options.solutions);
  std::string text;
  {
    Progress progress;
    progress.begin("Searching", 0);
    if (!like) like = first_failure(one, *runner, progress);
    if (like) {
      progress.step("shorter inputs than " + like->name);
      std::vector<lab::FailedCase> failed;
      if (like->n <= SmallestLimits{}.items) {
        const lab::Outcome outcome = runner->run(*one.problem, *one.task, *like, kSmallestSeed, {});
        if (outcome.verdict == lab::Verdict::not_implemented) return fail(outcome.message());
        if (outcome.failure.mismatch) failed.push_back({like->name, outcome.failure.mismatch->causes});
      }
      if (const auto found = find_smallest(*one.problem, *one.task, *like, *runner, {}, failed))
        text = smallest_text(*one.problem, *one.task, *found, options.solutions ? "--solutions" : "");
    }
  }
  if (text.empty()) {
    text =
        like && !options.case_name.empty()
            ? fmt::format("Neither {} nor a shorter input fails with seed {}.\n", like->name, kSmallestSeed)
            : fmt::format("No case of {} / {} with up to {} items fails with seed {}.\n", options.lab,
                          one.task->id, SmallestLimits{}.items, kSmallestSeed);
  }
  std::fputs(text.c_str(), stdout);
  return kRan;
}

// For "./lab debug LAB TASK --wrong": how to run what the last grade found wrong; "" if it found nothing.
void keep_wrong_case(const Layout& layout, const std::string& lab, const std::string& task,
                     const std::string& command) {
  const std::filesystem::path folder = layout.build + "/wrong_cases", file = folder / (lab + "." + task);
  std::error_code ignored;
  std::filesystem::create_directories(folder, ignored);
  std::filesystem::remove(file, ignored);
  if (!command.empty()) std::ofstream(file) << command << '\n';
}

// The smallest input that a failed task gets wrong, as text; "" if none is looked for or found. Keeps it for
// ./lab debug --wrong, and sets result.small_input if it was traced.
std::string smallest_of(const Layout& layout, const lab::Problem& problem, TaskResult& result, bool solutions,
                        std::size_t max_lines) {
  const lab::Task* task = lab::find_task(problem.manifest(), result.id);
  // Where runs do not end, the search takes longer than a student waits for a grade.
  std::vector<lab::Case> failed;
  for (const CaseRecord& record : result.cases) {
    if (task == nullptr || !can_be_smaller(record.verdict)) continue;
    if (record.verdict == lab::Verdict::time_limit) break;
    if (const auto c = lab::find_case(problem, *task, record.name)) failed.push_back(*c);
  }
  if (failed.empty()) return "";
  const std::string id(problem.manifest().id);
  const auto program = runner_of(layout, id, solutions);
  if (!program) return "";
  std::vector<lab::FailedCase> all_failed;
  for (const CaseRecord& record : result.cases)
    if (record.failure && record.failure->mismatch)
      all_failed.push_back({record.name, record.failure->mismatch->causes});
  const auto runner = runner_for(layout, *program, id, solutions);
  Progress progress;
  progress.begin("Looking for a small input that fails", 0);
  // Not every case fails with every order of the blocks.
  std::optional<SmallestFailure> found;
  for (std::size_t k = 0; k < std::min(failed.size(), kMaxLike) && !found; ++k)
    found = find_smallest(problem, *task, failed[k], *runner, {}, all_failed);
  const CaseRecord* deciding = deciding_record(result.cases);
  const lab::Failure* failure = deciding != nullptr && deciding->failure ? &*deciding->failure : nullptr;
  if (!found) return "";
  if (!solutions)
    keep_wrong_case(layout, id, result.id, fmt::format("--case {} --seed {}", found->c.name, kSmallestSeed));
  if (found->is_traced) {
    const std::uint64_t columns = std::bit_ceil(std::clamp<std::uint64_t>(found->c.n, 1, 32));
    const auto title =
        page::text(fmt::format("A small input that fails, step by step: case {}", found->c.name));
    result.small_input =
        (page::paragraph(title) +
         trace_picture(trace_view(problem, *task, found->c, found->outcome.sim_report, columns)))
            .markup;
  }
  const std::string printed = printed_lines(found->outcome.printed, kMaxLinesInMessage, 4);
  return smallest_text(problem, *task, *found, solutions ? "--solutions" : "", max_lines,
                       failure != nullptr ? cause_of(*failure) : "") +
         (printed.empty() ? "" : "  It printed:\n" + printed);
}

}  // namespace

void show_failures(const Layout& layout, RunResult& result, bool solutions, const TableStyle& style) {
  int n_searched = 0;
  bool any = false, has_picture = false;
  const auto problems = lab::all_problems();
  for (LabResult& lab : result.labs) {
    const auto problem = std::ranges::find_if(
        problems, [&](const lab::Problem* candidate) { return candidate->manifest().id == lab.id; });
    for (const TaskResult& task : lab.tasks) {
      const CaseRecord* wrong = deciding_record(task.cases);
      if (!solutions)
        keep_wrong_case(layout, lab.id, task.id,
                        wrong != nullptr && wrong->failure ? wrong->failure->command : "");
    }
    std::size_t n_shown = 0;
    for (const TaskResult* shown : failed_tasks(lab)) {
      TaskResult* task = &lab.tasks[static_cast<std::size_t>(shown - lab.tasks.data())];
      if (n_shown++ == style.max_messages) {
        std::puts("\nFurther tasks failed; --task shows one, --json F has all.");
        break;
      }
      const std::string head = failure_head(*task, style);
      std::fputs(head.c_str(), stdout);
      std::fflush(stdout);
      const auto used = static_cast<std::size_t>(std::ranges::count(head, '\n')) - 1;  // one is empty
      const std::string small =
          problem == problems.end() || n_searched++ >= kMaxTasks
              ? ""
              : smallest_of(layout, **problem, *task, solutions, style.whole ? 0 : kFailureLines - used);
      std::fputs((small.empty() ? failure_end(*task, style) : (style.whole ? "\n" : "") + small).c_str(),
                 stdout);
      any = true;
      if (!task->small_input.empty() && !std::exchange(has_picture, true))
        task->small_input += arrow_head().markup;
    }
  }
  if (any && !style.whole) std::puts("\nAll that is known of a failure: --more");
}

void add_smallest(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("smallest", "The smallest input that a task gets wrong");
  auto options = std::make_shared<OneCaseOptions>();
  add_options(*command, *options, "A case that fails, by its name in a report");
  command->footer(kSmallestFooter);
  command->callback([&run, options] { run = [options] { return run_smallest(*options); }; });
}

}  // namespace course::grader::cli
