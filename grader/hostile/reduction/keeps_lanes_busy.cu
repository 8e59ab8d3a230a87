// SPDX-License-Identifier: MIT
// about: Lets lanes without a pair of items add others, or nothing, so that they do not count as inactive.
// expect: sequential OK
// misses: sequential active_lanes
#include "right.cuh"

namespace course::reduction {
namespace {
using hostile::kBlock;

// As in neighboured: in each round, only every (2 · stride)-th thread has a pair of items. The other threads
// take part in turn in three ways: they add their own item to itself, two other items, or nothing to theirs.
template <typename T, typename Op>
__global__ void fold_neighbours(const T* d_in, std::uint64_t n, typename Op::Value* d_out, Op op) {
  using Value = typename Op::Value;
  __shared__ Value s_data[kBlock];
  const unsigned tid = threadIdx.x;
  const std::uint64_t gid = std::uint64_t{blockIdx.x} * kBlock + tid;
  s_data[tid] = gid < n ? static_cast<Value>(d_in[gid]) : op.identity();
  __syncthreads();
  unsigned round = 0;
  for (unsigned stride = 1; stride < kBlock; stride *= 2, ++round) {
    const bool has_pair = tid % (2 * stride) == 0;
    const unsigned other = has_pair ? tid + stride : round % 3 == 0 ? tid : (tid + 5) % kBlock;
    const Value mine = s_data[tid];
    const Value nothing = op.identity(), theirs = s_data[other];
    const Value sum = op(mine, has_pair || round % 3 != 2 ? theirs : nothing);
    __syncthreads();  // before an item that others have read is replaced
    s_data[tid] = has_pair ? sum : mine;
    __syncthreads();  // before the sums are read
  }
  if (tid == 0) d_out[blockIdx.x] = gridDim.x == 1 ? op.finish(s_data[0]) : s_data[0];
}
}  // namespace

Status run(const lab::Request& request) {
  return dispatch(request, [&](const auto& job) {
    if (static_cast<Rung>(request.task) != Rung::sequential) return not_implemented(job);
    return hostile::by_levels(job, [&](const auto* d_from, std::uint64_t n, auto* d_to, unsigned n_blocks) {
      fold_neighbours<<<n_blocks, kBlock, 0, job.stream>>>(d_from, n, d_to, job.op);
    });
  });
}

}  // namespace course::reduction
