// SPDX-License-Identifier: MIT
// labcli: what the `lab` script runs after setting things up. One subcommand a file in cli/.
#include <CLI/CLI.hpp>

#include <exception>

#include "cli/commands.hpp"

namespace {

constexpr const char* kExamples = R"(
Examples:
  ./lab grade                            all labs, your files, GPU if there is one
  ./lab grade reduction --task shuffle   one task, while you work on it
  ./lab grade --solutions --device sim   the reference solutions on the simulator
  ./lab grade reduction --json out.json --html report.html
  ./lab check reduction                  races, stray accesses, barriers: by line
  ./lab list                             labs, tasks and their points

Every command has its own --help. Exit code 0: it ran, whatever the score.)";

}  // namespace

int main(int argc, char** argv) {
  using namespace course::grader;
  try {
    CLI::App app{"Grades the labs of the GPU course: on a GPU, or on a simulated one.", "./lab"};
    app.require_subcommand(1);
    app.footer(kExamples);
    app.get_formatter()->column_width(26);
    cli::Run run;
    cli::add_grade(app, run);
    cli::add_check(app, run);
    cli::add_list(app, run);
    cli::add_points(app, run);
    cli::add_probe_gpu(app, run);
    try {
      app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      // --help is no error; everything else is wrong usage.
      return app.exit(error) == 0 ? cli::kRan : cli::kFailed;
    }
    return run();
  } catch (const std::exception& error) {
    return cli::fail(error.what());
  }
}
