// SPDX-License-Identifier: MIT
#include "build.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "build_config.hpp"
#include "compiler_words.hpp"
#include "process.hpp"
#include "screen/screen.hpp"
#include "text.hpp"

namespace course::grader {
namespace {

using lab::Verdict;

constexpr std::size_t kMaxErrors = 3;
constexpr std::size_t kMaxLines = 24;
constexpr std::uint64_t kCompileFile = std::uint64_t{512} << 20;  // bytes, of one file that it writes
constexpr std::uintmax_t kMaxSource = 1U << 20;                   // bytes

// "[3/9] Compiling …": ninja's line before each command's output.
bool is_progress(std::string_view line) {
  if (line.size() < 5 || line[0] != '[') return false;
  const std::size_t slash = line.find('/');
  const std::size_t close = line.find(']');
  if (slash == std::string_view::npos || close == std::string_view::npos || slash > close) return false;
  return std::all_of(line.begin() + 1, line.begin() + static_cast<std::ptrdiff_t>(slash),
                     [](char c) { return c >= '0' && c <= '9'; });
}

std::string tail_lines(std::string_view text, std::size_t n) {
  const std::vector<std::string_view> lines = lines_of(text);
  const std::size_t first = lines.size() > n ? lines.size() - n : 0;
  std::string out;
  for (std::size_t i = first; i < lines.size(); ++i) out += std::string(lines[i]) + "\n";
  return out;
}

}  // namespace

std::vector<FailedEdge> failed_edges(std::string_view ninja_output) {
  std::vector<FailedEdge> edges;
  bool in_failed = false;
  bool command_line = false;  // the line after FAILED repeats the command
  for (const std::string_view line : lines_of(ninja_output)) {
    if (line.starts_with("FAILED: ")) {
      std::string_view target = line.substr(8);
      // Newer versions say "FAILED: [code=1] target".
      if (target.starts_with("[code=")) target.remove_prefix(std::min(target.find(' ') + 1, target.size()));
      target = target.substr(0, target.find(' '));
      edges.push_back({std::string(target), ""});
      in_failed = true;
      command_line = true;
      continue;
    }
    if (is_progress(line) || line.starts_with("ninja: ")) {
      in_failed = false;
      continue;
    }
    if (command_line) {
      command_line = false;
      continue;
    }
    if (in_failed) edges.back().output += std::string(line) + "\n";
  }
  return edges;
}

std::string shorten_paths(std::string text, const Layout& layout) {
  std::error_code ignored;
  const std::string from_build = std::filesystem::relative(layout.root, layout.build, ignored).string();
  replace_all(text, layout.build + "/", "");
  replace_all(text, layout.root + "/", "");
  if (!from_build.empty() && from_build.starts_with("..")) replace_all(text, from_build + "/", "");
  return text;
}

std::map<std::string, BuildOutcome> judge_build(std::span<const std::string> labs, bool solutions,
                                                int exit_code, std::string_view ninja_output,
                                                const Layout& layout) {
  std::map<std::string, BuildOutcome> outcomes;
  if (exit_code == 0) {
    for (const std::string& lab : labs) outcomes[lab] = {Verdict::ok, ""};
    return outcomes;
  }
  const std::vector<FailedEdge> edges = failed_edges(ninja_output);
  const auto folder = [&](const std::string& lab) {
    return fmt::format("{}/{}/", solutions ? "solutions" : "labs", lab);
  };
  std::string not_ours;  // what failed outside of all these labs
  for (const FailedEdge& edge : edges) {
    const bool ours = std::any_of(labs.begin(), labs.end(), [&](const std::string& lab) {
      return edge.target.starts_with(folder(lab));
    });
    if (!ours) not_ours += edge.target + "\n" + first_errors(edge.output, 1) + "\n";
  }
  if (edges.empty()) not_ours = tail_lines(ninja_output, 12);
  for (const std::string& lab : labs) {
    std::string own;
    for (const FailedEdge& edge : edges) {
      if (edge.target.starts_with(folder(lab))) own += edge.output;
    }
    const bool failed = std::any_of(edges.begin(), edges.end(), [&](const FailedEdge& edge) {
      return edge.target.starts_with(folder(lab));
    });
    if (failed) {
      const std::string errors = shorten_paths(first_errors(own, kMaxErrors), layout);
      outcomes[lab] = {Verdict::compile_error,
                       tame(compile_message(fmt::format("{}{}.cu", folder(lab), lab), errors))};
    } else if (!not_ours.empty()) {
      outcomes[lab] = {Verdict::infra, "The course's own code did not build:\n" +
                                           tame(shorten_paths(first_lines(not_ours, kMaxLines), layout))};
    } else {
      outcomes[lab] = {Verdict::ok, ""};
    }
  }
  return outcomes;
}

sandbox::View compile_view(const Layout& layout, bool solutions,
                           std::span<const std::string> inputs_of_build) {
  namespace fs = std::filesystem;
  sandbox::View view;
  view.read_only = {layout.root};
  for (const std::string_view folder : lines_of(kToolFolders)) {
    if (folder.size() > 1) view.read_only.emplace_back(folder);
  }
  view.writable = {layout.build};
  view.empty = {layout.root + "/.git"};
  if (!solutions) {
    for (const std::string& base : {layout.root, layout.build}) {
      for (const char* folder : {"/solutions", "/grader/mutants", "/grader/hostile"})
        view.empty.push_back(base + folder);
    }
  }
  for (const std::string& input : inputs_of_build) {
    std::error_code failed;
    const std::string path = fs::weakly_canonical(fs::path(layout.build) / input, failed).string();
    const auto lies_in = [&](const std::vector<std::string>& folders) {
      return std::any_of(folders.begin(), folders.end(),
                         [&](const std::string& folder) { return path.starts_with(folder + "/"); });
    };
    // ninja makes build.ninja anew when one of its inputs seems to be gone.
    const bool visible = (lies_in(view.read_only) || lies_in(view.writable)) && !lies_in(view.empty);
    if (!failed && !visible) view.shown.push_back(path);
  }
  view.folder = layout.build;
  return view;
}

namespace {

// What a sandbox must show for this program to start: its folder, or the Python environment that it belongs to.
std::string folder_of_program(const std::string& program) {
  const std::filesystem::path folder = std::filesystem::path(program).parent_path();
  std::error_code ignored;
  return std::filesystem::exists(folder.parent_path() / "pyvenv.cfg", ignored) ? folder.parent_path()
                                                                               : folder;
}

// The inputs of build.ninja, as "ninja -t query build.ninja" lists them.
std::vector<std::string> inputs_of_build(std::string_view query) {
  std::vector<std::string> inputs;
  bool in_inputs = false;
  for (const std::string_view line : lines_of(query)) {
    if (line.starts_with("  input:")) in_inputs = true;
    if (line.starts_with("  outputs:")) in_inputs = false;
    if (!in_inputs || !line.starts_with("    ")) continue;
    const std::size_t at = line.find_first_not_of(" |");
    if (at != std::string_view::npos) inputs.emplace_back(line.substr(at));
  }
  return inputs;
}

// Compilers, ninja: nothing of the grader's own environment.
std::vector<std::string> build_environment(bool sandboxed) {
  std::vector<std::string> variables{"NINJA_STATUS=[%f/%t] ", "CLICOLOR_FORCE=0", "LC_ALL=C.UTF-8"};
  if (!sandboxed) return variables;
  variables.insert(variables.end(), {"HOME=/tmp", "TMPDIR=/tmp", "CCACHE_DISABLE=1"});
  for (const char* kept : {"PATH", "LD_LIBRARY_PATH", "CUDA_HOME"}) {
    if (const char* value = std::getenv(kept); value != nullptr)
      variables.push_back(fmt::format("{}={}", kept, value));
  }
  return variables;
}

// A student's file is a file: a link could lead anywhere, a pipe would never end.
BuildOutcome ingest(const Layout& layout, const std::string& lab) {
  const std::string source = fmt::format("labs/{0}/{0}.cu", lab);
  std::error_code failed;
  const auto status = std::filesystem::symlink_status(layout.root + "/" + source, failed);
  if (!std::filesystem::exists(status)) return {Verdict::ok, ""};  // ninja says so better
  if (!std::filesystem::is_regular_file(status))
    return {Verdict::policy,
            fmt::format("{} is no plain file: hand in the file itself, no link and nothing else", source)};
  if (std::filesystem::file_size(layout.root + "/" + source, failed) > kMaxSource)
    return {Verdict::policy, fmt::format("{} is larger than {} KiB", source, kMaxSource / 1024)};
  return {Verdict::ok, ""};
}

void screen_objects(const Layout& layout, bool solutions, std::map<std::string, BuildOutcome>& outcomes) {
  for (auto& [lab, outcome] : outcomes) {
    if (outcome.verdict != Verdict::ok) continue;
    const auto message = screen::screen_object(layout.object(lab, solutions), lab);
    if (!message) {
      outcome = {Verdict::infra, message.error().text};
    } else if (!message->empty()) {
      outcome = {Verdict::policy,
                 fmt::format("{}/{}/{}.cu {}", solutions ? "solutions" : "labs", lab, lab, *message)};
    }
  }
}

}  // namespace

std::map<std::string, BuildOutcome> build_runners(const Layout& layout, std::span<const std::string> all_labs,
                                                  const BuildOptions& options) {
  std::map<std::string, BuildOutcome> outcomes, refused;
  std::vector<std::string> labs;
  for (const std::string& lab : all_labs) {
    BuildOutcome ingested = options.solutions ? BuildOutcome{Verdict::ok, ""} : ingest(layout, lab);
    if (ingested.verdict == Verdict::ok) {
      labs.push_back(lab);
    } else {
      refused[lab] = std::move(ingested);
    }
  }
  if (labs.empty()) return refused;
  const auto all = [&](Verdict verdict, const std::string& message) {
    for (const std::string& lab : labs) outcomes[lab] = {verdict, message};
    outcomes.merge(refused);
    return outcomes;
  };
  const auto ninja = [&](std::vector<std::string> arguments, const sandbox::Sandbox* sandbox) {
    std::vector<std::string> command;
    if (sandbox != nullptr) command = sandbox->launcher();
    command.push_back(program_in_path("ninja"));
    command.insert(command.end(), {"-C", layout.build});
    command.insert(command.end(), arguments.begin(), arguments.end());
    ProcessOptions process;
    process.seconds = options.seconds;
    process.own_environment = sandbox == nullptr;
    process.environment = build_environment(sandbox != nullptr);
    return run_process(command, process);
  };
  const auto unusable = [&](const Error& error) {
    return all(Verdict::infra, error.text + " Run ./lab doctor to see what is missing.");
  };

  std::vector<std::string> targets;
  for (const std::string& lab : labs) targets.push_back(Layout::runner_target(lab, options.solutions));
  std::optional<sandbox::Sandbox> sandbox;
  if (options.machine != nullptr && options.machine->level != sandbox::Isolation::none) {
    // The course's own part first, outside: it may look at everything, and most often there is nothing to do.
    std::vector<std::string> ours{"build.ninja"};
    if (*kSimulatorTarget != '\0') ours.emplace_back(kSimulatorTarget);
    const auto done = ninja(ours, nullptr);
    if (!done) return unusable(done.error());
    if (done->exit_code != 0)
      return judge_build(labs, options.solutions, done->exit_code, done->output, layout);
    const auto query = ninja({"-t", "query", "build.ninja"}, nullptr);
    if (!query) return unusable(query.error());
    sandbox::Bounds bounds;
    bounds.memory_bytes = options.memory_bytes * std::max(1u, options.jobs);
    bounds.address_bytes = options.memory_bytes;
    bounds.file_bytes = kCompileFile;
    bounds.cpu_seconds = static_cast<std::uint64_t>(options.cpu_seconds);
    sandbox::View view = compile_view(layout, options.solutions, inputs_of_build(query->output));
    view.read_only.push_back(folder_of_program(program_in_path("ninja")));
    sandbox.emplace(*options.machine, sandbox::Purpose::compile, std::move(view), bounds);
  } else if (*kSimulatorTarget != '\0') {
    targets.emplace_back(kSimulatorTarget);
  }
  // -k 0: one lab's error must not keep the others from being built.
  targets.insert(targets.begin(), {"-k", "0", "-j", std::to_string(options.jobs)});
  const Result<ProcessResult> done = ninja(targets, sandbox ? &*sandbox : nullptr);
  if (!done) return unusable(done.error());
  if (done->timed_out) {
    return all(Verdict::compile_error,
               fmt::format("Compiling took longer than {:.0f} s and was stopped.", options.seconds));
  }
  outcomes = judge_build(labs, options.solutions, done->exit_code, done->output, layout);
  if (options.screen && screen::can_read_objects()) screen_objects(layout, options.solutions, outcomes);
  outcomes.merge(refused);
  return outcomes;
}

}  // namespace course::grader
