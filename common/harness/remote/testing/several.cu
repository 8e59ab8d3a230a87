// SPDX-License-Identifier: MIT
// A submission for several devices, as a student could write it, and its mistakes: several_test.cpp says what
// the verifier must answer. Input r is the shard of rank r, items of 32 bits; output r gets the sum of all
// shards. Nothing here knows the simulator.
#include <cuda_runtime.h>

#include "lab/request.hpp"
#include "nccl/nccl.h"
#include "remote/testing/several.hpp"

namespace course::several {
namespace {

using Sum = unsigned long long;

__global__ void add_items(const unsigned* d_in, unsigned long long n, Sum* d_sum) {
  for (unsigned long long i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(d_sum, Sum{d_in[i]});
}
__global__ void clear(Sum* d_sum) {
  *d_sum = 0;
}
__global__ void add_sums(const Sum* d_sums, int n, Sum* d_total) {
  Sum total = 0;
  for (int i = 0; i < n; ++i) total += d_sums[i];
  *d_total = total;
}

struct Shard {
  const unsigned* d_in;
  unsigned long long n;
  Sum *d_out, *d_sums;
  cudaStream_t stream;
  ncclComm_t comm;
};
Shard shard_of(const lab::Request& request, std::size_t rank) {
  return {static_cast<const unsigned*>(request.inputs[rank].data),
          request.inputs[rank].count,
          static_cast<Sum*>(request.outputs[rank].data),
          static_cast<Sum*>(request.ranks[rank].d_workspace),
          request.ranks[rank].stream,
          request.ranks[rank].comm};
}

}  // namespace

lab::Status run(const lab::Request& request) {
  const auto how = static_cast<How>(request.op);
  const std::size_t n_ranks = request.ranks.size();
  for (std::size_t r = 0; r < n_ranks; ++r) {
    const Shard shard = shard_of(request, r);
    cudaSetDevice(request.ranks[r].device);
    const cudaStream_t stream = how == How::default_stream && r == 1 ? nullptr : shard.stream;
    Sum* const d_sum = shard.d_sums + (how == How::gathered ? r : 0);
    clear<<<1, 1, 0, stream>>>(how == How::unset ? d_sum + 1 : d_sum);
    if (how == How::unset) continue;
    add_items<<<1, 128, 0, stream>>>(shard.d_in, shard.n, d_sum);
    if (how != How::copied) continue;
    cudaStreamSynchronize(stream);
    const cudaStream_t first = request.ranks[0].stream;
    Sum sum = 0;
    cudaMemcpyAsync(&sum, d_sum, sizeof sum, cudaMemcpyDeviceToHost, first);
    cudaStreamSynchronize(first);
    clear<<<1, 1, 0, stream>>>(d_sum);
    cudaStreamSynchronize(stream);
    cudaMemcpyAsync(d_sum, &sum, sizeof sum, cudaMemcpyHostToDevice, first);
    cudaStreamSynchronize(first);
  }
  ncclGroupStart();
  for (std::size_t r = 0; r < n_ranks; ++r) {
    const Shard shard = shard_of(request, r);
    if (how == How::rank_is_missing && r + 1 == n_ranks) continue;
    if (how == How::gathered) {
      ncclAllGather(shard.d_sums + r, shard.d_sums, 1, ncclUint64, shard.comm, shard.stream);
    } else {
      const Sum* d_sum = how == How::memory_of_another ? shard_of(request, 0).d_sums : shard.d_sums;
      ncclAllReduce(d_sum, shard.d_out, 1, ncclUint64, ncclSum, shard.comm, shard.stream);
    }
  }
  ncclGroupEnd();
  if (how == How::gathered) {
    for (std::size_t r = 0; r < n_ranks; ++r) {
      const Shard shard = shard_of(request, r);
      cudaSetDevice(request.ranks[r].device);
      add_sums<<<1, 1, 0, shard.stream>>>(shard.d_sums, static_cast<int>(n_ranks), shard.d_out);
    }
  }
  return lab::Status::ok;
}

}  // namespace course::several
