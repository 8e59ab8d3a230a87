// SPDX-License-Identifier: MIT
// A communicator whose calls are matched in another process, the one that made the unique id (server.hpp).
// A launch is sent with the contents of its send buffers. A thread receives the answers and executes the
// launches: it writes the receive buffers and advances the modelled time.
#pragma once

#include <map>
#include <thread>
#include <vector>

#include "nccl/clique/clique.hpp"
#include "nccl/clique/message.hpp"

namespace course::nccl {

class RemoteClique : public Clique {
 public:
  // `id`: the number of the unique id in that process.
  RemoteClique(int n_ranks, int fd, pid_t process, std::uint64_t id);

  Outcome join(int rank, int device, bool waits, const void* code, ncclComm_t* out) override;
  Outcome wait_until_complete(const void* code) override;
  bool is_complete() override;
  Outcome launch(ncclComm& comm, std::uint64_t group, std::vector<Call> calls) override;
  void abort(ncclComm& comm) override;
  void left(ncclComm& comm) override;
  void poll() override;
  void note_error(ncclComm& comm, const std::string& message) override;
  void report_unfinished() override;

 private:
  struct Open {
    ncclComm* comm;
    SimPart* part;
    std::vector<Call> calls;
  };

  void receive();  // until the other process closes the connection
  void handle(Message& message);
  void execute(Message& done);
  void end_all(const Outcome& error, const std::string& kind, bool fault, bool prints);
  void fail_because_lost();

  bool wait(std::uint64_t id, bool block) override;
  std::vector<std::uint64_t> open_launches(const ncclComm& comm) override;

  Connection server_;
  const std::uint64_t id_;
  std::thread receiver_;
  // --- protected by the lock
  std::vector<ncclComm_t> ranks_;   // of this process
  std::map<int, Outcome> answers_;  // to join, by rank
  bool complete_ = false;
  bool leaving_ = false;  // at the end of the process
  bool lost_ = false;     // the connection is closed
  std::uint64_t next_id_ = 1;
  std::map<std::uint64_t, Open> open_;
};

}  // namespace course::nccl
