// SPDX-License-Identifier: MIT
// Reading order: parallel_script at the end, take_over.
#include "compile/parallel_script.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "process.hpp"
#include "text.hpp"

namespace course::grader {
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

// nvcc's commands by what they make. `machine` makes the machine code and the file with it and the PTX.
struct Commands {
  std::string exports, host, device, machine, compile;
  std::string module_id, fatbin;  // files
};

void then(std::string& to, const std::string& command) {
  to += (to.empty() ? "" : " &&\n  ") + command;
}

// Adds a line of the dry run; false if it has another form than expected.
bool take_over(std::string_view line, const std::string& source, Commands& to) {
  constexpr std::string_view kMark = "#$ ";
  if (!line.starts_with(kMark)) return false;
  line.remove_prefix(kMark.size());
  const std::size_t sign = line.find('=');
  if (sign != std::string_view::npos && line.substr(0, sign).find_first_of(" \"") == std::string_view::npos) {
    const std::string_view name = line.substr(0, sign);
    if (name == "PATH" || name == "CICC_PATH" || name == "NVVMIR_LIBRARY_DIR")
      to.exports += fmt::format("export {}={}\n", name, shell_word(line.substr(sign + 1)));
    return true;
  }
  std::string command = with_names_of_ours(std::string(line));
  replace_all(command, "\"" + source + "\"", "{source}");
  if (command.starts_with("rm ")) return true;
  if (has(command, " -E -x c++ ")) {
    then(has(command, "-D__CUDA_ARCH__=") ? to.device : to.host, command);
  } else if (command.starts_with("cudafe++ ")) {
    // cudafe++ and the device compiler must use the same module id. The script writes it in advance, so
    // that the device compiler need not wait for cudafe++.
    to.module_id = path_behind(command, "--module_id_file_name \"");
    const std::size_t at = command.find("--gen_module_id_file ");
    if (to.module_id.empty() || at == std::string::npos) return false;
    command.erase(at, std::string_view("--gen_module_id_file ").size());
    then(to.host, command);
  } else if (command.starts_with("\"$CICC_PATH/cicc\" ")) {
    then(to.device, command);
  } else if (command.starts_with("ptxas ")) {
    then(to.machine, command);
  } else if (command.starts_with("fatbinary ")) {
    to.fatbin = path_behind(command, "--embedded-fatbin=\"");
    if (to.fatbin.empty()) return false;
    replace_all(command, "--embedded-fatbin=\"" + to.fatbin + "\"", "--create=\"$w/device.fatbin\"");
    then(to.machine, command);
  } else if (has(command, " -c -x c++ ") && to.compile.empty()) {
    to.compile = command;
  } else {
    return false;
  }
  return true;
}

}  // namespace

std::string parallel_script(std::string_view dryrun, const std::string& source) {
  Commands c;
  for (const std::string_view line : lines_of(dryrun))
    if (!take_over(line, source, c)) return "";
  const std::string into_object = "-o \"{object}\"";
  if (c.host.empty() || c.device.empty() || c.machine.empty() || c.fatbin.empty() ||
      !has(c.compile, into_object))
    return "";
  const std::string assemble = fmt::format("{}{} -c \"$w/host.s\" -o {{object}}", program_of(c.compile),
                                           has(c.compile, " -m64 ") ? " -m64" : "");
  replace_all(c.compile, into_object, "-o \"$w/host.s\"");
  replace_all(c.compile, " -c -x c++ ", " -S -x c++ ");
  std::string name = std::filesystem::path(source).filename().string();
  std::ranges::replace_if(
      name, [](char letter) { return letter == '.' || letter == '-'; }, '_');
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
      c.exports, name.size(), name, c.module_id, wrapper, c.fatbin, c.host, c.device, c.machine, c.compile,
      assemble);
}

}  // namespace course::grader
