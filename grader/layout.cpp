// SPDX-License-Identifier: MIT
#include "layout.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <ranges>

#include "build_config.hpp"
#include "process.hpp"

namespace course::grader {

namespace fs = std::filesystem;

Result<Layout> find_layout() {
  const auto from_environment = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  Layout layout;
  layout.root = from_environment("LAB_ROOT");
  layout.build = from_environment("LAB_BUILD");
  layout.toolkit_lib_dir = kToolkitLibDir;

  std::error_code ignored;
  if (layout.build.empty()) {
    const fs::path self = fs::read_symlink("/proc/self/exe", ignored);
    layout.build = self.parent_path().parent_path().string();
  }
  if (!fs::exists(fs::path(layout.build) / "build.ninja", ignored)) {
    return Error{fmt::format("\"{}\" is no build folder. Run ./lab from the checkout, or set LAB_BUILD.",
                             layout.build)};
  }
  if (layout.root.empty()) layout.root = kSourceRoot;
  if (!fs::exists(fs::path(layout.root) / "labs", ignored)) {
    return Error{fmt::format("\"{}\" is no checkout of this project: it has no labs folder. Set LAB_ROOT.",
                             layout.root)};
  }
  return layout;
}

std::string without_built_libraries(const Layout& layout, std::string_view folders) {
  std::error_code ignored;
  std::string kept;
  for (const auto part : folders | std::views::split(':')) {
    const std::string folder(part.begin(), part.end());
    const std::string inside = fs::relative(folder, layout.build, ignored).string();
    if (folder.empty() || (!inside.empty() && !inside.starts_with(".."))) continue;
    kept += (kept.empty() ? "" : ":") + folder;
  }
  return kept;
}

std::string commit_of(const std::string& root) {
  ProcessOptions options;
  options.directory = root;
  options.seconds = 10;
  const auto git = [&](std::vector<std::string> arguments) -> std::string {
    arguments.insert(arguments.begin(), "git");
    const Result<ProcessResult> done = run_process(arguments, options);
    if (!done || done->exit_code != 0) return "";
    std::string text = done->output;
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
  };
  const std::string commit = git({"rev-parse", "--verify", "HEAD"});
  if (commit.size() != 40) return "";
  return commit + (git({"status", "--porcelain", "--untracked-files=no"}).empty() ? "" : "+");
}

}  // namespace course::grader
