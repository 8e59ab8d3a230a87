// SPDX-License-Identifier: MIT
// The modelled clocks of host and device: the host submits work without waiting; the device executes it in
// order.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/timing.hpp"

namespace course::sim {

class Timeline {
 public:
  explicit Timeline(const Timing& timing) : timing_(timing) {}

  // A kernel or a fill that takes `us` microseconds.
  void launch(double us) {
    transfer(us);
    work_ended_ = device_;
  }
  // A copy that takes `us` microseconds.
  void transfer(double us) {
    ++n_submitted_;
    host_ += timing_.submit_us;
    device_ = std::max(device_ + timing_.gap_us, host_) + us;
  }
  // An operation of several devices that begins at `start` and takes `us` microseconds.
  void together(double start, double us) {
    ++n_submitted_;
    host_ += timing_.submit_us;
    device_ = std::max(start, host_) + us;
    work_ended_ = device_;
  }
  // The host's clock is one for all devices.
  double host() const { return host_; }
  void host_at_least(double us) { host_ = std::max(host_, us); }
  // The host waits for the device.
  void synchronise() { host_ = device_ = std::max(host_, device_); }
  // The time of an event that is recorded now, in µs.
  double event() const { return std::max(host_, device_); }
  double device() const { return device_; }
  // The end of the last kernel or fill.
  double work_ended() const { return work_ended_; }
  // The number of kernels, fills, copies and operations so far.
  std::uint64_t submitted() const { return n_submitted_; }

 private:
  Timing timing_;
  double host_ = 0, device_ = 0, work_ended_ = 0;
  std::uint64_t n_submitted_ = 0;
};

}  // namespace course::sim
