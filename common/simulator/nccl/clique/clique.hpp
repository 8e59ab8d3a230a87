// SPDX-License-Identifier: MIT
// The ranks of one communicator, and what can be asked of them. There are two kinds of cliques: a Matcher
// (matcher.hpp) matches the ranks' calls itself; a RemoteClique (remote.hpp) sends them to another process.
// A call becomes a launch in its stream, which is open until the launch has been executed or has failed.
// Thread-safe. Cliques and communicators are never destroyed, so that a stale handle is recognised.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "nccl/operation/call.hpp"

namespace course::nccl {

class Clique;
struct Connection;

// What a call returns, with a message.
struct Outcome {
  ncclResult_t result = ncclSuccess;
  std::string message;
  bool reported = false;  // on stderr and as a finding
  bool ok() const { return result == ncclSuccess; }
};

}  // namespace course::nccl

// A communicator: one rank of a clique. The fields from `state` on are protected by the clique's lock.
struct ncclComm {
  course::nccl::Clique* clique = nullptr;
  int rank = 0;
  int device = 0;
  course::nccl::Connection* process = nullptr;  // in a Matcher: the rank's process, if it is another one
  bool waits = false;                           // in ncclCommInitRank, until all ranks have joined
  const void* code = nullptr;                   // of ncclCommInitRank
  std::string place;                            // the same in another process
  enum class State : std::uint8_t { live, finalized, destroyed, aborted } state = State::live;
  bool gone = false;  // its process has ended
  std::optional<course::nccl::Call> last_call;
  std::uint64_t n_collectives = 0;
  std::string last_error;
};

namespace course::nccl {

class Clique {
 public:
  explicit Clique(int n_ranks) : size_(n_ranks) {}
  virtual ~Clique() = default;
  Clique(const Clique&) = delete;
  Clique& operator=(const Clique&) = delete;

  // --- initialisation
  // Adds a rank of this process, on this device. The communicator is usable when all ranks have joined.
  // `waits`: wait_until_complete() follows.
  virtual Outcome join(int rank, int device, bool waits, const void* code, ncclComm_t* out) = 0;
  // Waits until all ranks have joined, or reports those that do not come.
  virtual Outcome wait_until_complete(const void* code) = 0;
  virtual bool is_complete() = 0;

  // --- calls
  // Launches calls of one rank, group and stream: sends and receives together, or one collective.
  virtual Outcome launch(ncclComm& comm, std::uint64_t group, std::vector<Call> calls) = 0;
  // Waits for the launches of a rank.
  void wait_for(ncclComm& comm);
  virtual void abort(ncclComm& comm) = 0;
  // Must be called after a communicator's state has become finalized or destroyed.
  virtual void left(ncclComm&) {}
  // For threads that ask again and again instead of waiting: reports a deadlock.
  virtual void poll() = 0;
  // The first error, which all later calls return.
  Outcome error();
  // Keeps the message of a call that was refused, for ncclGetLastError and for reports.
  virtual void note_error(ncclComm& comm, const std::string& message);
  int size() const { return size_; }
  std::mutex& lock() { return lock_; }
  // At the end of the process: reports launches that have never been executed.
  virtual void report_unfinished() = 0;

 protected:
  using Guard = std::unique_lock<std::mutex>;

  static int wait_for_launch(void* clique, unsigned long long id, int block);
  // Returns whether the launch has ended; `block`: waits for that.
  virtual bool wait(std::uint64_t id, bool block) = 0;
  virtual std::vector<std::uint64_t> open_launches(const ncclComm& comm) = 0;  // the lock is held

  std::mutex lock_;
  std::condition_variable changed_;
  Outcome error_;

 private:
  const int size_;
};

}  // namespace course::nccl
