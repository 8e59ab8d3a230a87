// SPDX-License-Identifier: MIT
// The streams and communicators of one call of a lab for several devices.
#pragma once

#include <cuda_runtime_api.h>

#include <vector>

#include "lab/request.hpp"

namespace course::lab {

class Ranks {
 public:
  // Fills in the streams and communicators of the ranks. Their devices must differ.
  explicit Ranks(std::vector<Rank>& ranks);
  ~Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  bool ready() const { return ready_; }
  // Waits for the streams, and makes the first device the current one. Returns the first error. Calls that
  // can never end are reported by libnccl meanwhile.
  cudaError_t wait();

 private:
  std::vector<Rank>& ranks_;
  bool ready_ = true;
};

}  // namespace course::lab
