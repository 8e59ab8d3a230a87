// SPDX-License-Identifier: MIT
#include "runner/ranks.hpp"

#include "base/cuda_check.hpp"
#include "nccl/nccl.h"

namespace course::lab {

Ranks::Ranks(std::vector<Rank>& ranks) : ranks_(ranks) {
  std::vector<int> devices;
  for (Rank& rank : ranks_) {
    devices.push_back(rank.device);
    Result<void> r = checked(cudaSetDevice(rank.device), "cudaSetDevice");
    if (r && rank.stream == nullptr)
      r = checked(cudaStreamCreateWithFlags(&rank.stream, cudaStreamNonBlocking),
                  "cudaStreamCreateWithFlags");
    if (!r) {
      why_ = r.error().text;
      return;
    }
  }
  std::vector<ncclComm_t> comms(ranks_.size());
  if (const ncclResult_t result =
          ncclCommInitAll(comms.data(), static_cast<int>(comms.size()), devices.data());
      result != ncclSuccess) {
    why_ = std::string("ncclCommInitAll: ") + ncclGetErrorString(result);
    if (const char* const more = ncclGetLastError(nullptr); more != nullptr && *more != '\0')
      why_ += std::string(": ") + more;
    return;
  }
  static_cast<void>(cudaSetDevice(devices.front()));
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
