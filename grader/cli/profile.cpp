// SPDX-License-Identifier: MIT
// labcli profile: prints the cost of each source line of a kernel, from a run on the simulator.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>

#include "cli/commands.hpp"
#include "cli/one_case.hpp"
#include "layout.hpp"
#include "profile/profile.hpp"
#include "text.hpp"

namespace course::grader::cli {
namespace {

struct ProfileOptions : OneCaseOptions {
  bool json = false;
};

constexpr const char* kProfileFooter = R"(
Counts on the simulator, GPU or not: the same figures in every run. The case
is the one whose efficiency is graded, unless --case names another.

Examples:
  ./lab profile reduction neighboured
  ./lab profile reduction reindexed --solutions
  ./lab profile reduction shuffle --json)";

// The first case with efficiency goals, else the first example.
lab::Case graded_case(const OneTask& one) {
  const auto cases = one.problem->cases(*one.task);
  for (const lab::Case& c : cases)
    if ((c.purpose & lab::kEfficiency) != 0) return c;
  for (const lab::Case& c : cases)
    if (c.name.find("_example") != std::string::npos) return c;
  return cases.front();
}

int run_profile(const ProfileOptions& options) {
  const OneTask one = select_one(options);
  const lab::Case c = options.case_name.empty() ? graded_case(one) : named_case(one, options.case_name);
  lab::Measure measure;
  measure.counters = measure.dataflow = measure.profile = true;
  const lab::Outcome outcome = run_one(one, c, options.solutions, options.seed, measure);
  const Profile profile = profile_of(*one.problem, *one.task, c, outcome.sim_report);
  std::fputs((options.json ? profile_json(profile)
                           : profile_text(profile, source_lines_below(need(find_layout()).root),
                                          std::max<std::size_t>(terminal_columns(), 80)))
                 .c_str(),
             stdout);
  if (outcome.verdict != lab::Verdict::ok)
    std::fputs(("\n" + wrap_message(outcome.message(), 80)).c_str(), stderr);
  return kRan;
}

}  // namespace

void add_profile(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("profile", "What each line of a kernel costs");
  auto options = std::make_shared<ProfileOptions>();
  add_options(*command, *options, "Another case, by its name in a report");
  command->add_option("--seed", options->seed, "The case's random items (1)");
  command->add_flag("--json", options->json, "Machine-readable, on stdout");
  command->footer(kProfileFooter);
  command->callback([&run, options] { run = [options] { return run_profile(*options); }; });
}

}  // namespace course::grader::cli
