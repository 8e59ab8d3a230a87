// SPDX-License-Identifier: MIT
// The interface between the harness and a student's code: one Request, answered with a Status. Each lab's .cu
// defines `Status run(const Request&)` in its namespace (in the last lines of the file, which are given); the
// runner calls it.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

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

// The result of a task that has not been written yet.
template <typename Job>
constexpr Status not_implemented(const Job&) {
  return Status::not_implemented;
}

// A range of items, for requests: a pointer and a number, in this order. A student's file may be compiled
// with another standard library than the harness (prebuilt tools), and their spans may differ in layout:
// that of GCC 10 does.
template <typename T>
class Slice {
 public:
  constexpr Slice() = default;
  constexpr Slice(T* first, std::size_t n_items) : data_(first), size_(n_items) {}
  template <std::convertible_to<std::span<T>> Range>
  constexpr Slice(const Range& range) : Slice(std::span<T>(range).data(), std::span<T>(range).size()) {}

  constexpr T* data() const { return data_; }
  constexpr std::size_t size() const { return size_; }
  constexpr T* begin() const { return data_; }
  constexpr T* end() const { return data_ + size_; }
  constexpr T& operator[](std::size_t i) const { return data_[i]; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
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
  std::uint64_t n = 0;                   // items
  std::array<std::int64_t, 8> params{};  // their meaning depends on the lab (bins, width, height, …)
  Slice<const DeviceBuffer> inputs;      // must not be changed
  Slice<const DeviceBuffer> outputs;     // poisoned with 0xA5 before the call
  void* d_workspace = nullptr;           // scratch, 256-byte aligned, contents undefined
  std::uint64_t workspace_bytes = 0;
  CUstream_st* stream = nullptr;     // launch here; the harness synchronises
  std::int32_t multiprocessors = 1;  // to use, in some cases fewer than the device has
  // For labs for several devices: the ranks; in other labs one without communicator. Inputs and outputs lie
  // on the devices in turn, buffer i of each on device i % ranks.size().
  Slice<const Rank> ranks = {};
};

// The harness and a student's file may come from different compilers: neither compiles with another layout.
// (WebAssembly, with pointers of 32 bits, runs no student's file.)
static_assert(sizeof(void*) == 4 ||
              (std::is_standard_layout_v<Request> && sizeof(Request) == 168 && sizeof(DeviceBuffer) == 24 &&
               sizeof(Rank) == 32 && sizeof(Slice<const Rank>) == 16));
static_assert(sizeof(void*) == 4 ||
              (offsetof(Request, dtype) == 8 && offsetof(Request, params) == 24 &&
               offsetof(Request, inputs) == 88 && offsetof(Request, outputs) == 104 &&
               offsetof(Request, d_workspace) == 120 && offsetof(Request, stream) == 136 &&
               offsetof(Request, multiprocessors) == 144 && offsetof(Request, ranks) == 152));
static_assert(sizeof(void*) == 4 || (offsetof(DeviceBuffer, count) == 8 &&
                                     offsetof(DeviceBuffer, dtype) == 16 && offsetof(Rank, stream) == 8 &&
                                     offsetof(Rank, comm) == 16 && offsetof(Rank, d_workspace) == 24));

}  // namespace course::lab
