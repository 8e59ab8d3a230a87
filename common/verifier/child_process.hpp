// SPDX-License-Identifier: MIT
// A child process with one channel to it, and nothing else of ours: no descriptor, no environment but what is
// given.
// Invariant: after the destructor neither the child nor anything else in its process group is alive.
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
    std::vector<std::string> argv;         // argv[0] is looked up in PATH when it has no slash
    std::vector<std::string> environment;  // "NAME=value"
    bool launched = false;  // argv is a launcher's: exit codes over 128 are the program's signals
    bool reports =
        false;         // and it says on its descriptor kReportFd that it becomes the program: launch_report()
    int channel = -1;  // its descriptor 3; -1 for one end of a new channel(). They stay the caller's
    int second = -1;   // its descriptor 4; -1 for none
    int output = -1;   // where it prints; -1 for a new pipe, output_fd()
  };
  // Starts it in a process group of its own, stdin from /dev/null, stdout and stderr into output_fd(), its
  // end of the channel as descriptor 3. The child dies with the thread that called this.
  static Result<ChildProcess> start(const Options& options);

  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess();

  int channel() const { return channel_; }
  int output_fd() const { return output_; }       // non-blocking
  int output_end() const { return output_end_; }  // the other end, for a second process that prints there
  void close_output_end();                        // so that the pipe closes with the processes
  int pid_fd() const { return pid_fd_; }          // readable once the child has ended
  pid_t pid() const { return pid_; }

  // Whether it has ended, and how: "exit code 3", "SIGSEGV (Segmentation fault)". Reaps it.
  struct End {
    int exit_code = -1;  // or
    int signal = 0;
    std::string text() const;
  };
  std::optional<End> ended();

  // What a launcher says on a descriptor that the program itself never has: kEntered, or else why it did not
  // get there.
  static constexpr int kReportFd = 5;
  static constexpr std::string_view kEntered = "entered\n";
  const std::string& launch_report();
  // Whether the program was started: true where no launcher could say so.
  bool was_entered() { return report_ < 0 || launch_report().starts_with(kEntered); }
  // Seconds of the processor that it, or what its launcher started, has used so far; nothing where that can't
  // be found out.
  std::optional<double> processor_seconds();

  // SIGKILL to the whole group, then waits at most a second for the child to be gone.
  void kill_group();

 private:
  ChildProcess() = default;
  pid_t pid_ = -1;
  int pid_fd_ = -1;
  int channel_ = -1;
  int output_ = -1, output_end_ = -1;
  int report_ = -1;
  std::string report_text_;
  pid_t program_ = -1;  // the one process that the launcher has come to
  bool launched_ = false;
  std::optional<End> end_;
};

}  // namespace course::lab
