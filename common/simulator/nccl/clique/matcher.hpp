// SPDX-License-Identifier: MIT
// Matches the calls of a communicator's ranks. A launch is executed when everything that it exchanges data
// with has been launched, by the thread of the last one (of another process: by that of the connection):
//   - collectives: the i-th collective of each rank belongs to round i, which is complete when all ranks have
//     arrived;
//   - sends and receives: those of one rank, group and stream are one launch, as in NCCL; the j-th send from
//     rank a to rank b is received by b's j-th receive from a.
// Where NCCL would wait forever, fail() ends all launches with a report: at once if the calls contradict
// each other or a rank's process has ended, otherwise when no thread of the processes runs any more
// (idle.hpp). After that, all calls for the communicator fail.
// Ranks of other processes (server.hpp): their calls come with the contents of the send buffers. The receive
// buffers are made here and sent to their process.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <utility>

#include "nccl/clique/clique.hpp"

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
  pid_t thread = 0;
  std::uint64_t group = 0;
  std::deque<Entry> entries;
  std::uint64_t round = 0;  // of a collective
  SimPart* part = nullptr;  // of this process; the following are for others
  std::uint64_t id_there = 0;
  double ready = 0;                        // the modelled time of its device
  std::vector<std::byte> sent, to_return;  // the contents of the send and receive buffers, call by call
};

class Matcher : public Clique {
 public:
  explicit Matcher(int n_ranks) : Clique(n_ranks), ranks_(static_cast<std::size_t>(n_ranks)) {}

  Outcome join(int rank, int device, bool waits, const void* code, ncclComm_t* out) override;
  Outcome wait_until_complete(const void* code) override;
  bool is_complete() override;
  Outcome launch(ncclComm& comm, std::uint64_t group, std::vector<Call> calls) override;
  void abort(ncclComm& comm) override;
  void poll() override;
  void report_unfinished() override;

  // --- for ranks of other processes
  // `n_devices`: how many their process has; without a connection, it is this process.
  Outcome add(std::unique_ptr<ncclComm> comm, int n_devices, ncclComm_t* out);
  // Its communicator and calls are set, the send buffers are in `sent`, and the receive buffers have no
  // addresses. The clique gives it its id.
  void arrive(std::unique_ptr<Launch> launch);
  // The process (nullptr: this one) ends, or it has left the communicator.
  void lose(const Connection* process);
  // Whether other processes use the communicator.
  bool serves_others();

 private:
  Outcome enter(std::unique_ptr<Launch> owned);
  Outcome enter_collective(Launch& launch);
  Outcome match(Launch& launch, Entry& entry);
  Outcome missing_group(const Launch& first, const Launch& second);
  // All launches that must be executed together with this one; empty if some have not come.
  static std::vector<Launch*> connected(Launch& first);
  void execute(std::vector<Launch*> launches);
  bool incomplete() const;
  Outcome fail(const std::string& kind, const std::string& message, const void* code, const void* other,
               ncclResult_t result = ncclInvalidUsage);
  void end_all(const std::string& kind, bool fault);
  Outcome fail_because_idle();
  Outcome fail_because_missing(const void* code);
  // Fails if a launch is of, or waits for, a rank that is gone, or ncclCommInitRank waits after one has gone.
  Outcome check_gone();
  std::vector<Connection*> processes() const;
  std::string waiting_ranks() const;

  bool wait(std::uint64_t id, bool block) override;
  std::vector<std::uint64_t> open_launches(const ncclComm& comm) override;

  std::vector<ncclComm_t> ranks_;  // nullptr: has not joined
  std::vector<int> n_devices_;     // of the processes of the ranks
  std::uint64_t next_id_ = 1;
  std::map<std::uint64_t, std::unique_ptr<Launch>> open_;
  std::deque<std::vector<Launch*>> rounds_;  // collectives that wait for ranks, the oldest first
  std::uint64_t first_round_ = 0;
  // Unmatched sends and receives by (kind, sender, receiver).
  std::map<std::pair<Kind, std::pair<int, int>>, std::deque<Entry*>> unmatched_;
};

}  // namespace course::nccl
