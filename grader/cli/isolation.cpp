// SPDX-License-Identifier: MIT
// labcli isolation: prints the isolation of student code on this machine. The first line is the level with
// its parts, the others list what is missing.
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "grading/session_runner.hpp"
#include "layout.hpp"

namespace course::grader::cli {

void add_isolation(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("isolation", "How well student code is isolated on this machine");
  command->footer(
      "\nGrades that count need \"full\": ./lab grade --graded. LAB_SANDBOX=limits (or\nnone, namespaces) "
      "in the environment asks for less.");
  command->callback([&run] {
    run = [] {
      const sandbox::Machine& machine = isolation_here(need(find_layout()));
      fmt::print("{} ({})\n", sandbox::name_of(machine.level), fmt::join(machine.parts(), ", "));
      for (const std::string& one : machine.missing) fmt::print("{}\n", one);
      return kRan;
    };
  });
}

}  // namespace course::grader::cli
