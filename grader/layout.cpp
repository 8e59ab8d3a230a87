// SPDX-License-Identifier: MIT
#include "layout.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <ranges>

#include "build_config.hpp"
#include "process.hpp"
#include "text.hpp"

namespace course::grader {

namespace fs = std::filesystem;

Toolchain toolchain_of_build() {
  const auto words = [](const char* lines) {
    const auto found = lines_of(lines);
    return std::vector<std::string>(found.begin(), found.end());
  };
  return {words(kNvcc), words(kCxx), words(kGpuArchs), words(kToolFolders)};
}

Result<Toolchain> read_toolchain(const std::string& path, std::string& toolkit_lib_dir) {
  std::ifstream file(path);
  if (!file) return Error{path + " can't be read."};
  toolkit_lib_dir.clear();
  Toolchain found;
  const std::map<std::string, std::vector<std::string>*> lists{
      {"nvcc", &found.nvcc}, {"cxx", &found.cxx}, {"arch", &found.gpu_archs}, {"folder", &found.folders}};
  for (std::string key, value; file >> key && std::getline(file >> std::ws, value);) {
    if (const auto list = lists.find(key); list != lists.end())
      list->second->push_back(value);
    else if (key == "libraries")
      toolkit_lib_dir = value;
    else
      return Error{path + ": \"" + key + "\" is not a key."};
  }
  if (found.nvcc.empty() || found.cxx.empty() || found.gpu_archs.empty())
    return Error{path + " names no compiler or no generation of GPUs."};
  return found;
}

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
  if (const std::string file = layout.build + "/toolchain.txt"; fs::exists(file, ignored)) {
    auto toolchain = read_toolchain(file, layout.toolkit_lib_dir);
    if (!toolchain) return toolchain.error();
    layout.toolchain = std::move(*toolchain);
  } else if (!fs::exists(fs::path(layout.build) / "build.ninja", ignored)) {
    return Error{fmt::format("\"{}\" is not a build folder. Run ./lab from the checkout, or set LAB_BUILD.",
                             layout.build)};
  }
  if (layout.root.empty()) layout.root = kSourceRoot;
  if (!fs::exists(fs::path(layout.root) / "labs", ignored)) {
    return Error{fmt::format("\"{}\" is not a checkout of this project: it has no labs folder. Set LAB_ROOT.",
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
