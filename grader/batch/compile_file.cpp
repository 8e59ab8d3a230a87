// SPDX-License-Identifier: MIT
#include "batch/compile_file.hpp"

#include <fmt/format.h>

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <utility>

#include "build_config.hpp"
#include "compiler_words.hpp"
#include "process.hpp"
#include "report_file.hpp"
#include "screen/screen.hpp"
#include "text.hpp"

namespace course::grader::batch {
namespace fs = std::filesystem;
using lab::Verdict;

namespace {

// Where a sandboxed compiler sees the folder: the same for all, since paths get into names of kernels.
constexpr const char* kSeenAs = "/submission";
// Said from inside of the sandbox before anything that a source could make a compiler say.
constexpr std::string_view kEntered = "in the sandbox\n";
constexpr std::size_t kMaxErrors = 3;
constexpr std::uint64_t kLargestFile = std::uint64_t{512} << 20;  // bytes, that a compiler writes

sandbox::View view_of(const Layout& layout, const Recipe& recipe, const std::string& work) {
  sandbox::View view;
  view.read_only = recipe.headers;
  view.read_only.push_back(layout.root + "/common/tools");  // a wrapper around nvcc, where there is one
  for (const std::string& linked : recipe.linked) view.read_only.push_back(layout.build + "/" + linked);
  std::istringstream tools(kToolFolders);
  for (std::string folder; std::getline(tools, folder);) {
    if (folder.size() > 1) view.read_only.push_back(folder);
  }
  view.placed = {{work, kSeenAs}};
  view.folder = layout.build;
  return view;
}

std::vector<std::string> environment(bool sandboxed) {
  std::vector<std::string> variables{"LC_ALL=C.UTF-8", "CCACHE_DISABLE=1"};
  if (sandboxed) variables.insert(variables.end(), {"HOME=/tmp", "TMPDIR=/tmp"});
  for (const char* kept : {"PATH", "LD_LIBRARY_PATH", "CUDA_HOME"}) {
    if (const char* value = std::getenv(kept); value != nullptr)
      variables.push_back(fmt::format("{}={}", kept, value));
  }
  return variables;
}

// What follows "/tmp/" and is chosen by chance: "ccXXXXXX", "tmpxft_<hex>_<hex>-<number>_"; 0 when nothing does. By hand, since
// std::regex needs as much stack as the text is long, and a source can put any text into a compiler's mouth.
std::size_t length_of_chance(std::string_view text) {
  const auto span = [&](std::size_t from, bool (*belongs)(char)) {
    std::size_t to = from;
    while (to < text.size() && belongs(text[to])) ++to;
    return to - from;
  };
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  const auto letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  constexpr std::size_t kLetters = 6;
  if (text.starts_with("cc") && span(2, letter) >= kLetters) return 2 + kLetters;
  constexpr std::string_view kNvcc = "tmpxft_";
  if (!text.starts_with(kNvcc)) return 0;
  std::size_t at = kNvcc.size();
  for (const auto& [belongs, end] : {std::pair<bool (*)(char), char>{hex, '_'}, {hex, '-'}, {digit, '_'}}) {
    const std::size_t n = span(at, belongs);
    if (n == 0 || at + n == text.size() || text[at + n] != end) return 0;
    at += n + 1;
  }
  return at;
}

}  // namespace

std::string without_chance(const std::string& text) {
  constexpr std::string_view kFolder = "/tmp/";
  std::string out;
  std::string_view rest = text;
  for (std::size_t at; (at = rest.find(kFolder)) != std::string_view::npos;) {
    out += rest.substr(0, at + kFolder.size());
    rest.remove_prefix(at + kFolder.size());
    const std::size_t chance = length_of_chance(rest);
    if (chance > 0) out += "…";
    rest.remove_prefix(chance);
  }
  return out.append(rest);
}

BuildOutcome compile_file(const Layout& layout, const Recipe& recipe, const std::string& lab,
                          const std::string& source, const std::string& work, const BuildOptions& options) {
  std::error_code failed;
  fs::create_directories(work, failed);
  if (!failed) fs::permissions(work, fs::perms(0755), failed);
  if (!failed) fs::copy_file(source, work + "/" + lab + ".cu", fs::copy_options::overwrite_existing, failed);
  if (failed)
    return {Verdict::infra, fmt::format("{} could not be copied to {}: {}.", source, work, failed.message())};

  const bool sandboxed = options.machine != nullptr && options.machine->level != sandbox::Isolation::none;
  const bool placed = sandboxed && options.machine->namespaces != sandbox::Namespaces::none;
  const std::string seen = placed ? kSeenAs : work;
  std::optional<sandbox::Sandbox> sandbox;
  if (sandboxed) {
    sandbox::Bounds bounds;
    bounds.memory_bytes = bounds.address_bytes = options.memory_bytes;
    bounds.file_bytes = kLargestFile;
    bounds.cpu_seconds = static_cast<std::uint64_t>(options.cpu_seconds);
    sandbox.emplace(*options.machine, sandbox::Purpose::compile, view_of(layout, recipe, work), bounds);
  }
  const auto source_name = fmt::format("labs/{0}/{0}.cu", lab);
  for (const std::string* step : {&recipe.compile, &recipe.link}) {
    std::vector<std::string> command;
    if (sandbox) command = sandbox->launcher();
    command.insert(command.end(), {"/bin/sh", "-c",
                                   fmt::format("printf '{}'; {}", kEntered,
                                               fill_in(*step, seen + "/" + lab + ".cu",
                                                       seen + "/" + lab + ".cu.o", seen + "/runner"))});
    ProcessOptions process;
    process.directory = layout.build;
    process.seconds = options.seconds;
    process.own_environment = !sandboxed;
    process.environment = environment(sandboxed);
    const auto done = run_process(command, process);
    if (!done) return {Verdict::infra, done.error().text};
    if (done->timed_out)
      return {Verdict::compile_error,
              fmt::format("Compiling took longer than {:.0f} s and was stopped.", options.seconds)};
    if (done->exit_code == 0) {
      // Runners are another user's where the grader is root, whatever its umask is.
      fs::permissions(work + "/runner", fs::perms(0755), failed);
      continue;
    }
    // As lab::Session: what could not be shut in is no fault of the submission.
    if (!done->output.starts_with(kEntered))
      return {Verdict::infra, "It could not be shut in for compiling: " + tame(first_lines(done->output, 3))};
    std::string said = first_errors(std::string_view(done->output).substr(kEntered.size()), kMaxErrors);
    replace_all(said, seen + "/" + lab + ".cu", source_name);
    replace_all(said, seen + "/", "");
    said = without_chance(said);
    if (said.empty())
      said = fmt::format("The compiler ended with code {} and said nothing.", done->exit_code);
    return {Verdict::compile_error,
            tame(compile_message(source_name, shorten_paths(std::move(said), layout)))};
  }
  if (options.screen && screen::can_read_objects()) {
    const auto message = screen::screen_object(work + "/" + lab + ".cu.o", lab);
    if (!message) return {Verdict::infra, message.error().text};
    if (!message->empty()) return {Verdict::policy, source_name + " " + *message};
  }
  return {Verdict::ok, ""};
}

BuildOutcome compile_once(const Layout& layout, const Recipe& recipe, const std::string& lab,
                          const std::string& source, const std::string& work, const BuildOptions& options) {
  const std::string noted = work + "/built.json";
  std::ifstream file(noted);
  const nlohmann::json before = nlohmann::json::parse(file, nullptr, false);
  if (before.is_object()) {
    for (const Verdict verdict : {Verdict::ok, Verdict::compile_error, Verdict::policy}) {
      if (before.value("verdict", "") != lab::name_of(verdict)) continue;
      if (verdict != Verdict::ok || fs::exists(work + "/runner"))
        return {verdict, before.value("message", "")};
    }
  }
  BuildOutcome outcome = compile_file(layout, recipe, lab, source, work, options);
  if (outcome.verdict == Verdict::infra) return outcome;  // not to be remembered
  const nlohmann::json note = {{"verdict", lab::name_of(outcome.verdict)}, {"message", outcome.message}};
  const std::string text = note.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
  if (const auto done = write_report(noted, text); !done) return {Verdict::infra, done.error().text};
  return outcome;
}

}  // namespace course::grader::batch
