// SPDX-License-Identifier: MIT
// The interface between the harness and a student's code: one Request, answered with a Status. Each lab's .cu
// defines `Status run(const Request&)` in its namespace (in the last lines of the file, which are given); the
// runner calls it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

struct CUstream_st;  // cudaStream_t points to it
struct ncclComm;     // ncclComm_t points to it

namespace course::lab {

enum class DType : std::uint8_t { u8, i32, u32, i64, u64, f32, f64 };
constexpr std::size_t bytes_of(DType dtype) {
  switch (dtype) {
    case DType::u8: return 1;
    case DType::i32:
    case DType::u32:
    case DType::f32: return 4;
    default: return 8;
  }
}

enum class Status : std::int32_t {
  ok = 0,
  not_implemented = 1,  // what the skeleton of every task returns
  unsupported = 2,      // the task does not support this operator, item type or length
};

// Device memory owned by the harness, surrounded by guard bands. `data` is aligned to the element size only.
struct DeviceBuffer {
  void* data = nullptr;
  std::uint64_t count = 0;  // elements
  DType dtype = DType::i32;
};

// One rank of a lab for several devices.
struct Rank {
  std::int32_t device = 0;
  CUstream_st* stream = nullptr;  // on this device; the harness synchronises
  ncclComm* comm = nullptr;
  void* d_workspace = nullptr;  // Request::workspace_bytes on this device
};
inline constexpr std::uint32_t kMaxDevices = 8;

struct Request {
  std::uint32_t task = 0;  // index into the manifest's tasks and further rungs
  std::uint32_t op = 0;    // the lab's own operator enumeration
  DType dtype = DType::i32;
  std::uint64_t n = 0;                    // items
  std::array<std::int64_t, 8> params{};   // their meaning depends on the lab (bins, width, height, …)
  std::span<const DeviceBuffer> inputs;   // must not be changed
  std::span<const DeviceBuffer> outputs;  // poisoned with 0xA5 before the call
  void* d_workspace = nullptr;            // scratch, 256-byte aligned, contents undefined (poisoned)
  std::uint64_t workspace_bytes = 0;
  CUstream_st* stream = nullptr;     // launch here; the harness synchronises
  std::int32_t multiprocessors = 1;  // of this device, for the size of a persistent grid
  // For labs for several devices: the ranks; in other labs one without communicator. Inputs and outputs lie
  // on the devices in turn, buffer i of each on device i % ranks.size().
  std::span<const Rank> ranks = {};
};

}  // namespace course::lab
