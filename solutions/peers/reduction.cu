// SPDX-License-Identifier: MIT
#include <cub/device/device_reduce.cuh>

#include "bench/peer.hpp"
#include "reduction/lab.hpp"

namespace course::reduction {
namespace {

// CUB has no mean.
bool is_reduction(const lab::Request& r, std::string_view) {
  return static_cast<OpId>(r.op) != OpId::mean;
}
// CUB's own Min and Max of floats treat a NaN in another way than the lab's operators.
template <typename T, typename Op>
cudaError_t reduce_with(const Job<T, Op>& job, void* d_temp, std::size_t& temp_bytes) {
  return lab::with_shortest(job.n, [&](auto n) {
    if constexpr (std::is_same_v<Op, Sum<T>>)
      return cub::DeviceReduce::Sum(d_temp, temp_bytes, job.d_in, job.d_out, n, job.stream);
    else if constexpr (std::is_same_v<Op, Min<std::int32_t>>)
      return cub::DeviceReduce::Min(d_temp, temp_bytes, job.d_in, job.d_out, n, job.stream);
    else if constexpr (std::is_same_v<Op, Max<std::int32_t>>)
      return cub::DeviceReduce::Max(d_temp, temp_bytes, job.d_in, job.d_out, n, job.stream);
    else
      return cub::DeviceReduce::Reduce(d_temp, temp_bytes, job.d_in, job.d_out, n, job.op, job.op.identity(),
                                       job.stream);
  });
}
cudaError_t reduce(const lab::Request& r, void* d_temp, std::size_t& temp_bytes) {
  cudaError_t code = cudaErrorNotSupported;
  dispatch(r, [&](const auto& job) {
    code = reduce_with(job, d_temp, temp_bytes);
    return Status::ok;
  });
  return code;
}

constexpr lab::Peer kPeers[] = {
    {"CUB DeviceReduce", "cub::DeviceReduce::Sum, Min, Max or Reduce, 32-bit offsets", is_reduction, reduce}};

}  // namespace

lab::Peers peers() {
  return {kPeers, CUB_VERSION};
}

}  // namespace course::reduction
