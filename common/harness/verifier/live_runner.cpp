// SPDX-License-Identifier: MIT
#include "verifier/live_runner.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/clock.hpp"
#include "protocol/packets.hpp"

namespace course::lab {
namespace {

// Of a case's output, this many bytes are kept at the beginning and at the end.
constexpr std::size_t kKeptAtBegin = 48u << 10, kKeptAtEnd = 16u << 10;
constexpr std::size_t kLongestLine = 4096;       // of it; longer ones are divided
constexpr std::size_t kOutputLimit = 32u << 20;  // a runner that prints more in one case is killed
constexpr std::string_view kFromKernel = "kernel: ", kFromHost = "host:   ";
constexpr int kMillisecondsToEnd = 500;  // for a process to end after it closed its channel
// Share of the time limit after which the simulator stops a kernel and reports where it hangs.
constexpr double kWatchdogShare = 0.8;

// The environment of a runner: no variables of the grader, only those that the CUDA libraries and the loader
// need.
std::vector<std::string> environment_for(const SessionOptions& options, std::uint32_t n_devices) {
  std::vector<std::string> variables;
  std::string library_path =
      options.device == DeviceKind::sim ? options.simulator_dir : options.toolkit_lib_dir;
  constexpr std::string_view kLibraryPath = "LD_LIBRARY_PATH=";
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view variable(*entry);
    if (variable.starts_with(kLibraryPath) && variable.size() > kLibraryPath.size()) {
      if (!library_path.empty()) library_path += ':';
      library_path += variable.substr(kLibraryPath.size());
    }
    for (const char* kept :
         {"PATH=", "HOME=", "TMPDIR=", "LANG=", "LC_ALL=", "TZ=", "CUDA_", "NVIDIA_", "NCCL_", "SIM_"}) {
      if (variable.starts_with(kept)) variables.emplace_back(variable);
    }
  }
  if (options.device == DeviceKind::sim) {
    // If a name occurs twice, the first one counts.
    variables.insert(variables.begin(),
                     {"SIM_WATCHDOG=" + std::to_string(kWatchdogShare * options.seconds_per_case),
                      "SIM_DEVICES=" + std::to_string(n_devices)});
  }
  if (!library_path.empty()) variables.push_back(std::string(kLibraryPath) + library_path);
  return variables;
}

// Both ends of a channel between two children. Our copies are closed when the children have theirs.
struct Channel {
  std::array<int, 2> ends{-1, -1};
  ~Channel() {
    for (const int end : ends)
      if (end >= 0) close(end);
  }
};

const std::string kHostLostText = ChildProcess::End{kExitHostLost, 0}.text();
const std::string kProtocolErrorText = ChildProcess::End{kExitProtocolError, 0}.text();
const std::string kEndedBeforeCallText = ChildProcess::End{kExitEndedBeforeCall, 0}.text();

}  // namespace

Result<LiveRunner> LiveRunner::start(const SessionOptions& options, std::uint32_t n_devices) {
  const auto child = [&](std::vector<std::string> launcher, const std::vector<std::string>& program) {
    ChildProcess::Options how;
    how.launched = !launcher.empty();
    how.reports = options.launchers_report;
    how.argv = std::move(launcher);
    how.argv.insert(how.argv.end(), program.begin(), program.end());
    how.environment = environment_for(options, n_devices);
    return how;
  };
  if (options.device_program.empty()) {
    auto process = ChildProcess::start(child(options.launcher, {options.runner}));
    if (!process) return process.error();
    return LiveRunner(std::move(*process));
  }
  Channel between;
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, between.ends.data()) != 0)
    return Error{std::string("socketpair: ") + std::strerror(errno)};
  const std::string& code = options.device_code.empty() ? options.runner : options.device_code;
  ChildProcess::Options device =
      child(options.device_launcher, {options.device_program, code, options.runner});
  if (options.of_the_course) device.argv.emplace_back("course");
  device.second = between.ends[0];
  auto process = ChildProcess::start(device);
  if (!process) return process.error();
  LiveRunner runner(std::move(*process));

  ChildProcess::Options host = child(options.launcher, {options.runner, kCalled});
  host.channel = between.ends[1];
  auto started = ChildProcess::start(host);
  if (!started) return started.error();
  runner.host_.emplace(std::move(*started));
  return runner;
}

bool LiveRunner::ready() {
  pollfd channel{process_.channel(), POLLIN, 0};
  return !process_.ended() && !(host_ && host_->ended()) && poll(&channel, 1, 0) == 0;
}

bool LiveRunner::has_news() const {
  std::array<pollfd, 2> watched{{{process_.channel(), POLLIN, 0}, {process_.pid_fd(), POLLIN, 0}}};
  return poll(watched.data(), watched.size(), 0) != 0;
}

std::uint64_t LiveRunner::begin_case() {
  drain_output();
  printed_.clear();
  n_printed_ = 0;
  for (Output* output : {&of_process_, &of_host_}) output->line.clear();
  return ++sequence_;
}

std::string LiveRunner::printed() const {
  std::string text = printed_;
  if (!of_process_.line.empty()) text += (host_ ? std::string(kFromKernel) : "") + of_process_.line + "\n";
  if (!of_host_.line.empty()) text += std::string(kFromHost) + of_host_.line + "\n";
  return text;
}

void LiveRunner::drain(ChildProcess& process, Output& output, std::string_view mark) {
  std::array<char, 65536> chunk;
  while (output.open && n_printed_ <= kOutputLimit) {
    const ssize_t n_bytes = read(process.output_fd(), chunk.data(), chunk.size());
    if (n_bytes <= 0) return;
    n_printed_ += static_cast<std::size_t>(n_bytes);
    for (ssize_t i = 0; i < n_bytes; ++i) {
      const char c = chunk[static_cast<std::size_t>(i)];
      if (c != '\n') output.line += (c >= ' ' && c <= '~') || c == '\t' ? c : '?';
      if (c != '\n' && output.line.size() < kLongestLine) continue;
      // The simulator's own messages begin with its name.
      const bool ours = output.line.starts_with("simulator: ");
      printed_ += (ours ? "" : std::string(mark)) + output.line + "\n";
      output.line.clear();
    }
    if (printed_.size() <= 2 * (kKeptAtBegin + kKeptAtEnd)) continue;
    const std::size_t first_cut = printed_.rfind('\n', kKeptAtBegin) + 1;
    const std::size_t end_cut = printed_.find('\n', printed_.size() - kKeptAtEnd) + 1;
    printed_.replace(first_cut, end_cut - first_cut, "…\n");
  }
}

void LiveRunner::drain_output() {
  drain(process_, of_process_, host_ ? kFromKernel : "");
  if (host_) drain(*host_, of_host_, kFromHost);
}

LiveRunner::Waited LiveRunner::end_of(ChildProcess& process, int milliseconds) {
  pollfd gone{process.pid_fd(), POLLIN, 0};
  poll(&gone, 1, milliseconds);
  drain_output();
  Waited waited;
  if (const auto end = process.ended()) {
    waited.event = Event::ended;
    waited.text = end->text();
    waited.signal = end->signal;
  } else {
    waited.event = Event::garbage;
    waited.text = "closed its channel";
  }
  return waited;
}

LiveRunner::Waited LiveRunner::account_of_end(int milliseconds) {
  Waited waited = end_of(process_, milliseconds);
  // The device reported a protocol error of the host code; how it ended after that does not matter.
  if (host_ && waited.event == Event::ended && waited.text == kProtocolErrorText) {
    waited.event = Event::garbage;
    waited.text = "sent the device what it does not understand, or was not to hear";
    return waited;
  }
  const bool before = waited.text == kEndedBeforeCallText;
  if (!host_ || waited.event != Event::ended || (waited.text != kHostLostText && !before)) return waited;
  // The device's process ended because the host code did; report how the host code ended.
  Waited host = end_of(*host_, kMillisecondsToEnd);
  if (host.event == Event::garbage) host.text = "closed its channel";
  if (before && host.event == Event::ended) host.event = Event::stale;
  return host;
}

std::optional<std::string> LiveRunner::launch_failure() {
  for (ChildProcess* process : {&process_, host_ ? &*host_ : nullptr}) {
    if (process == nullptr || process->was_entered()) continue;
    if (const auto end = process->ended())
      return process->launch_report() + printed() + " (" + end->text() + ")";
    return process->launch_report() + printed() + " (it was not ready in time)";
  }
  return std::nullopt;
}

std::optional<double> LiveRunner::processor_seconds(double device_slowdown) {
  auto sum = process_.processor_seconds();
  if (!host_) return sum;
  if (sum) *sum /= device_slowdown;
  const auto of_host = host_->processor_seconds();
  return sum && of_host ? *sum + *of_host : sum ? sum : of_host;
}

LiveRunner::Waited LiveRunner::wait(double seconds, double device_slowdown) {
  const double before = processor_seconds().value_or(0);
  Waited waited = wait_within(seconds, device_slowdown);
  if (const auto now = processor_seconds()) waited.processor_seconds = *now - before;
  return waited;
}

LiveRunner::Waited LiveRunner::wait_within(double seconds, double device_slowdown) {
  // The polling interval. It counts as this long even if this process was delayed.
  constexpr double kTick = 0.1;
  // A process that uses less than this share of an interval counts as idle; even on a busy machine a running
  // process gets more.
  constexpr double kMinShare = 0.02;
  const Deadline over_all(kWallFactor * seconds * device_slowdown);
  const double before = processor_seconds(device_slowdown).value_or(0);
  double used = before, idle = 0;
  Waited waited;
  for (Deadline tick(kTick);;) {
    if (tick.passed()) {
      const auto now = processor_seconds(device_slowdown);
      const double step = now ? std::max(*now - used, 0.0) : kTick;  // else use wall-clock time
      used += step;
      idle += std::max(kTick - step * device_slowdown / kMinShare, 0.0);
      waited.event = used - before > seconds ? Event::deadline : Event::idle;
      if (waited.event == Event::deadline || idle > seconds || over_all.passed()) return waited;
      tick = Deadline(kTick);
    }
    // When all writers have closed a pipe, it is always ready; do not poll it then. (poll ignores -1.)
    std::array<pollfd, 4> watched{{{process_.channel(), POLLIN, 0},
                                   {process_.pid_fd(), POLLIN, 0},
                                   {of_process_.open ? process_.output_fd() : -1, POLLIN, 0},
                                   {host_ && of_host_.open ? host_->output_fd() : -1, POLLIN, 0}}};
    if (poll(watched.data(), watched.size(), tick.milliseconds_left()) < 0 && errno != EINTR) {
      waited.event = Event::garbage;
      waited.text = std::string("poll: ") + std::strerror(errno);
      return waited;
    }
    if ((watched[2].revents | watched[3].revents) != 0) {
      drain_output();
      if (n_printed_ > kOutputLimit) {
        waited.event = Event::flooded;
        return waited;
      }
      if (watched[2].revents != 0) of_process_.open = (watched[2].revents & POLLIN) != 0;
      if (watched[3].revents != 0) of_host_.open = (watched[3].revents & POLLIN) != 0;
    }
    if (watched[0].revents != 0) {
      auto received = protocol::receive_message(process_.channel(), false);
      if (received && received->eof) return account_of_end(kMillisecondsToEnd);
      waited.event = received ? Event::message : Event::garbage;
      if (received) {
        waited.message = received->message;
      } else {
        waited.text = received.error().text;
      }
      drain_output();
      return waited;
    }
    if (watched[1].revents != 0) return account_of_end(0);
  }
}

}  // namespace course::lab
