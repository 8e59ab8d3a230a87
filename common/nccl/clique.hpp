// SPDX-License-Identifier: MIT
// The ranks of one communicator and their calls. A call becomes a launch in its stream. A launch is executed
// when everything that it exchanges data with has been launched, by the thread of the last one:
//   - collectives: the i-th collective of each rank belongs to round i, which is complete when all ranks have
//     arrived;
//   - sends and receives: those of one rank, group and stream are one launch, as in NCCL; the j-th send from
//     rank a to rank b is received by b's j-th receive from a.
// Where NCCL would wait for ever, fail() ends all launches with a report: at once if the calls contradict
// each other, otherwise when no thread of the process runs any more (idle.hpp). After that, all calls for the
// communicator fail.
// Thread-safe. Cliques and communicators are never destroyed, so that a stale handle is recognised.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "nccl/call.hpp"

namespace course::nccl {

class Clique;

// What a call returns, with a message.
struct Outcome {
  ncclResult_t result = ncclSuccess;
  std::string message;
  bool reported = false;  // on stderr and as a finding
  bool ok() const { return result == ncclSuccess; }
};

}  // namespace course::nccl

// A communicator: one rank of a clique. All fields but the first three are protected by the clique's lock.
struct ncclComm {
  course::nccl::Clique* clique = nullptr;
  int rank = 0;
  int device = 0;
  enum class State : std::uint8_t { live, finalized, destroyed, aborted } state = State::live;
  std::optional<course::nccl::Call> last_call;
  std::uint64_t n_collectives = 0;
  std::vector<course::nccl::Operator> operators;  // of ncclRedOpCreatePreMulSum
  std::string last_error;
};

namespace course::nccl {

struct Launch;

// A send or receive, and the one at the other end once it is known; of a collective, the only call.
struct Entry {
  Call call;
  Launch* launch = nullptr;
  Entry* partner = nullptr;
};

// The calls that one part in a stream executes.
struct Launch {
  std::uint64_t id = 0;
  ncclComm* comm = nullptr;
  SimPart* part = nullptr;
  std::thread::id thread;
  std::uint64_t group = 0;
  std::deque<Entry> entries;
};

class Clique {
 public:
  explicit Clique(int n_ranks);

  // --- initialisation
  // Adds a rank on this device. The communicator is usable when all ranks have joined.
  Outcome join(int rank, int device, ncclComm_t* out);
  // Waits until all ranks have joined, or reports those that do not come.
  Outcome wait_until_complete(const void* code);
  bool is_complete();

  // --- calls
  // Launches calls of one rank, group and stream: sends and receives together, or one collective.
  Outcome launch(ncclComm& comm, std::uint64_t group, std::vector<Call> calls);
  // Waits for the launches of a rank.
  void wait_for(ncclComm& comm);
  void abort(ncclComm& comm);
  // For threads that ask again and again instead of waiting: reports a deadlock.
  void poll();
  // The first error, which all later calls return.
  Outcome error();
  int size() const { return static_cast<int>(ranks_.size()); }
  std::mutex& lock() { return lock_; }
  // At the end of the process: reports launches that have never been executed.
  void report_unfinished();

 private:
  using Guard = std::unique_lock<std::mutex>;

  static int wait_for_launch(void* clique, unsigned long long id, int block);
  bool wait(std::uint64_t id, bool block);
  Outcome enter_collective(Launch& launch);
  Outcome match(Launch& launch, Entry& entry);
  Outcome missing_group(const Launch& first, const Launch& second);
  // All launches that must be executed together with this one; empty if some have not come.
  static std::vector<Launch*> connected(Launch& first);
  void execute(std::vector<Launch*> launches);
  Outcome fail(const std::string& kind, const std::string& message, const void* code, const void* other);
  Outcome fail_because_idle();
  std::string waiting_ranks() const;

  std::mutex lock_;
  std::condition_variable changed_;
  std::vector<ncclComm_t> ranks_;  // nullptr: has not joined
  Outcome error_;
  std::uint64_t next_id_ = 1;
  std::map<std::uint64_t, std::unique_ptr<Launch>> open_;
  std::deque<std::vector<Launch*>> rounds_;  // collectives that wait for ranks, the oldest first
  std::uint64_t first_round_ = 0;
  // Unmatched sends and receives by (kind, sender, receiver).
  std::map<std::pair<Kind, std::pair<int, int>>, std::deque<Entry*>> unmatched_;
};

}  // namespace course::nccl
