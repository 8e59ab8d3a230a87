// SPDX-License-Identifier: MIT
#include "process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>

extern char** environ;

namespace course::grader {
namespace {

using Clock = std::chrono::steady_clock;

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (std::string& one : strings) out.push_back(one.data());
  out.push_back(nullptr);
  return out;
}

// Our own environment (if `ours`) and the additions, which replace variables of the same name.
std::vector<std::string> environment_with(const std::vector<std::string>& additions, bool ours) {
  std::vector<std::string> out;
  for (char** variable = environ; ours && *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    const std::string_view name = text.substr(0, text.find('=') + 1);
    const bool replaced = std::ranges::any_of(
        additions, [&](const std::string& added) { return added.compare(0, name.size(), name) == 0; });
    if (!replaced) out.emplace_back(text);
  }
  out.insert(out.end(), additions.begin(), additions.end());
  return out;
}

// The last complete line of some output.
std::string_view last_line(std::string_view text) {
  const std::size_t end = text.rfind('\n');
  if (end == text.npos) return {};
  text = text.substr(0, end);
  return text.substr(text.rfind('\n') + 1);
}

// Reads until end of file or the deadline; true when the deadline came first.
bool read_until(int fd, Clock::time_point deadline, const ProcessOptions& options, std::string& output) {
  std::array<char, 65536> chunk;
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return true;
    pollfd wait{fd, POLLIN, 0};
    const int ready = poll(&wait, 1, static_cast<int>(std::min<long long>(left, 1000)));
    if (ready < 0 && errno != EINTR) return false;
    if (ready <= 0) continue;
    const ssize_t n = read(fd, chunk.data(), chunk.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    const std::size_t room = options.max_output - std::min(options.max_output, output.size());
    output.append(chunk.data(), std::min(static_cast<std::size_t>(n), room));
    if (!options.on_line) continue;
    const std::string_view line = last_line({chunk.data(), static_cast<std::size_t>(n)});
    if (!line.empty()) options.on_line(line);
  }
}

}  // namespace

std::string program_in_path(const std::string& name) {
  const char* path = std::getenv("PATH");
  const std::string folders = std::string(path == nullptr ? "" : path) + ":/usr/local/bin:/usr/bin:/bin";
  for (std::size_t at = 0; at < folders.size();) {
    const std::size_t end = std::min(folders.find(':', at), folders.size());
    const std::string candidate = folders.substr(at, end - at) + "/" + name;
    if (end > at && access(candidate.c_str(), X_OK) == 0) return candidate;
    at = end + 1;
  }
  return name;
}

Result<ProcessResult> run_process(const std::vector<std::string>& arguments, const ProcessOptions& options) {
  if (arguments.empty()) return Error{"There is no program to run."};
  std::vector<std::string> argument_copy = arguments;
  // Found here and started by execve, because execvp would run an arbitrary text file as a shell script.
  const std::string program =
      arguments[0].find('/') == std::string::npos ? program_in_path(arguments[0]) : arguments[0];
  std::vector<std::string> environment = environment_with(options.environment, options.own_environment);
  const std::vector<char*> argv = pointers(argument_copy);
  std::vector<char*> envp = pointers(environment);

  std::array<int, 2> out{};
  std::array<int, 2> started{};  // the child writes errno here when exec fails; exec closes it
  if (pipe2(out.data(), O_CLOEXEC) != 0)
    return Error{fmt::format("No pipe for {}: {}.", arguments[0], std::strerror(errno))};
  if (pipe2(started.data(), O_CLOEXEC) != 0) {
    close(out[0]), close(out[1]);
    return Error{fmt::format("No pipe for {}: {}.", arguments[0], std::strerror(errno))};
  }
  const int null_in = open("/dev/null", O_RDONLY | O_CLOEXEC);
  const pid_t child = fork();
  if (child == 0) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // if the grader is killed, the child is killed too
    dup2(null_in, STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    dup2(out[1], STDERR_FILENO);
    if (options.directory.empty() || chdir(options.directory.c_str()) == 0)
      execve(program.c_str(), argv.data(), envp.data());
    const int reason = errno;
    const ssize_t ignored = write(started[1], &reason, sizeof reason);
    _exit(ignored == 0 ? 126 : 127);
  }
  const int fork_error = errno;
  close(out[1]), close(started[1]);
  if (null_in >= 0) close(null_in);
  if (child < 0) {
    close(out[0]), close(started[0]);
    return Error{fmt::format("{} could not be started: {}.", arguments[0], std::strerror(fork_error))};
  }

  int reason = 0;
  ssize_t n_reason = 0;
  do {
    n_reason = read(started[0], &reason, sizeof reason);
  } while (n_reason < 0 && errno == EINTR);
  close(started[0]);

  ProcessResult result;
  if (n_reason <= 0) {
    const auto limit =
        std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options.seconds));
    result.timed_out = read_until(out[0], Clock::now() + limit, options, result.output);
    if (result.timed_out) kill(-child, SIGKILL);
  }
  close(out[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (n_reason > 0)
    return Error{fmt::format("{} could not be started: {}.", arguments[0], std::strerror(reason))};
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace course::grader
