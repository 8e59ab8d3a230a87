// SPDX-License-Identifier: MIT
#include "compile/recipe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "build_config.hpp"
#include "compile/parallel_script.hpp"
#include "process.hpp"
#include "text.hpp"

namespace course::grader {
namespace fs = std::filesystem;

namespace {

std::vector<std::string> words_of(const char* lines) {
  std::vector<std::string> words;
  for (const std::string_view line : lines_of(lines)) words.emplace_back(line);
  return words;
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += shell_word(word) + " ";
  return out;
}

// The host code only launches kernels, so -O0: optimising it would take longer than all other steps.
std::vector<std::string> nvcc_command(const Toolchain& toolchain, const std::string& lab) {
  std::vector<std::string> command = toolchain.nvcc;
  command.insert(command.end(), {"-std=c++20", "-O0"});
  for (std::string& word : words_of(kNvccStudentArgs)) command.push_back(std::move(word));
  for (const std::string& arch : toolchain.gpu_archs) {
    for (const char* code : {"sm_", "compute_"})
      command.push_back(fmt::format("-gencode=arch=compute_{0},code={1}{0}", arch, code));
  }
  command.insert(command.end(), {"-Icommon", "-Icommon/harness", "-Ilabs", "-Ilabs/" + lab});
  command.emplace_back("-Xcompiler=-g1");  // reports about host code give its line
  if (is_for_several_devices(lab))
    command.insert(command.end(), {"-Icommon/simulator", "-Icommon/simulator/nccl"});
  return command;
}

// The headers that a lab's file may include: those of its own folder, and those of common that labs use, with
// the protocol's, which are not secret.
std::vector<std::string> headers_of(const Layout& layout, const std::string& lab) {
  std::vector<std::string> found;
  for (const std::string& folder :
       {"labs/" + lab, std::string("common/base"), std::string("common/harness/lab"),
        std::string("common/harness/protocol")}) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(fs::path(layout.root) / folder, ignored)) {
      const std::string ending = entry.path().extension().string();
      if (entry.is_regular_file(ignored) && (ending == ".hpp" || ending == ".cuh" || ending == ".h"))
        found.push_back(entry.path().string());
    }
  }
  if (is_for_several_devices(lab)) found.push_back(layout.root + "/common/simulator/nccl/nccl.h");
  std::ranges::sort(found);
  return found;
}

}  // namespace

bool is_for_several_devices(const std::string& lab) {
  const std::vector<std::string> labs = words_of(kLabsOfSeveralDevices);
  return std::ranges::find(labs, lab) != labs.end();
}

std::string fill_in(std::string text, const std::string& source, const std::string& object,
                    const std::string& runner) {
  replace_all(text, "{source}", shell_word(source));
  replace_all(text, "{object}", shell_word(object));
  replace_all(text, "{folder}", shell_word(fs::path(object).parent_path().string()));
  replace_all(text, "{runner}", shell_word(runner));
  return text;
}

Result<Recipe> recipe_for(const Layout& layout, const std::string& lab) {
  Recipe recipe;
  const std::string source = fmt::format("labs/{0}/{0}.cu", lab);
  std::vector<std::string> command = nvcc_command(layout.toolchain, lab);
  recipe.compile = joined(command) + "-o {object} -c {source}";
  command.insert(command.end(), {"--dryrun", "-o", "{object}", "-c", source});
  ProcessOptions how;
  how.directory = layout.root;
  how.environment = {"TMPDIR=/tmp", "CCACHE_DISABLE=1"};
  const auto said = run_process(command, how);
  if (!said) return said.error();
  if (said->exit_code == 0) {
    const std::string script = parallel_script(said->output, source);
    if (!script.empty()) recipe.compile = script;
  }
  recipe.headers = headers_of(layout, lab);
  recipe.linked = {fmt::format("common/harness/runner/fixed_part_{}.o", lab)};
  recipe.several_devices = is_for_several_devices(lab);
  if (recipe.several_devices) recipe.linked.emplace_back("common/harness/remote/libnccl.so.2");
  // Nothing in an object may be executed as a command: no linker plugin and no second compiler, whatever its
  // sections are called.
  recipe.link =
      joined(layout.toolchain.cxx) + "-fno-lto -fno-use-linker-plugin -Wl,-z,noexecstack -o {runner} ";
  for (const std::string& one : recipe.linked) recipe.link += shell_word(layout.build + "/" + one) + " ";
  recipe.link += "{object} ";
  if (!layout.toolkit_lib_dir.empty()) recipe.link += shell_word("-L" + layout.toolkit_lib_dir) + " ";
  recipe.link += "-lcudart -pthread -ldl";  // libraries of their own before glibc 2.34
  return recipe;
}

std::string toolchain_versions(const Toolchain& toolchain) {
  std::string out;
  for (std::vector<std::string> command : {toolchain.nvcc, toolchain.cxx}) {
    command.emplace_back("--version");
    const auto said = run_process(command);
    out += fmt::format("{}\n{}", command.front(), said ? said->output : "");
  }
  return out;
}

}  // namespace course::grader
