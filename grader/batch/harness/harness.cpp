// SPDX-License-Identifier: MIT
#include "batch/harness/harness.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "compile/build.hpp"
#include "process.hpp"
#include "text.hpp"

namespace course::grader::batch {
namespace fs = std::filesystem;

namespace {

// What "ninja -t …" prints, a line each, without blanks at the ends.
Result<std::vector<std::string>> ask_ninja(const Layout& layout, std::vector<std::string> question) {
  question.insert(question.begin(), {"ninja", "-C", layout.build, "-t"});
  const auto done = run_process(question, {});
  if (!done) return done.error();
  if (done->exit_code != 0) return Error{"ninja does not know what the grader consists of:\n" + done->output};
  std::vector<std::string> lines;
  for (const std::string_view line : lines_of(done->output)) {
    const std::size_t begin = line.find_first_not_of(' ');
    if (begin != std::string_view::npos) lines.emplace_back(line.substr(begin));
  }
  return lines;
}

// The programs and objects that evidence depends on, besides compilers and what belongs to one lab: the parts
// of labcli, the sandbox, the simulated device. labcli itself also contains the labs' points.
Result<std::vector<std::string>> programs_of(const Layout& layout) {
  const auto parts = ask_ninja(layout, {"inputs", "grader/labcli"});
  if (!parts) return parts.error();
  std::vector<std::string> found{layout.build + "/grader/sandbox_enter"};
  for (const std::string& part : *parts)
    if (part.ends_with(".o") && !part.starts_with("labs/libproblem_"))
      found.push_back(layout.build + "/" + part);
  for (const char* folder : {"common/simulator/cudart", "common/harness/remote"}) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(fs::path(layout.build) / folder, ignored)) {
      const std::string name = entry.path().filename().string();
      const bool ours = name.find(".so.") != std::string::npos || name == "simulated_device";
      if (ours && fs::is_regular_file(entry.symlink_status(ignored))) found.push_back(entry.path().string());
    }
  }
  std::ranges::sort(found);
  return found;
}

// The files of the checkout that are compiled into the lab's cases, inputs and answers, but not its points.
Result<std::vector<std::string>> judging_of(const Layout& layout, const std::string& lab) {
  const auto lines =
      ask_ninja(layout, {"deps", fmt::format("labs/libproblem_{0}.a.p/{0}_problem.cpp.o", lab)});
  if (!lines) return lines.error();
  const std::string root = fs::path(layout.root).lexically_normal().string() + "/";
  std::vector<std::string> found;
  for (const std::string& line : *lines) {
    const std::string path = (fs::path(layout.build) / line).lexically_normal().string();
    if (path.starts_with(root) && !path.ends_with("/points.hpp") && fs::is_regular_file(path))
      found.push_back(path);
  }
  std::ranges::sort(found);
  if (found.empty()) return Error{fmt::format("ninja does not know what the cases of {} depend on.", lab)};
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
  harness.toolchain = toolchain_versions(layout.toolchain);
  harness.commit = commit_of(layout.root);
  auto programs = programs_of(layout);
  if (!programs) return programs.error();
  harness.programs = std::move(*programs);
  for (const std::string& lab : labs) {
    auto judging = judging_of(layout, lab);
    if (!judging) return judging.error();
    harness.judging.emplace(lab, std::move(*judging));
  }
  return harness;
}

}  // namespace course::grader::batch
