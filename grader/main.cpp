// SPDX-License-Identifier: MIT
// labcli, the program that the `lab` script runs after set-up. The subcommands are in cli/.
#include <CLI/CLI.hpp>

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/help.hpp"
#include "compile/run_folder.hpp"
#include "layout.hpp"
#include "text.hpp"

namespace {

constexpr const char* kExamples = R"(
Examples:
  ./lab grade                            all labs, on the GPU if there is one
  ./lab grade reduction shuffle          one task, while you work on it
  ./lab grade --solutions --device sim   the reference solutions, simulated
  ./lab grade reduction --json out.json --html report.html
  ./lab check reduction                  races and stray accesses, by line
  ./lab smallest reduction shuffle       the smallest input that it gets wrong
  ./lab profile reduction shuffle        what each line costs
  ./lab trace reduction neighboured      its arrays, step by step
  ./lab bench reduction                  every rung beside CUB, CPU and memory
  ./lab report out.json --html report.html   other reports of a result
  ./lab list                             labs, tasks and their points

Every command has its own --help. Exit code 0: it ran, whatever the score.)";

// The error message if the first argument is neither a command nor an option, else "".
std::string wrong_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return "";
  const std::string name = argv[1];
  std::vector<std::string> known;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_name() == name) return "";
    if (!command->get_group().empty()) known.push_back(command->get_name());
  }
  // The commands of the `lab` script itself, which passes all others on.
  const char* others = std::getenv("LAB_COMMANDS");
  std::istringstream words(others != nullptr ? others : "");
  for (std::string word; words >> word;) known.push_back(word);
  return "There is no command \"" + name + "\"" + course::grader::did_you_mean(name, known);
}

bool has_solutions() {
  const auto layout = course::grader::find_layout();
  std::error_code ignored;
  return !layout || std::filesystem::exists(layout->root + "/solutions", ignored);
}

// Whether --solutions was given in an edition without solutions (./lab release leaves them out).
bool asks_for_missing_solutions(const CLI::App& app) {
  for (const CLI::App* command : app.get_subcommands()) {
    const CLI::Option* option = command->get_option_no_throw("--solutions");
    if (option == nullptr || option->count() == 0) continue;
    return !has_solutions();
  }
  return false;
}

// For all programs that this one starts.
void forget_built_libraries() {
  using namespace course::grader;
  const char* inherited = std::getenv("LD_LIBRARY_PATH");
  const auto layout = find_layout();
  if (inherited == nullptr || !layout) return;
  setenv("LD_LIBRARY_PATH", without_built_libraries(*layout, inherited).c_str(), 1);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace course::grader;
  tidy_up_on_signals();
  forget_built_libraries();
  try {
    CLI::App app{"Grades the labs of the GPU course: on a GPU, or on a simulated one.", "./lab"};
    app.require_subcommand(1);
    app.footer(kExamples);
    app.formatter(std::make_shared<cli::HelpInColumns>());
    app.get_formatter()->column_width(26);
    cli::Run run;
    for (cli::AddCommand* add : cli::kCommands) add(app, run);
    if (const std::string wrong = wrong_command(app, argc, argv); !wrong.empty()) return cli::fail(wrong);
    try {
      app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      // --help is not an error; everything else is a usage error.
      return app.exit(error) == 0 ? cli::kRan : cli::kFailed;
    }
    if (asks_for_missing_solutions(app))
      return cli::fail("This is the student edition: it has no solutions. Leave out --solutions.");
    return run();
  } catch (const std::exception& error) {
    return cli::fail(error.what());
  }
}
