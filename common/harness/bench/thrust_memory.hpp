// SPDX-License-Identifier: MIT
// Thrust allocates temporary memory in each call. Its baselines get it from a block that exists before the
// clock starts, as CUB's do.
#pragma once

#include <thrust/execution_policy.h>

#include <cstddef>
#include <exception>
#include <new>
#include <utility>

#include "lab/request.hpp"

namespace course::lab {

// Gives away parts of d_memory one after the other, and takes none of them back: for one call.
class Memory {
 public:
  using value_type = char;
  Memory(void* d_memory, std::size_t n_bytes) : d_next_(static_cast<char*>(d_memory)), left_(n_bytes) {}
  char* allocate(std::ptrdiff_t n) {
    constexpr std::size_t kAlignment = 256;
    const std::size_t n_bytes = (static_cast<std::size_t>(n) + kAlignment - 1) / kAlignment * kAlignment;
    if (n_bytes > left_) throw std::bad_alloc();
    left_ -= n_bytes;
    return std::exchange(d_next_, d_next_ + n_bytes);
  }
  void deallocate(char*, std::size_t) {}

 private:
  char* d_next_;
  std::size_t left_;
};

// Calls f(policy) with a policy for the request's stream whose temporary memory is in d_temp. With d_temp ==
// nullptr only sets temp_bytes, to `bytes_per_item` for each item and something for every call.
template <typename F>
cudaError_t with_thrust(const Request& r, void* d_temp, std::size_t& temp_bytes, std::size_t bytes_per_item,
                        F f) {
  if (d_temp == nullptr) {
    temp_bytes = r.n * bytes_per_item + (std::size_t{64} << 20);
    return cudaSuccess;
  }
  Memory memory(d_temp, temp_bytes);
  try {
    f(thrust::cuda::par_nosync(memory).on(r.stream));
  } catch (const std::exception&) {
    return cudaErrorMemoryAllocation;
  }
  return cudaGetLastError();
}

}  // namespace course::lab
