// SPDX-License-Identifier: MIT
// labcli describe (hidden): prints this command line as JSON, from which ./lab completion is made:
//   {"commands": {"grade": {"--device": ["auto", "sim", "gpu"], "--json": null, "--solutions": []}},
//    "labs": ["reduction"], "tasks": {"reduction": ["neighboured"]}}
// An option has the list of its allowed words; null if any word is allowed; an empty list if it is a flag.
#include <CLI/CLI.hpp>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/commands.hpp"
#include "registry.hpp"

namespace course::grader::cli {
namespace {

using nlohmann::json;

// CLI11 includes the words of IsMember in the option's type name: "TEXT:{auto,sim,gpu}".
json words_of(const CLI::Option& option) {
  if (option.get_expected_max() == 0) return json::array();
  const std::string type = option.get_type_name();
  const std::size_t open = type.find('{');
  if (open == std::string::npos || type.back() != '}') return nullptr;
  return CLI::detail::split(type.substr(open + 1, type.size() - open - 2), ',');
}

json options_of(const CLI::App& command) {
  json options = json::object();
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) options["--" + name] = words_of(*option);
  return options;
}

}  // namespace

void add_describe(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("describe", "This command line as JSON")->group("");
  command->callback([&run, &app] {
    run = [&app] {
      json commands = json::object();
      for (const CLI::App* one :
           app.get_subcommands([](const CLI::App* c) { return !c->get_group().empty(); }))
        commands[one->get_name()] = options_of(*one);
      json labs = json::array(), tasks = json::object();
      for (const lab::Problem* problem : lab::all_problems()) {
        const lab::Manifest& manifest = problem->manifest();
        labs.push_back(manifest.id);
        json& ids = tasks[std::string(manifest.id)] = json::array();
        for (const lab::Task& task : manifest.tasks) ids.push_back(task.id);
      }
      std::puts(json{{"commands", commands}, {"labs", labs}, {"tasks", tasks}}.dump().c_str());
      return kRan;
    };
  });
}

}  // namespace course::grader::cli
