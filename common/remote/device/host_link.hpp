// SPDX-License-Identifier: MIT
// The student's process, seen from the device's process: it is called, asks for launches while it works, and
// reports the end of the call. All its packets are checked. No packet can read device memory or change
// counters and checkers.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "protocol/call.hpp"
#include "runner/run_case.hpp"
#include "sim/device.hpp"

namespace course::remote {

class HostLink : public lab::Submission {
 public:
  // `fd`: the channel, owned by the caller. `program`: the file that the other process runs, from which
  // kernels are read.
  HostLink(int fd, std::string program, sim::Device& device)
      : fd_(fd), program_(std::move(program)), device_(device) {}

  // Waits until the other process is ready; false if it has ended.
  bool wait_until_ready();
  // Calls the student's code and answers its questions until it has finished.
  lab::CallResult run(const lab::Request& request) override;

 private:
  // Answers a question. Returns false if it was invalid or could not be answered.
  bool answer(const lab::Packet& question);
  bool reply(const lab::PacketWriter& body);
  bool refuse(const std::string& why);
  Result<void> load_program();
  bool is_inside_one_allocation(std::uint64_t address, std::uint64_t n_bytes) const;

  bool find_kernel(lab::PacketReader& in);
  bool find_symbol(lab::PacketReader& in);
  bool launch(lab::PacketReader& in);
  bool occupancy(lab::PacketReader& in);
  bool allocate(lab::PacketReader& in);
  bool release(lab::PacketReader& in);
  bool find(lab::PacketReader& in);
  bool store(lab::PacketReader& in);
  bool fill(lab::PacketReader& in);

  int fd_;
  std::string program_;
  sim::Device& device_;
  std::optional<std::vector<sim::ModuleId>> modules_;
  std::string load_failure_;
  std::map<std::string, int> registers_;        // registers of each kernel in its machine code
  std::map<sim::KernelId, int> known_kernels_;  // kernels that the other process knows, and their registers
  std::set<std::uint64_t> allocated_;           // addresses allocated by the other process
  sim::Fault fault_ = sim::Fault::none;         // the fault of a kernel, after which no kernel runs
  bool can_reply_ = true;
};

}  // namespace course::remote
