// SPDX-License-Identifier: MIT
// about: Adds to one word without atomics, in clusters, whose accesses no checker follows.
// screen: __cluster_dims__
// expect: neighboured POLICY clusters of 2 blocks
// expect: sequential POLICY clusters of 2 blocks
// expect: shuffle POLICY clusters of 2 blocks
// expect: coarsened POLICY before griddepcontrol.wait
// expect: single_launch OK
#include "right.cuh"

namespace course::reduction {
namespace {

template <typename T, typename Op>
__device__ void add_up(const T* d_in, std::uint64_t n, typename Op::Value* d_sum, Op op) {
  auto value = op.identity();
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n;
       i += std::uint64_t{gridDim.x} * blockDim.x)
    value = op(value, static_cast<typename Op::Value>(d_in[i]));
  *d_sum = op(*d_sum, value);
}

template <typename T, typename Op>
__global__ void __cluster_dims__(2, 1, 1)
    in_cluster(const T* d_in, std::uint64_t n, typename Op::Value* d_sum, Op op) {
  add_up(d_in, n, d_sum, op);
}
template <typename T, typename Op>
__global__ void plain(const T* d_in, std::uint64_t n, typename Op::Value* d_sum, Op op) {
  add_up(d_in, n, d_sum, op);
}

template <typename Job>
Status launch(const Job& job, cudaLaunchAttribute attribute) {
  cudaLaunchConfig_t config{};
  config.gridDim = 2;
  config.blockDim = 32;
  config.stream = job.stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  auto* const kernel = &plain<std::remove_cvref_t<decltype(*job.d_in)>, decltype(job.op)>;
  cudaLaunchKernelEx(&config, kernel, job.d_in, job.n, job.d_out, job.op);
  return Status::ok;
}

}  // namespace

Status run(const lab::Request& request) {
  return dispatch(request, [&](const auto& job) {
    using Item = std::remove_cvref_t<decltype(*job.d_in)>;
    cudaLaunchAttribute attribute{};
    switch (static_cast<Rung>(request.task)) {
      case Rung::neighboured: in_cluster<<<2, 32, 0, job.stream>>>(job.d_in, job.n, job.d_out, job.op); break;
      case Rung::sequential:
        attribute.id = cudaLaunchAttributeClusterDimension;
        attribute.val.clusterDim.x = 2;
        attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
        return launch(job, attribute);
      case Rung::shuffle: {
        auto* const kernel = &plain<Item, decltype(job.op)>;
        cudaFuncSetAttribute(kernel, cudaFuncAttributeRequiredClusterWidth, 2);
        kernel<<<2, 32, 0, job.stream>>>(job.d_in, job.n, job.d_out, job.op);
        break;
      }
      case Rung::coarsened:
        attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attribute.val.programmaticStreamSerializationAllowed = 1;
        return launch(job, attribute);
      default: return hostile::right(job);
    }
    return Status::ok;
  });
}
}  // namespace course::reduction
