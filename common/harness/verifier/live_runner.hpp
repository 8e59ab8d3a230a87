// SPDX-License-Identifier: MIT
// A running runner, seen from the verifier: starting it, waiting for its messages, and all the ways in which
// it can fail to send one. On a GPU it is one process. On the simulator it is two: the device, which answers
// the verifier, and the student's host code, which communicates only with the device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "protocol/protocol.hpp"
#include "verifier/child_process.hpp"
#include "verifier/request.hpp"

namespace course::lab {

class LiveRunner {
 public:
  // What ended a wait.
  enum class Event {
    message,   // a whole message, not yet checked
    ended,     // the process has ended
    deadline,  // it used up its CPU time
    idle,      // it was idle for as long
    flooded,   // it printed too much
    garbage,   // a packet of the wrong size, or a closed channel
    stale,     // the student's process had ended before this case reached it
  };
  struct Waited {
    Event event = Event::deadline;
    protocol::Message message;
    std::string text;              // for `ended` and `garbage`
    int signal = 0;                // for `ended`: the signal; a SIGKILL was not sent by us
    double processor_seconds = 0;  // CPU time of both processes during the wait
  };

  // Starts the process or processes and does not wait for Hello. An Error if one could not be started.
  // The simulator gets `n_devices` devices.
  static Result<LiveRunner> start(const SessionOptions& options, std::uint32_t n_devices);

  // Waits for one message, until the processes together have used `seconds` of CPU time, so that the load of
  // the machine does not matter. `device_slowdown`: how much slower the simulated device is than usual; its
  // seconds count for so much less, those of the host code count in full. The wait also ends when the
  // processes have been idle for `seconds` in total, or after kWallFactor times the limit in wall-clock time.
  Waited wait(double seconds, double device_slowdown = 1);
  static constexpr double kWallFactor = 15;
  Result<void> send(const protocol::Message& message, int fd) {
    return protocol::send_message(process_.channel(), message, fd);
  }

  // Whether wait() would return at once, with a message or because a process ended.
  bool has_news() const;
  // Whether it can take another case: it is running and has sent no unexpected message.
  bool ready();
  // Begins the next case: forgets what earlier ones printed. Returns the case's number.
  std::uint64_t begin_case();
  // What was printed since begin_case(), in lines. On the simulator each begins with its source, "kernel: ",
  // "host:   " or, for the simulator's own messages, "simulator: ". Of long outputs, the middle is left out.
  std::string printed() const;
  // Why a program was never started, as its launcher reports; std::nullopt if all were. Only call it when no
  // program can still be starting.
  std::optional<std::string> launch_failure();

  protocol::Hello hello;  // valid once it has been received and parsed

 private:
  explicit LiveRunner(ChildProcess process) : process_(std::move(process)) {}
  Waited end_of(ChildProcess& process, int milliseconds);
  // What one of the processes printed.
  struct Output {
    bool open = true;
    std::string line;  // the last one, which has not ended yet
  };
  void drain(ChildProcess& process, Output& output, std::string_view mark);
  void drain_output();
  Waited account_of_end(int milliseconds);
  Waited wait_within(double seconds, double device_slowdown);
  // CPU time used so far, that of the device divided by `device_slowdown`.
  std::optional<double> processor_seconds(double device_slowdown = 1);

  ChildProcess process_;              // the process that answers: the device, or the only process
  std::optional<ChildProcess> host_;  // the student's host code, if it is a second process
  std::uint64_t sequence_ = 0;
  std::string printed_;        // the kept lines of their output
  std::size_t n_printed_ = 0;  // bytes, kept or not
  Output of_process_, of_host_;
};

}  // namespace course::lab
