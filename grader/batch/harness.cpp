// SPDX-License-Identifier: MIT
#include "batch/harness.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "compile/build.hpp"
#include "text.hpp"

namespace course::grader::batch {
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

// The programs that a grade depends on, besides compilers and the lab's own objects: the grader, the sandbox,
// the simulated device.
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

}  // namespace

Result<Harness> find_harness(const Layout& layout, std::span<const std::string> labs) {
  Harness harness;
  std::vector<std::string> shared{"simulator"};
  for (const std::string& lab : labs) {
    auto recipe = recipe_for(layout, lab);
    if (!recipe) return recipe.error();
    shared.insert(shared.end(), recipe->linked.begin(), recipe->linked.end());
    harness.labs.emplace(lab, std::move(*recipe));
  }
  if (const auto done = run_ninja(layout, shared); !done)
    return Error{"The course's own code did not build:\n" + done.error().text};
  harness.toolchain = toolchain_versions();
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
