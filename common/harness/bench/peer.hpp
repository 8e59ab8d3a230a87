// SPDX-License-Identifier: MIT
// A library function that solves a lab's task, which ./lab bench measures as a baseline for the rungs.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "lab/request.hpp"

namespace course::lab {

struct Peer {
  std::string_view name;  // "CUB DeviceReduce"
  // What is called, with the types that matter for its speed: "DeviceReduce::Sum, 32-bit offsets".
  std::string_view call;
  // Whether it supports the request's (op, dtype, params) of the rung `rung`.
  bool (*offers)(const Request& request, std::string_view rung);
  // CUB's protocol: with d_temp == nullptr only sets temp_bytes; otherwise runs on request.stream without
  // synchronising.
  cudaError_t (*run)(const Request& request, void* d_temp, std::size_t& temp_bytes);
  // Prepares the parts of the lab's output that the library does not write; called before the clock starts.
  // May be nullptr.
  cudaError_t (*prepare)(const Request& request) = nullptr;
  // Converts the library's results, which it left in d_temp, into the lab's output; called after the clock
  // has stopped. May be nullptr.
  cudaError_t (*finish)(const Request& request, void* d_temp) = nullptr;
};

// Calls f(n) with n as an int where it fits: libraries are faster with 32-bit offsets.
template <typename F>
cudaError_t with_shortest(std::uint64_t n, F f) {
  return n <= 0x7fffffff ? f(static_cast<std::int32_t>(n)) : f(static_cast<std::int64_t>(n));
}

struct Peers {
  std::span<const Peer> list;
  int version;  // CUB_VERSION; Thrust has the same: 300001 is 3.0.1
};
// Each solutions/peers/<lab>.cu defines `lab::Peers peers()` in its namespace course::<lab>.

}  // namespace course::lab
