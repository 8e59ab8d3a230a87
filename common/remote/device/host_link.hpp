// SPDX-License-Identifier: MIT
// The student's process, seen from the device's process: it is called, asks for launches while it works, and
// reports the end of the call. All its packets are checked. No packet can read device memory or change
// counters and checkers.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cudart/code/program_file.hpp"
#include "protocol/call.hpp"
#include "runner/run_case.hpp"
#include "sim/device.hpp"

namespace course::remote {

class HostLink : public lab::Submission {
 public:
  using Devices = std::function<sim::Device&(std::uint32_t ordinal)>;
  // `fd`: the channel, owned by the caller. `program`: the file that the other process runs, from which
  // kernels are read. `devices`: creates the device at the first call for its ordinal.
  HostLink(int fd, std::string program, std::uint32_t n_devices, Devices devices)
      : fd_(fd), program_(std::move(program)), devices_(std::move(devices)), opened_(n_devices) {}

  // Waits until the other process is ready; false if it has ended.
  bool wait_until_ready();
  // Calls the student's code and answers its questions until it has finished.
  lab::CallResult run(const lab::Request& request) override;

 private:
  // Answers a question. Returns false if it was invalid or could not be answered.
  bool answer(const lab::Packet& question);
  bool answer_about_device(const lab::Packet& question);
  bool reply(const lab::PacketWriter& body);
  bool refuse(const std::string& why);
  // One of the devices, and what the other process has on it.
  struct Opened {
    sim::Device* device = nullptr;
    std::optional<std::vector<sim::ModuleId>> modules;
    std::map<sim::KernelId, int> known_kernels;  // kernels that the other process knows, and their registers
    std::set<std::uint64_t> allocated;           // addresses allocated by the other process
    sim::Fault fault = sim::Fault::none;         // the fault of a kernel, after which no kernel runs
  };
  Opened& opened(std::uint32_t ordinal);
  Result<void> read_program();
  Result<void> load_program();
  // On the device of the question.
  bool is_inside_one_allocation(std::uint64_t address, std::uint64_t n_bytes) const;
  // The host submits work to one device after the other: the clock that their timelines share.
  void begin_work(sim::Device& device);
  void end_work(sim::Device& device);

  bool find_kernel(lab::PacketReader& in);
  bool find_symbol(lab::PacketReader& in);
  bool launch(lab::PacketReader& in);
  bool occupancy(lab::PacketReader& in);
  bool allocate(lab::PacketReader& in);
  bool release(lab::PacketReader& in);
  bool find(lab::PacketReader& in);
  bool store(lab::PacketReader& in);
  bool fill(lab::PacketReader& in);
  bool read(lab::PacketReader& in);
  bool report(lab::PacketReader& in);
  bool operate(lab::PacketReader& in);

  int fd_;
  std::string program_;
  Devices devices_;
  std::vector<Opened> opened_;
  Opened* about_ = nullptr;  // the device of the question that is answered
  std::optional<std::vector<cudart::DeviceCode>> codes_;
  std::string load_failure_;
  double host_us_ = 0;                    // on the devices' timelines
  std::size_t n_reports_ = 0;             // in this call
  std::uint64_t n_bytes_read_ = 0;        // in this call
  std::map<std::string, int> registers_;  // registers of each kernel in its machine code
  bool can_reply_ = true;
};

}  // namespace course::remote
