// SPDX-License-Identifier: MIT
// labcli list: the labs of this build, their tasks and points; the instructions that labs may use.
#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>

#include "cli/commands.hpp"
#include "grading/catalogue.hpp"
#include "registry.hpp"
#include "sim/machine/op_table.hpp"
#include "sim/observation/subset.hpp"

namespace course::grader::cli {

void add_list(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("list", "Labs, tasks and points of this checkout");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "Machine-readable, on stdout");
  auto instructions = std::make_shared<bool>(false);
  command->add_flag("--instructions", *instructions,
                    "Instead: what kernels in labs may use, and which checks do not follow the rest");
  command->footer("\nExamples:\n  ./lab list\n  ./lab list --json | jq '.labs[].id'");
  command->callback([&run, json, instructions] {
    run = [json, instructions] {
      const std::string text = *instructions ? sim::subset_as_markdown(*sim::engine().table)
                               : *json       ? catalogue_json(lab::all_problems())
                                             : catalogue_text(lab::all_problems());
      std::fputs(text.c_str(), stdout);
      return kRan;
    };
  });
}

}  // namespace course::grader::cli
