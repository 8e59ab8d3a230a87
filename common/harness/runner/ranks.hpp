// SPDX-License-Identifier: MIT
// The streams and communicators of one call of a lab for several devices.
#pragma once

#include <cuda_runtime_api.h>

#include <string>
#include <vector>

#include "lab/request.hpp"

namespace course::lab {

class Ranks {
 public:
  // Fills in the communicators of the ranks, and the streams of those without one. Their devices must differ.
  // The destructor destroys all of them, also streams that were given.
  explicit Ranks(std::vector<Rank>& ranks);
  ~Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  bool ready() const { return why_.empty(); }
  const std::string& why() const { return why_; }  // they are not ready
  // Waits for the streams, and makes the first device the current one. Returns the first error. Calls that
  // can never end are reported by the simulator's libnccl meanwhile.
  cudaError_t wait();

 private:
  std::vector<Rank>& ranks_;
  std::string why_;
};

}  // namespace course::lab
