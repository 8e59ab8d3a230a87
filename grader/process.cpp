// SPDX-License-Identifier: MIT
#include "process.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/clock.hpp"
#include "verifier/child_process.hpp"

extern char** environ;

namespace course::grader {
namespace {

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

// Reads until end of file or the deadline.
void read_until(int fd, const Deadline& deadline, const ProcessOptions& options, std::string& output) {
  std::array<char, 65536> chunk;
  while (!deadline.passed()) {
    pollfd wait{fd, POLLIN, 0};
    poll(&wait, 1, deadline.milliseconds_left());
    const ssize_t n = read(fd, chunk.data(), chunk.size());
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n <= 0) return;
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
  lab::ChildProcess::Options how;
  how.argv = arguments;
  if (arguments[0].find('/') == std::string::npos) how.argv[0] = program_in_path(arguments[0]);
  how.environment = environment_with(options.environment, options.own_environment);
  how.directory = options.directory;
  how.talks = false;
  auto child = lab::ChildProcess::start(how);
  if (!child) return child.error();

  ProcessResult result;
  const Deadline deadline(options.seconds);
  read_until(child->output_fd(), deadline, options, result.output);
  pollfd gone{child->pid_fd(), POLLIN, 0};
  while (poll(&gone, 1, deadline.milliseconds_left()) < 0 && errno == EINTR) {
  }
  result.timed_out = !child->ended();
  child->kill_group();
  const auto end = child->ended().value_or(lab::ChildProcess::End{-1, SIGKILL});
  result.exit_code = end.signal == 0 ? end.exit_code : 128 + end.signal;
  return result;
}

std::string contents_of(const std::string& path) {
  return (std::ostringstream() << std::ifstream(path, std::ios::binary).rdbuf()).str();
}

std::string shell_word(std::string_view word) {
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace course::grader
