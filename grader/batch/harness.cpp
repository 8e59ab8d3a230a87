// SPDX-License-Identifier: MIT
#include "batch/harness.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "build_config.hpp"
#include "process.hpp"
#include "text.hpp"

namespace course::grader::batch {
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

std::string quoted(const std::string& path) {
  std::string out = "'";
  for (const char c : path) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

Result<std::string> ninja(const Layout& layout, std::vector<std::string> arguments) {
  std::vector<std::string> command{program_in_path("ninja"), "-C", layout.build};
  command.insert(command.end(), arguments.begin(), arguments.end());
  ProcessOptions options;
  options.seconds = 600;
  options.max_output = std::size_t{256} << 20;
  const auto done = run_process(command, options);
  if (!done) return done.error();
  if (done->exit_code != 0)
    return Error{
        fmt::format("The course's own code did not build:\n{}",
                    done->output.substr(done->output.size() > 2000 ? done->output.size() - 2000 : 0))};
  return done->output;
}

// Headers that a lab's file may include: its own folder's, and those of common that labs see.
std::vector<std::string> headers_of(const Layout& layout, const std::string& lab) {
  std::vector<std::string> found;
  for (const std::string& folder : {"labs/" + lab, std::string("common/base"), std::string("common/lab")}) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(fs::path(layout.root) / folder, ignored)) {
      const std::string ending = entry.path().extension().string();
      if (entry.is_regular_file(ignored) && (ending == ".hpp" || ending == ".cuh" || ending == ".h"))
        found.push_back(entry.path().string());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

// What decides a grade besides compilers and a lab's own objects: the judge, the sandbox, the simulated device.
std::vector<std::string> programs_of(const Layout& layout) {
  std::vector<std::string> found{layout.build + "/grader/labcli", layout.build + "/grader/sandbox_enter"};
  for (const char* folder : {"common/cudart", "common/remote"}) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(fs::path(layout.build) / folder, ignored)) {
      const std::string name = entry.path().filename().string();
      const bool ours = name.find(".so.") != std::string::npos || name == "simulated_device";
      if (ours && fs::is_regular_file(entry.symlink_status(ignored))) found.push_back(entry.path().string());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

// What each compiler of these commands says of its version.
std::string versions(const Harness& harness) {
  std::string out;
  for (const auto& [lab, recipe] : harness.labs) {
    std::istringstream words(recipe.compile);
    for (std::string word; words >> word;) {
      if (!word.starts_with('/') || access(word.c_str(), X_OK) != 0 || fs::is_directory(word)) continue;
      const auto said = run_process({word, "--version"});
      const std::string text = fmt::format("{}\n{}", word, said ? said->output : "");
      if (out.find(text) == std::string::npos) out += text;
    }
  }
  return out;
}

}  // namespace

Result<Recipe> recipe_in(const json& database, const std::string& lab) {
  const std::string runner = Layout::runner_target(lab, false);
  const std::string object = runner + ".p/" + lab + ".cu.o";
  Recipe recipe;
  for (const json& edge : database) {
    const std::string output = edge.value("output", "");
    std::string command = edge.value("command", "");
    if (output == object) {
      replace_all(command, object, "{object}");
      // "{object}.d" is the list of headers, which nobody needs here, but the compiler writes it.
      const std::string file = edge.value("file", "");
      const std::size_t at = command.rfind(" " + file);
      if (file.empty() || at == std::string::npos)
        return Error{fmt::format("The command that compiles {} does not name its file: {}", lab, command)};
      command.replace(at + 1, file.size(), "{source}");
      recipe.compile = command;
    } else if (output == runner) {
      replace_all(command, object, "{object}");
      replace_all(command, "-o " + runner + " ", "-o {runner} ");
      std::istringstream words(command);
      for (std::string word; words >> word;) {
        if (!word.starts_with('-') && !word.starts_with('/') &&
            (word.ends_with(".o") || word.ends_with(".a")) &&
            std::find(recipe.linked.begin(), recipe.linked.end(), word) == recipe.linked.end())
          recipe.linked.push_back(word);
      }
      recipe.link = command;
    }
  }
  const bool whole = recipe.compile.find("{source}") != std::string::npos &&
                     recipe.compile.find("{object}") != std::string::npos &&
                     recipe.link.find("{object}") != std::string::npos &&
                     recipe.link.find("{runner}") != std::string::npos;
  if (!whole) return Error{fmt::format("The build does not say how {} is compiled and linked.", runner)};
  return recipe;
}

std::string fill_in(std::string text, const std::string& source, const std::string& object,
                    const std::string& runner) {
  replace_all(text, "{object}.d", quoted(object + ".d"));
  replace_all(text, "{source}", quoted(source));
  replace_all(text, "{object}", quoted(object));
  replace_all(text, "{runner}", quoted(runner));
  return text;
}

Result<Harness> find_harness(const Layout& layout, std::span<const std::string> labs) {
  const auto listed = ninja(layout, {"-t", "compdb"});
  if (!listed) return listed.error();
  // ninja says where it is before it says anything else.
  const json database =
      json::parse(listed->substr(std::min(listed->size(), listed->find('['))), nullptr, false);
  if (!database.is_array()) return Error{"ninja's list of commands could not be read."};
  Harness harness;
  std::vector<std::string> shared;
  for (const std::string& lab : labs) {
    auto recipe = recipe_in(database, lab);
    if (!recipe) return recipe.error();
    recipe->headers = headers_of(layout, lab);
    shared.insert(shared.end(), recipe->linked.begin(), recipe->linked.end());
    harness.labs.emplace(lab, std::move(*recipe));
  }
  if (*kSimulatorTarget != '\0') shared.emplace_back(kSimulatorTarget);
  if (const auto done = ninja(layout, shared); !done) return done.error();
  harness.toolchain = versions(harness);
  harness.programs = programs_of(layout);
  return harness;
}

json to_json(const Harness& harness) {
  json labs = json::object();
  for (const auto& [lab, recipe] : harness.labs) {
    labs[lab] = {{"compile", recipe.compile},
                 {"link", recipe.link},
                 {"linked", recipe.linked},
                 {"headers", recipe.headers}};
  }
  return {{"labs", labs}, {"programs", harness.programs}, {"toolchain", harness.toolchain}};
}

Result<Harness> harness_from(const json& from) {
  try {
    Harness harness;
    for (const auto& [lab, recipe] : from.at("labs").items()) {
      harness.labs[lab] = {recipe.at("compile"), recipe.at("link"), recipe.at("linked"),
                           recipe.at("headers")};
    }
    harness.programs = from.at("programs").get<std::vector<std::string>>();
    harness.toolchain = from.at("toolchain").get<std::string>();
    return harness;
  } catch (const json::exception& error) {
    return Error{fmt::format("This is no description of a harness: {}.", error.what())};
  }
}

}  // namespace course::grader::batch
