// SPDX-License-Identifier: MIT
#include "runner/ranks.hpp"

#include "nccl/nccl.h"

namespace course::lab {

Ranks::Ranks(std::vector<Rank>& ranks) : ranks_(ranks) {
  std::vector<int> devices;
  for (Rank& rank : ranks_) {
    devices.push_back(rank.device);
    ready_ = ready_ && cudaSetDevice(rank.device) == cudaSuccess &&
             cudaStreamCreateWithFlags(&rank.stream, cudaStreamNonBlocking) == cudaSuccess;
  }
  std::vector<ncclComm_t> comms(ranks_.size());
  const int n = static_cast<int>(comms.size());
  ready_ = ready_ && n > 0 && ncclCommInitAll(comms.data(), n, devices.data()) == ncclSuccess &&
           cudaSetDevice(devices.front()) == cudaSuccess;
  for (std::size_t i = 0; i < comms.size(); ++i) ranks_[i].comm = comms[i];
}

Ranks::~Ranks() {
  for (const Rank& rank : ranks_) {
    if (rank.comm != nullptr) static_cast<void>(ncclCommDestroy(rank.comm));
    if (rank.stream != nullptr) static_cast<void>(cudaStreamDestroy(rank.stream));
  }
}

cudaError_t Ranks::wait() {
  cudaError_t first = cudaSuccess;
  for (const Rank& rank : ranks_) {
    cudaError_t code = cudaSetDevice(rank.device);
    if (code == cudaSuccess) code = cudaStreamSynchronize(rank.stream);
    if (first == cudaSuccess) first = code;
  }
  static_cast<void>(cudaSetDevice(ranks_.front().device));
  return first;
}

}  // namespace course::lab
