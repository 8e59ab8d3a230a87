// SPDX-License-Identifier: MIT
// Reading order: recipe_for; side_by_side.
#include "compile/recipe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "build_config.hpp"
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

std::string shell_word(std::string_view word) {
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
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
    const std::string script = side_by_side(said->output, source);
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

namespace {

// The names of temporary files contain the compiler's process id:
// "/tmp/tmpxft_00001a_00000000-5_scan.cpp4.ii" becomes "$w/5_scan.cpp4.ii".
std::string with_names_of_ours(std::string command) {
  constexpr std::string_view kBegin = "tmpxft_", kFolder = "/tmp/";
  for (std::size_t at; (at = command.find(kBegin)) != std::string::npos;) {
    const std::size_t end = command.find('-', at);
    if (end == std::string::npos) return "";
    const bool placed =
        at >= kFolder.size() && command.compare(at - kFolder.size(), kFolder.size(), kFolder) == 0;
    const std::size_t from = placed ? at - kFolder.size() : at;
    command.replace(from, end + 1 - from, placed ? "$w/" : "");
  }
  return command;
}

// The path after an option up to the closing quote: for `--x="$w/a"` and the option `--x="` it is $w/a.
std::string path_behind(const std::string& command, std::string_view option) {
  const std::size_t at = command.find(option);
  if (at == std::string::npos) return "";
  const std::size_t from = at + option.size();
  return command.substr(from, command.find('"', from) - from);
}

// The program of a command; the name may be partly quoted.
std::string program_of(const std::string& command) {
  bool inside = false;
  for (std::size_t i = 0; i < command.size(); ++i) {
    if (command[i] == '"') inside = !inside;
    if (command[i] == ' ' && !inside) return command.substr(0, i);
  }
  return command;
}

// The output of "fatbinary --embedded-fatbin", except that the data stays in its file, so that the host part
// need not wait for it.
constexpr const char* kFatbin = R"(#include "fatbinary_section.h"
asm(".section .nv_fatbin, \"a\"\n.align 8\nfatbinData:\n.incbin \"$w/device.fatbin\"\n.text\n");
extern "C" {
extern const unsigned long long fatbinData[];
static const __fatBinC_Wrapper_t __fatDeviceText __attribute__((aligned(8)))
    __attribute__((section(".nvFatBinSegment"))) = {0x466243b1, 1, fatbinData, 0};
}
)";

}  // namespace

std::string side_by_side(std::string_view dryrun, const std::string& source) {
  constexpr std::string_view kMark = "#$ ";
  std::string exports, host, device, machine, compile, module_id, fatbin;
  const auto then = [](std::string& to, const std::string& command) {
    to += (to.empty() ? "" : " &&\n  ") + command;
  };
  for (std::string_view line : lines_of(dryrun)) {
    if (!line.starts_with(kMark)) return "";
    line.remove_prefix(kMark.size());
    const std::size_t sign = line.find('=');
    if (sign != std::string_view::npos &&
        line.substr(0, sign).find_first_of(" \"") == std::string_view::npos) {
      const std::string_view name = line.substr(0, sign);
      if (name == "PATH" || name == "CICC_PATH" || name == "NVVMIR_LIBRARY_DIR")
        exports += fmt::format("export {}={}\n", name, shell_word(line.substr(sign + 1)));
      continue;
    }
    std::string command = with_names_of_ours(std::string(line));
    replace_all(command, "\"" + source + "\"", "{source}");
    if (command.starts_with("rm ")) continue;
    if (has(command, " -E -x c++ ")) {
      then(has(command, "-D__CUDA_ARCH__=") ? device : host, command);
    } else if (command.starts_with("cudafe++ ")) {
      // cudafe++ and the device compiler must use the same module id. The script writes it in advance, so
      // that the device compiler need not wait for cudafe++.
      module_id = path_behind(command, "--module_id_file_name \"");
      const std::size_t at = command.find("--gen_module_id_file ");
      if (module_id.empty() || at == std::string::npos) return "";
      command.erase(at, std::string_view("--gen_module_id_file ").size());
      then(host, command);
    } else if (command.starts_with("\"$CICC_PATH/cicc\" ")) {
      then(device, command);
    } else if (command.starts_with("ptxas ")) {
      then(machine, command);
    } else if (command.starts_with("fatbinary ")) {
      fatbin = path_behind(command, "--embedded-fatbin=\"");
      if (fatbin.empty()) return "";
      replace_all(command, "--embedded-fatbin=\"" + fatbin + "\"", "--create=\"$w/device.fatbin\"");
      then(machine, command);
    } else if (has(command, " -c -x c++ ") && compile.empty()) {
      compile = command;
    } else {
      return "";
    }
  }
  const std::string into_object = "-o \"{object}\"";
  if (host.empty() || device.empty() || machine.empty() || fatbin.empty() || !has(compile, into_object))
    return "";
  const std::string assemble = fmt::format("{}{} -c \"$w/host.s\" -o {{object}}", program_of(compile),
                                           has(compile, " -m64 ") ? " -m64" : "");
  replace_all(compile, into_object, "-o \"$w/host.s\"");
  replace_all(compile, " -c -x c++ ", " -S -x c++ ");
  std::string name = fs::path(source).filename().string();
  std::ranges::replace_if(
      name, [](char c) { return c == '.' || c == '-'; }, '_');
  std::string wrapper = kFatbin;
  replace_all(wrapper, "$w", "'\"$w\"'");
  return fmt::format(
      "w={{folder}}\n{}"
      "printf %s _00000000_{}_{}_00000000 >\"{}\"\n"
      "printf %s '{}' >\"{}\"\n"
      "{{\n  {}\n}} >\"$w/host.txt\" 2>&1 &\nhost=$!\n"
      "{{\n  {}\n}} >\"$w/device.txt\" 2>&1 &\ndevice=$!\n"
      "wait $host || {{ kill $device 2>/dev/null; cat \"$w/host.txt\"; exit 1; }}\n"
      "wait $device || {{ cat \"$w/device.txt\"; exit 1; }}\n"
      "cat \"$w/host.txt\" \"$w/device.txt\"\n"  // warnings
      "{{\n  {}\n}} >\"$w/machine.txt\" 2>&1 &\nmachine=$!\n"
      "{} || exit 1\n"
      "wait $machine || {{ cat \"$w/machine.txt\"; exit 1; }}\n"
      "{}\n",
      exports, name.size(), name, module_id, wrapper, fatbin, host, device, machine, compile, assemble);
}

}  // namespace course::grader
