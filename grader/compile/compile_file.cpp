// SPDX-License-Identifier: MIT
#include "compile/compile_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>

#include "compile/diagnostics.hpp"
#include "process.hpp"
#include "report/report_file.hpp"
#include "screen/screen.hpp"
#include "text.hpp"

namespace course::grader {
namespace fs = std::filesystem;
using lab::Verdict;

namespace {

// The path of the compiler's folder inside the sandbox. It is the same for all submissions, because messages
// may contain it.
constexpr const char* kSeenAs = "/submission";
// Printed inside the sandbox before any output that a source could cause.
constexpr std::string_view kEntered = "in the sandbox\n";
// bytes, limit of the files that compilers write
constexpr std::uint64_t kLargestFile = std::uint64_t{512} << 20;

std::vector<std::string> environment(bool sandboxed) {
  std::vector<std::string> variables{"LC_ALL=C.UTF-8", "CCACHE_DISABLE=1"};
  if (sandboxed) variables.insert(variables.end(), {"HOME=/tmp", "TMPDIR=/tmp"});
  for (const char* kept : {"PATH", "LD_LIBRARY_PATH", "CUDA_HOME"}) {
    if (const char* value = std::getenv(kept); value != nullptr)
      variables.push_back(fmt::format("{}={}", kept, value));
  }
  return variables;
}

}  // namespace

std::string without_chance(const std::string& text) {
  static const std::regex kTemporaryFile("/tmp/cc[A-Za-z0-9]{6}");
  return std::regex_replace(text, kTemporaryFile, "/tmp/…");
}

Result<void> take_file(const std::string& from, const std::string& to, std::uintmax_t most_bytes,
                       unsigned permissions) {
  const int in = open(from.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (in < 0) return Error{fmt::format("{} can't be read: {}", from, std::strerror(errno))};
  struct stat status {};
  const bool plain = fstat(in, &status) == 0 && S_ISREG(status.st_mode);
  if (!plain || static_cast<std::uintmax_t>(status.st_size) > most_bytes) {
    close(in);
    return Error{from + (plain ? " is too large" : " is not a plain file")};
  }
  std::remove(to.c_str());
  const int out = open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, permissions);
  bool good = out >= 0 && fchmod(out, permissions) == 0;
  ssize_t n = 1;
  for (std::uintmax_t left = most_bytes; good && n > 0; left -= static_cast<std::uintmax_t>(n)) {
    n = sendfile(out, in, nullptr, left);
    good = n >= 0;
  }
  const std::string problem = std::strerror(errno);
  if (out >= 0) good = close(out) == 0 && good;
  close(in);
  if (!good) return Error{fmt::format("{} could not be copied to {}: {}", from, to, problem)};
  return {};
}

namespace {

// One stage: a command in a sandbox that may write to only one folder.
class SandboxedShell {
 public:
  SandboxedShell(const Layout& layout, const std::string& folder, std::vector<std::string> visible,
                 std::vector<std::pair<std::string, std::string>> shown_as, const BuildOptions& options)
      : layout_(layout), folder_(folder), options_(options) {
    const sandbox::Machine* machine = options.machine;
    if (machine == nullptr || machine->level == sandbox::Isolation::none) return;
    if (machine->other_user) {
      const unsigned user = sandbox::fresh_uid();
      if (chown(folder.c_str(), user, user) != 0) problem_ = std::strerror(errno);
    }
    sandbox::View view;
    view.read_only = std::move(visible);
    for (const std::string& tool : layout.toolchain.folders)
      if (tool.size() > 1) view.read_only.push_back(tool);
    view.shown_as = std::move(shown_as);
    view.placed = {{folder, kSeenAs}};
    view.folder = layout.root;
    sandbox::Bounds bounds;
    bounds.memory_bytes = bounds.address_bytes = options.memory_bytes;
    bounds.file_bytes = kLargestFile;
    bounds.cpu_seconds = static_cast<std::uint64_t>(options.cpu_seconds);
    sandbox_.emplace(*machine, sandbox::Purpose::compile, std::move(view), bounds);
  }

  // Whether paths inside the sandbox differ from those outside.
  static bool is_placed(const BuildOptions& options) {
    return options.machine != nullptr && options.machine->namespaces != sandbox::Namespaces::none &&
           options.machine->level != sandbox::Isolation::none;
  }
  // The path of the writable folder inside the sandbox.
  std::string seen() const { return is_placed(options_) ? kSeenAs : folder_; }

  // std::nullopt if the command succeeded, else the verdict and the command's output. `warnings`: the first
  // ones of a command that succeeded.
  std::optional<BuildOutcome> run(const std::string& command, std::string* warnings = nullptr) const {
    if (!problem_.empty()) return BuildOutcome{Verdict::infra, fmt::format("{}: {}", folder_, problem_)};
    std::vector<std::string> words;
    if (sandbox_) words = sandbox_->launcher();
    words.insert(words.end(), {"/bin/sh", "-c", fmt::format("printf '{}'\n{}", kEntered, command)});
    ProcessOptions process;
    process.directory = layout_.root;
    process.seconds = options_.seconds;
    process.own_environment = !sandbox_;
    process.environment = environment(sandbox_.has_value());
    const auto done = run_process(words, process);
    if (!done) return BuildOutcome{Verdict::infra, done.error().text};
    if (done->timed_out)
      return BuildOutcome{
          Verdict::compile_error,
          fmt::format("Compiling took longer than {:.0f} s and was stopped.", options_.seconds)};
    if (done->exit_code == 0 && warnings != nullptr) *warnings = first_warnings(done->output, kMaxWarnings);
    if (done->exit_code == 0) return std::nullopt;
    // As in lab::Session: it is not the submission's fault if the sandbox does not start.
    if (!done->output.starts_with(kEntered))
      return BuildOutcome{Verdict::infra,
                          "Compiling could not be sandboxed: " + tame(first_lines(done->output, 3))};
    const std::string said = first_errors(std::string_view(done->output).substr(kEntered.size()), kMaxErrors);
    return BuildOutcome{
        Verdict::compile_error,
        said.empty() ? fmt::format("The compiler ended with code {} and said nothing.", done->exit_code)
                     : said};
  }

 private:
  const Layout& layout_;
  std::string folder_;
  const BuildOptions& options_;
  std::optional<sandbox::Sandbox> sandbox_;
  std::string problem_;
};

Result<void> make_fresh(const std::string& folder) {
  std::error_code failed;
  fs::remove_all(folder, failed);
  if (!failed) fs::create_directories(folder, failed);
  if (!failed) fs::permissions(folder, fs::perms(0755), failed);  // independent of the grader's umask
  if (failed) return Error{fmt::format("{} can't be made: {}", folder, failed.message())};
  return {};
}

// The outcome with readable compiler messages, in which paths are the ones that a student knows.
BuildOutcome worded(BuildOutcome outcome, const Layout& layout, const std::string& lab,
                    const std::string& work, const std::string& seen) {
  if (outcome.verdict != Verdict::compile_error && outcome.verdict != Verdict::ok) return outcome;
  const std::string file = fmt::format("labs/{0}/{0}.cu", lab);
  std::string& said = outcome.message;
  replace_all(said, fmt::format("{}/{}.cu", work, lab), file);
  replace_all(said, layout.root + "/" + file, file);
  replace_all(said, work + "/object.o", lab + ".cu.o");
  replace_all(said, seen + "/", "");
  said = shorten_paths(without_chance(said), layout);
  said = tame(outcome.verdict == Verdict::ok ? said : compile_message(file, said));
  return outcome;
}

// The last stage: links work/object.o, which has been screened, to work/runner.
BuildOutcome link_runner(const Layout& layout, const Recipe& recipe, const std::string& lab,
                         const std::string& work, const BuildOptions& options) {
  const std::string linked = work + "/linked", object = work + "/" + kScreenedObject;
  if (const auto made = make_fresh(linked); !made) return {Verdict::infra, made.error().text};
  // Commands run in the checkout's folder, so something of it must be visible.
  std::vector<std::string> visible{object, layout.root + "/common/tools"};
  for (const std::string& path : recipe.linked) visible.push_back(layout.build + "/" + path);
  if (!layout.toolkit_lib_dir.empty()) visible.push_back(layout.toolkit_lib_dir);
  const SandboxedShell shell(layout, linked, visible, {}, options);
  if (auto failed = shell.run(fill_in(recipe.link, "", object, shell.seen() + "/runner")))
    return worded(std::move(*failed), layout, lab, work, shell.seen());
  // Everybody may execute the runner, because it runs as another user if the grader is root.
  if (const auto taken = take_file(linked + "/runner", work + "/runner", kLargestFile, 0755); !taken)
    return {Verdict::infra, taken.error().text};
  return {Verdict::ok, ""};
}

}  // namespace

std::string only_for_task(std::string_view source, std::string_view task) {
  constexpr std::string_view kCase = "case Rung::", kReturn = ": return ";
  std::string out;
  bool found = false;
  for (const std::string_view line : lines_of(source)) {
    const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
    const std::string_view text = line.substr(begin);
    const std::size_t colon = text.find(kReturn);
    const bool is_branch = text.starts_with(kCase) && colon != std::string_view::npos && text.ends_with(';');
    const bool is_task = is_branch && text.substr(kCase.size(), colon - kCase.size()) == task;
    found = found || is_task;
    out += is_branch && !is_task
               ? std::string(line.substr(0, begin + colon + kReturn.size())) + "Status::unsupported;"
               : std::string(line);
    out += "\n";
  }
  return found ? out : std::string(source);
}

BuildOutcome compile_file(const Layout& layout, const Recipe& recipe, const std::string& lab,
                          const std::string& source, const std::string& work, const BuildOptions& options) {
  const auto infra = [](const Error& error) { return BuildOutcome{Verdict::infra, error.text}; };
  const std::string file = fmt::format("labs/{0}/{0}.cu", lab), there = layout.root + "/" + file;
  const std::string copy = fmt::format("{}/{}.cu", work, lab), object = work + "/" + kScreenedObject;
  const std::string compiled = work + "/compiled";
  if (const auto made = make_fresh(compiled); !made) return infra(made.error());
  std::error_code ignored;
  fs::permissions(work, fs::perms(0755), ignored);
  if (const auto taken = take_file(source, copy, kMaxSource, 0644); !taken) return infra(taken.error());

  if (!options.only_task.empty()) {
    const std::string whole = contents_of(copy);
    std::ofstream(copy) << only_for_task(whole, options.only_task);
  }
  const bool placed = SandboxedShell::is_placed(options);
  const bool as_it_is = source == there && options.only_task.empty();
  const std::string seen_source = placed || as_it_is ? file : copy;
  BuildOutcome done{Verdict::ok, ""};
  {
    const SandboxedShell shell(layout, compiled, recipe.headers, {{copy, there}}, options);
    const std::string output = shell.seen() + "/" + lab + ".cu.o";
    if (auto failed = shell.run(fill_in(recipe.compile, seen_source, output, ""), &done.message))
      done = std::move(*failed);
    done = worded(std::move(done), layout, lab, work, shell.seen());
    if (done.verdict != Verdict::ok) return done;
  }
  if (const auto taken = take_file(compiled + "/" + lab + ".cu.o", object, kLargestFile, 0644); !taken)
    return {Verdict::compile_error, tame(compile_message(file, "The compiler left no object file."))};

  screen::Screened screened;
  if (options.screen) {
    auto found = screen::screen_object(object, lab, recipe.several_devices);
    if (!found) return {Verdict::policy, fmt::format("{} {}", file, tame(found.error().text))};
    screened = std::move(*found);
  }
  const BuildOutcome refused{Verdict::policy, file + " " + screened.message};
  if (!screened.message.empty() && !screened.may_be_linked) return refused;
  BuildOutcome linked = link_runner(layout, recipe, lab, work, options);
  if (linked.verdict != Verdict::ok) return linked;
  return screened.message.empty() ? done : refused;
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
  if (outcome.verdict == Verdict::infra) return outcome;  // not stored, so that it is tried again
  const nlohmann::json note = {{"verdict", lab::name_of(outcome.verdict)}, {"message", outcome.message}};
  const std::string text = note.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
  if (const auto done = write_report(noted, text); !done) return {Verdict::infra, done.error().text};
  return outcome;
}

}  // namespace course::grader
