// SPDX-License-Identifier: MIT
// Keeps a GPU waiting until the host has submitted all the work that is to be timed. So the time of the work
// does not contain the time that the host needs to submit it.
// Source: NVBench (github.com/NVIDIA/nvbench), whose blocking kernel does the same.
#pragma once

struct CUstream_st;

namespace course::lab {

struct GateMemory;  // page-locked, so that host and device see it

// Usage: close, submit the work, stamp, open, synchronise the stream; then ask the last two functions. Not
// for the simulator: it executes a kernel before the launch returns, so the wait could not end by open().
class Gate {
 public:
  Gate();  // without page-locked memory the program ends with a line on stderr
  ~Gate();
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  // Work that is submitted to the stream after close waits for open, but not longer than a fifth of a second:
  // a call that itself waits for the device must not wait forever.
  void close(CUstream_st* stream);
  void stamp(CUstream_st* stream);
  void open();

  // Whether the work waited for open.
  bool held() const;
  // Average clock of a multiprocessor between open and stamp, in MHz. 0: not known, because the time was too
  // short or the two were read on different multiprocessors.
  double clock_mhz() const;

 private:
  GateMemory* shared_ = nullptr;
};

}  // namespace course::lab
