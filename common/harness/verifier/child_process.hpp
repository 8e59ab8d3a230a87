// SPDX-License-Identifier: MIT
// A child process, and a channel to it if it talks. It inherits no other descriptor, and only the given
// environment.
// Invariant: after the destructor neither the child nor any other process of its process group is running.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace course::lab {

class ChildProcess {
 public:
  struct Options {
    std::vector<std::string> argv;         // argv[0] is the path of the program; PATH is not searched
    std::vector<std::string> environment;  // "NAME=value"
    std::string directory;                 // "" for the current one
    bool launched = false;  // argv starts a launcher: exit codes above 128 mean signals of the program
    // The launcher reports on descriptor kReportFd that it starts the program: see launch_report().
    bool reports = false;
    bool talks = true;  // it has a channel
    // The caller keeps ownership of these two descriptors.
    int channel = -1;  // becomes the child's descriptor 3; -1: an end of a new channel()
    int second = -1;   // becomes its descriptor 4; -1 for none
  };
  // Starts the child in a process group of its own, with stdin from /dev/null, stdout and stderr to
  // output_fd(), and its end of the channel as descriptor 3. The child is killed when the thread that called
  // this ends.
  static Result<ChildProcess> start(const Options& options);

  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess();

  int channel() const { return state_.channel; }
  int output_fd() const { return state_.output; }  // non-blocking; at its end when the processes have ended
  int pid_fd() const { return state_.pid_fd; }     // becomes readable when the child ends
  pid_t pid() const { return state_.pid; }

  // How the child ended: "exit code 3", "SIGSEGV (Segmentation fault)"; std::nullopt while it runs. Does not
  // reap it: kill_group() does.
  struct End {
    int exit_code = -1;  // -1 if a signal ended the child
    int signal = 0;      // 0 if the child exited
    std::string text() const;
  };
  std::optional<End> ended();

  // What a launcher wrote to kReportFd, a descriptor that the program itself does not get: kEntered, or the
  // reason why the program was not started.
  static constexpr int kReportFd = 5;
  static constexpr std::string_view kEntered = "entered\n";
  const std::string& launch_report();
  // Whether the program was started; true if there is no launcher that reports it.
  bool was_entered() { return state_.report < 0 || launch_report().starts_with(kEntered); }
  // CPU seconds that the program (with a launcher: the process that it started) has used so far; std::nullopt
  // if this is unknown.
  std::optional<double> processor_seconds();

  // Sends SIGKILL to the process group, then waits at most one second for the child to end and one for its
  // channel to close. Reaps the child.
  void kill_group();

 private:
  ChildProcess() = default;
  struct State {
    pid_t pid = -1;
    int pid_fd = -1, channel = -1, output = -1, report = -1;
    std::string report_text;
    pid_t program = -1;  // the process that the launcher started
    bool launched = false;
    std::optional<End> end;
  } state_;
};

}  // namespace course::lab
