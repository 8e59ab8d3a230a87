// SPDX-License-Identifier: MIT
#include "compile/compile_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

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

// The length of the random name that follows "/tmp/": "ccXXXXXX" or "tmpxft_<hex>_<hex>-<number>_"; 0 if
// there is none. Not a regular expression, because the stack that std::regex needs grows with the text, and a
// source can make compilers print texts of any length.
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
  std::vector<char> chunk(std::size_t{1} << 20);
  std::uintmax_t left = most_bytes;
  for (ssize_t n = 1; good && n > 0 && left > 0;
       left -= static_cast<std::uintmax_t>(std::max<ssize_t>(n, 0))) {
    n = read(in, chunk.data(), std::min<std::uintmax_t>(chunk.size(), left));
    good = n >= 0 && (n == 0 || write(out, chunk.data(), static_cast<std::size_t>(n)) == n);
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

  // std::nullopt if the command succeeded, else the verdict and the command's output.
  std::optional<BuildOutcome> run(const std::string& command) const {
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

// The times at which the compilers' steps ended, from the modification times of their output files.
std::vector<StageTime> times_of(const std::string& folder, fs::file_time_type begin) {
  constexpr std::pair<const char*, const char*> kFiles[] = {
      {".cpp4.ii", "host: headers read"},   {".cudafe1.cpp", "host: split from the device's"},
      {".cpp1.ii", "device: headers read"}, {".ptx", "device: PTX"},
      {".cubin", "device: machine code"},   {"host.s", "host: compiled"},
      {".cu.o", "host: assembled"}};
  std::vector<StageTime> times;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    for (const auto& [ending, stage] : kFiles) {
      if (!entry.path().string().ends_with(ending)) continue;
      const auto taken = fs::last_write_time(entry.path(), ignored) - begin;
      times.push_back({stage, std::chrono::duration<double>(taken).count()});
    }
  }
  std::ranges::sort(times, {}, &StageTime::seconds);
  return times;
}

// The outcome with readable compiler messages, in which paths are the ones that a student knows.
BuildOutcome worded(BuildOutcome outcome, const Layout& layout, const std::string& lab,
                    const std::string& work, const std::string& seen) {
  if (outcome.verdict != Verdict::compile_error) return outcome;
  const std::string file = fmt::format("labs/{0}/{0}.cu", lab);
  std::string& said = outcome.message;
  replace_all(said, fmt::format("{}/{}.cu", work, lab), file);
  replace_all(said, layout.root + "/" + file, file);
  replace_all(said, work + "/object.o", lab + ".cu.o");
  replace_all(said, seen + "/", "");
  said = tame(compile_message(file, shorten_paths(without_chance(said), layout)));
  return outcome;
}

}  // namespace

std::string only_for_task(std::string_view source, std::string_view task,
                          std::span<const std::string_view> job_types) {
  constexpr std::string_view kCase = "case Rung::", kReturn = ": return ", kCall = "(job);";
  std::string condition;
  for (const std::string_view type : job_types)
    condition += fmt::format("{}std::is_same_v<std::remove_cvref_t<decltype(job)>, {}>",
                             condition.empty() ? "" : " || ", type);
  std::string out;
  bool found = false;
  for (const std::string_view line : lines_of(source)) {
    const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
    const std::string_view text = line.substr(begin);
    const std::size_t colon = text.find(kReturn);
    const bool is_branch = text.starts_with(kCase) && colon != std::string_view::npos && text.ends_with(';');
    const bool is_task = is_branch && text.substr(kCase.size(), colon - kCase.size()) == task;
    found = found || is_task;
    // In a lab with a type of job for each task, no job is in scope here.
    if (is_task && !condition.empty() && text.ends_with(kCall)) {
      out += fmt::format("{}: if constexpr ({}) {} else return Status::unsupported;\n",
                         line.substr(0, begin + colon), condition, text.substr(colon + 2));
      continue;
    }
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
    std::ostringstream text;
    text << std::ifstream(copy).rdbuf();
    std::ofstream(copy) << only_for_task(text.str(), options.only_task, options.only_jobs);
  }
  const bool placed = SandboxedShell::is_placed(options);
  const bool as_it_is = source == there && options.only_task.empty();
  const std::string seen_source = placed || as_it_is ? file : copy;
  const auto begin = fs::file_time_type::clock::now();
  const auto since = [&] {
    return std::chrono::duration<double>(fs::file_time_type::clock::now() - begin).count();
  };
  {
    const SandboxedShell shell(layout, compiled, recipe.headers, {{copy, there}}, options);
    const std::string output = shell.seen() + "/" + lab + ".cu.o";
    if (auto failed = shell.run(fill_in(recipe.compile, seen_source, output, "")))
      return worded(std::move(*failed), layout, lab, work, shell.seen());
  }
  if (const auto taken = take_file(compiled + "/" + lab + ".cu.o", object, kLargestFile, 0644); !taken)
    return {Verdict::compile_error, tame(compile_message(file, "The compiler left no object file."))};

  std::vector<StageTime> times = times_of(compiled, begin);
  screen::Screened screened;
  if (options.screen) {
    auto found = screen::screen_object(object, lab, recipe.several_devices);
    if (!found) return {Verdict::policy, fmt::format("{} {}", file, tame(found.error().text))};
    screened = std::move(*found);
  }
  const BuildOutcome refused{Verdict::policy, file + " " + screened.message};
  if (!screened.message.empty() && !screened.may_be_linked) return refused;
  times.push_back({"screened", since()});
  BuildOutcome done = link_object(layout, recipe, lab, work, options);
  times.push_back({"linked", since()});
  done.times = std::move(times);
  return done.verdict == Verdict::ok && !screened.message.empty() ? refused : done;
}

BuildOutcome link_object(const Layout& layout, const Recipe& recipe, const std::string& lab,
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
