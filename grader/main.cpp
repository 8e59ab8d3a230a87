// SPDX-License-Identifier: MIT
// labcli: what the `lab` script runs after setting things up. One subcommand a file in cli/.
#include <CLI/CLI.hpp>

#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "layout.hpp"
#include "text.hpp"

namespace {

constexpr const char* kExamples = R"(
Examples:
  ./lab grade                            all labs, your files, GPU if there is one
  ./lab grade reduction --task shuffle   one task, while you work on it
  ./lab grade --solutions --device sim   the reference solutions on the simulator
  ./lab grade reduction --json out.json --html report.html
  ./lab check reduction                  races, stray accesses, barriers: by line
  ./lab profile reduction shuffle        what each line costs
  ./lab trace reduction neighboured      its arrays, step by step
  ./lab bench reduction                  every rung beside CUB, CPU and memory
  ./lab report out.json --html report.html   other reports of a result
  ./lab list                             labs, tasks and their points

Every command has its own --help. Exit code 0: it ran, whatever the score.)";

// "" when the first word is a command, or an option.
std::string wrong_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return "";
  const std::string name = argv[1];
  std::vector<std::string> known;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_name() == name) return "";
    if (!command->get_group().empty()) known.push_back(command->get_name());
  }
  return "There is no command \"" + name + "\"" + course::grader::did_you_mean(name, known);
}

// Whether --solutions was given where there are none: ./lab release left them out.
bool asks_in_vain(const CLI::App& app) {
  for (const CLI::App* command : app.get_subcommands()) {
    const CLI::Option* option = command->get_option_no_throw("--solutions");
    if (option == nullptr || option->count() == 0) continue;
    const auto layout = course::grader::find_layout();
    std::error_code ignored;
    return layout && !std::filesystem::exists(layout->root + "/solutions", ignored);
  }
  return false;
}

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
    cli::add_profile(app, run);
    cli::add_bench(app, run);
    cli::add_model(app, run);
    cli::add_trace(app, run);
    cli::add_describe(app, run);
    cli::add_report(app, run);
    cli::add_list(app, run);
    cli::add_points(app, run);
    cli::add_isolation(app, run);
    cli::add_batch(app, run);
    cli::add_probe_gpu(app, run);
    if (const std::string wrong = wrong_command(app, argc, argv); !wrong.empty()) return cli::fail(wrong);
    try {
      app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      // --help is no error; everything else is wrong usage.
      return app.exit(error) == 0 ? cli::kRan : cli::kFailed;
    }
    if (asks_in_vain(app))
      return cli::fail("This is the student edition: it has no solutions. Leave out --solutions.");
    return run();
  } catch (const std::exception& error) {
    return cli::fail(error.what());
  }
}
