// SPDX-License-Identifier: MIT
// The student's process, seen from the device's: it is called, asks for launches while it works, and says
// that it is done. Everything that it sends is checked; nothing that it can send reads device memory or
// touches counters and checkers.
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
  // `fd`, which stays the caller's: the channel. `program`: the file that the other process runs; its code is
  // read from there.
  HostLink(int fd, std::string program, sim::Device& device)
      : fd_(fd), program_(std::move(program)), device_(device) {}

  // Waits until the other side is up; false when it is gone.
  bool wait_until_ready();
  // Calls it and answers its questions until it is done.
  lab::CallResult run(const lab::Request& request) override;

 private:
  // Whether it was understood and answered.
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
  std::map<std::string, int> registers_;        // of each kernel, as its machine code declares them
  std::map<sim::KernelId, int> known_kernels_;  // to the other side, and their registers
  std::set<std::uint64_t> allocated_;           // by the other side
  sim::Fault fault_ = sim::Fault::none;         // of a kernel: from then on nothing runs
  bool can_reply_ = true;
};

}  // namespace course::remote
