// SPDX-License-Identifier: MIT
// The student's process, seen from the device's process: it is called, asks for launches while it works, and
// reports the end of the call. All its packets are checked. No packet can change counters or switch checkers
// off. In a lab for one device, none can read device memory; with several, `read` gives a few bytes.
// Invariant: in a lab for one device, no answer depends on what kernels do. What the other process asks for
// is checked and recorded during the call, and done after it (perform). So during a call it sees neither
// results, faults and memory use of its kernels nor the time that they take.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
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
  // `fd`: the channel, owned by the caller. `code`: the file from which kernels are read. `program`: the file
  // that the other process runs, for the lines and functions of host code in messages. `devices`: creates the
  // device at the first call for its ordinal. A launch that overlaps the one before must wait for it before
  // it accesses memory; if `of_the_course`, it may read before that what no launch writes.
  HostLink(int fd, std::string code, std::string program, std::uint32_t n_devices, Devices devices,
           bool of_the_course = false)
      : fd_(fd),
        code_(std::move(code)),
        program_(std::move(program)),
        devices_(std::move(devices)),
        opened_(n_devices),
        of_the_course_(of_the_course) {}

  // Waits until the other process is ready; false if it has ended.
  bool wait_until_ready();
  // Calls the student's code and answers its requests until it has finished.
  lab::CallResult run(const lab::Request& request) override;

 private:
  // Records work on the current device. Returns false if there is too much of it.
  bool later(std::size_t n_bytes, std::function<void()> work);
  // Does the recorded work in its order.
  void perform();
  // For the student: where the host code accessed an invalid address, or which function filled the stack.
  std::string describe_crash(const lab::CrashNote& note);
  // Answers a request. Returns false if it was invalid or could not be answered.
  bool answer(const lab::Packet& request);
  bool answer_about_device(const lab::Packet& request);
  bool reply(const lab::PacketWriter& body);
  bool refuse(const std::string& why);
  // One of the devices, and what the other process has on it.
  struct Opened {
    sim::Device* device = nullptr;
    std::optional<std::vector<sim::ModuleId>> modules;
    std::set<sim::KernelId> known_kernels;             // kernels that the other process knows
    std::set<std::uint64_t> allocated;                 // addresses allocated by the other process
    std::map<std::uint64_t, std::uint64_t> releasing;  // allocations whose release is recorded: their sizes
    bool was_read = false;                             // by the host code of this call
    sim::Fault fault = sim::Fault::none;               // the fault of a kernel, after which no kernel runs
  };
  Opened& opened(std::uint32_t ordinal);
  Result<void> read_program();
  Result<void> load_program();
  // On the device of the request, what the other process may know of; nullptr if there is nothing.
  const sim::Allocation* visible(std::uint64_t address) const;
  bool is_inside_one_allocation(std::uint64_t address, std::uint64_t n_bytes) const;
  // The host submits work to one device after the other: the clock that their timelines share.
  void begin_work(sim::Device& device);
  void end_work(sim::Device& device);

  bool find_kernel(lab::PacketReader& in);
  bool find_symbol(lab::PacketReader& in);
  bool launch(lab::PacketReader& in);
  void run_kernel(Opened& on, sim::LaunchRequest request, std::span<const std::byte> parameters);
  bool occupancy(lab::PacketReader& in);
  bool allocate(lab::PacketReader& in);
  bool release(lab::PacketReader& in);
  bool free_bytes(lab::PacketReader& in);
  bool find(lab::PacketReader& in);
  bool store(lab::PacketReader& in);
  bool fill(lab::PacketReader& in);
  bool read(lab::PacketReader& in);
  bool report(lab::PacketReader& in);
  bool operate(lab::PacketReader& in);

  int fd_;
  std::string code_, program_;  // files
  Devices devices_;
  std::vector<Opened> opened_;
  bool of_the_course_ = false;
  Opened* about_ = nullptr;  // the device of the request that is answered
  std::optional<std::vector<cudart::DeviceCode>> codes_;
  std::string load_failure_;
  std::vector<std::function<void()>> work_;  // recorded, not yet done
  std::uint64_t work_bytes_ = 0;             // that it takes in this process
  bool too_much_work_ = false;
  std::uint64_t n_launches_ = 0;    // recorded in this call
  std::string outside_;             // what was outside of the subset, in this call
  double host_us_ = 0;              // on the devices' timelines
  std::size_t n_reports_ = 0;       // in this call
  std::uint64_t n_bytes_read_ = 0;  // in this call
  bool can_reply_ = true;
};

}  // namespace course::remote
