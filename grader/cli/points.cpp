// SPDX-License-Identifier: MIT
// labcli points: prints the points of a lab's tasks and the goals that earn them; as Markdown for the
// generated blocks of handouts.
#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>

#include "cli/commands.hpp"
#include "grading/catalogue.hpp"
#include "grading/planning/select.hpp"
#include "registry.hpp"

namespace course::grader::cli {
namespace {

struct PointsOptions {
  std::string lab;
  bool markdown = false;
};

}  // namespace

void add_points(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("points", "What each task of a lab is worth, and for what");
  auto options = std::make_shared<PointsOptions>();
  command->add_option("LAB", options->lab, "The lab")->required();
  command->add_flag("--markdown", options->markdown, "As a Markdown table (the default)");
  command->footer("\nExample:\n  ./lab points reduction --markdown");
  command->callback([&run, options] {
    run = [options] {
      const auto labs = need(select_labs(lab::all_problems(), {options->lab}));
      std::fputs(points_markdown(labs.front()->manifest()).c_str(), stdout);
      return kRan;
    };
  });
}

}  // namespace course::grader::cli
