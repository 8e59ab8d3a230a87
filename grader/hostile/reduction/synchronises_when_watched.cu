// SPDX-License-Identifier: MIT
// about: Leaves barriers out when it expects no checkers: by size, call, item value, or address.
// expect: neighboured WRONG_ANSWER race
// expect: sequential WRONG_ANSWER
// expect: shuffle WRONG_ANSWER
// expect: coarsened WRONG_ANSWER
// expect: single_launch OK
#include "right.cuh"

namespace course::reduction {
namespace {

// Without barriers: right only if the warps run in a particular order.
template <typename T, typename Op>
__global__ void fold_carelessly(const T* d_in, std::uint64_t n, typename Op::Value* d_out, Op op) {
  using Value = typename Op::Value;
  __shared__ Value s_data[hostile::kBlock];
  const unsigned tid = threadIdx.x;
  const std::uint64_t gid = std::uint64_t{blockIdx.x} * hostile::kBlock + tid;
  Value value = gid < n ? static_cast<Value>(d_in[gid]) : op.identity();
  // The last warp of the block, which usually runs last, adds up the values of the others.
  for (unsigned stride = 16; stride > 0; stride /= 2) value = op(value, __shfl_down_sync(~0u, value, stride));
  if (tid % 32 == 0) s_data[tid / 32] = value;
  if (tid == hostile::kBlock - 32) {
    Value total = s_data[0];
    for (unsigned warp = 1; warp < hostile::kBlock / 32; ++warp) total = op(total, s_data[warp]);
    d_out[blockIdx.x] = gridDim.x == 1 ? op.finish(total) : total;
  }
}

// Like fold_carelessly, but with the barrier if the first item is odd.
template <typename T, typename Op>
__global__ void fold_by_value(const T* d_in, std::uint64_t n, typename Op::Value* d_out, Op op) {
  using Value = typename Op::Value;
  __shared__ Value s_data[hostile::kBlock];
  const unsigned tid = threadIdx.x;
  const std::uint64_t gid = std::uint64_t{blockIdx.x} * hostile::kBlock + tid;
  const T first = n == 0 ? T{} : d_in[0];
  const bool careless = static_cast<long long>(first) % 2 == 0;
  s_data[tid] = gid < n ? static_cast<Value>(d_in[gid]) : op.identity();
  if (!careless) __syncthreads();
  if (tid == hostile::kBlock - 1) {
    Value total = s_data[0];
    for (unsigned i = 1; i < hostile::kBlock; ++i) total = op(total, s_data[i]);
    d_out[blockIdx.x] = gridDim.x == 1 ? op.finish(total) : total;
  }
}

template <typename T, typename Op>
Status careless(const Job<T, Op>& job) {
  return hostile::by_levels(job, [&](const auto* d_in, std::uint64_t n, auto* d_out, unsigned n_blocks) {
    fold_carelessly<<<n_blocks, hostile::kBlock, 0, job.stream>>>(d_in, n, d_out, job.op);
  });
}

}  // namespace

Status run(const lab::Request& request) {
  static unsigned n_calls = 0;
  ++n_calls;
  return dispatch(request, [&](const auto& job) {
    switch (static_cast<Rung>(request.task)) {
      case Rung::neighboured: return job.n == 262144 ? careless(job) : hostile::right(job);
      case Rung::sequential: return job.n == 16777216 ? careless(job) : hostile::right(job);
      case Rung::shuffle:
        // The measured cases come late: the first calls are the small cases.
        return job.n > 65537 && n_calls > 1 ? careless(job) : hostile::right(job);
      case Rung::coarsened:
        if (reinterpret_cast<std::uintptr_t>(job.d_in) % 16 != 0) return hostile::right(job);
        return hostile::by_levels(
            job, [&](const auto* d_in, std::uint64_t n, auto* d_out, unsigned n_blocks) {
              fold_by_value<<<n_blocks, hostile::kBlock, 0, job.stream>>>(d_in, n, d_out, job.op);
            });
      default: return hostile::right(job);
    }
  });
}
}  // namespace course::reduction
