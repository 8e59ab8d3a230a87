// SPDX-License-Identifier: MIT
// One runner that is up, from the verifier's side: starting it, waiting for its messages, and all the ways in
// which it can fail to send one. On a GPU it is one process. On the simulator it is two: the device, which
// answers us, and the student's host code, which only the device speaks to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "protocol/protocol.hpp"
#include "verifier/child_process.hpp"
#include "verifier/session.hpp"

namespace course::lab {

class LiveRunner {
 public:
  // What ended a wait.
  enum class Event {
    message,   // a whole message; not yet looked at
    ended,     // the process is gone
    deadline,  // it used up its time of the processor
    idle,      // it did nothing for as long
    flooded,   // it printed more than it may
    garbage,   // a packet of the wrong size, or a closed channel
    stale,     // the student's process had ended before this case reached it
  };
  struct Waited {
    Event event = Event::deadline;
    protocol::Message message;
    std::string text;              // of `ended` and `garbage`
    int signal = 0;                // `ended`, by this one; a SIGKILL was not ours
    double processor_seconds = 0;  // used while it was waited for, by both processes
  };

  // Starts the process; it has not said anything yet. An error means that it could not even be started.
  static Result<LiveRunner> start(const SessionOptions& options);

  // Waits for one message, until both processes together have used so many seconds of the processor: how busy
  // the machine is does not count. As long a time in which they hardly use it ends the wait as well, and so
  // does kWallFactor times the limit.
  Waited wait(double seconds);
  static constexpr double kWallFactor = 15;
  Result<void> send(const protocol::Message& message, int fd) {
    return protocol::send_message(process_.channel(), message, fd);
  }

  // Whether wait() would come back at once: a message, or an end.
  bool has_news() const;
  // Whether it can take another case: alive, and has said nothing that nobody asked for.
  bool ready();
  // The next case's number.
  std::uint64_t next_sequence() { return ++sequence_; }
  const std::string& printed() const { return printed_; }
  // Why a program was never started, as its launcher says; nothing when all were. Not to be asked of one that
  // may still start.
  std::optional<std::string> launch_failure();

  protocol::Hello hello;  // once it has been received and parsed

 private:
  explicit LiveRunner(ChildProcess process) : process_(std::move(process)) {}
  static Result<LiveRunner> start_pair(const SessionOptions& options);
  Waited end_of(ChildProcess& process, int milliseconds);
  void drain_output();
  Waited account_of_end(int milliseconds);
  Waited wait_within(double seconds, double before);
  std::optional<double> processor_seconds();

  ChildProcess process_;              // what answers: the device, or all there is
  std::optional<ChildProcess> host_;  // the student's host code, where it is another
  std::uint64_t sequence_ = 0;
  std::string printed_;        // what is kept of its output
  std::size_t n_printed_ = 0;  // bytes, kept or not
  bool output_open_ = true;
};

}  // namespace course::lab
