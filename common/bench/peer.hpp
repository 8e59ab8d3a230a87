// SPDX-License-Identifier: MIT
// A library's function that does what a lab asks, for ./lab bench to measure beside the rungs.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <span>
#include <string_view>

#include "lab/request.hpp"

namespace course::lab {

struct Peer {
  std::string_view name;  // "CUB DeviceReduce"
  // Whether it answers the request's (op, dtype, params) of the rung called `rung`.
  bool (*offers)(const Request& request, std::string_view rung);
  // As CUB does it: with d_temp == nullptr only sets temp_bytes; else runs on request.stream, without
  // synchronising.
  cudaError_t (*run)(const Request& request, void* d_temp, std::size_t& temp_bytes);
  // What the library leaves undone of the lab's output; called before the clock starts. nullptr: nothing.
  cudaError_t (*prepare)(const Request& request) = nullptr;
};

// Each solutions/peers/<lab>.cu defines `std::span<const lab::Peer> peers()` in its namespace course::<lab>.

}  // namespace course::lab
