// SPDX-License-Identifier: MIT
#include <thrust/scan.h>

#include <cub/device/device_scan.cuh>

#include "bench/peer.hpp"
#include "bench/thrust_memory.hpp"
#include "hierarchical_scan/lab.hpp"

namespace course::hierarchical_scan {
namespace {

bool is_any(const lab::Request&, std::string_view) {
  return true;
}
template <typename Op>
cudaError_t scan_with(const Job<Op>& job, void* d_temp, std::size_t& temp_bytes) {
  const bool exclusive = job.kind == Kind::exclusive;
  return lab::with_shortest(job.n, [&](auto n) {
    if constexpr (std::is_same_v<Op, Sum<typename Op::Value>>)
      return exclusive
                 ? cub::DeviceScan::ExclusiveSum(d_temp, temp_bytes, job.d_in, job.d_out, n, job.stream)
                 : cub::DeviceScan::InclusiveSum(d_temp, temp_bytes, job.d_in, job.d_out, n, job.stream);
    else
      return exclusive ? cub::DeviceScan::ExclusiveScan(d_temp, temp_bytes, job.d_in, job.d_out, job.op,
                                                        job.op.identity(), n, job.stream)
                       : cub::DeviceScan::InclusiveScan(d_temp, temp_bytes, job.d_in, job.d_out, job.op, n,
                                                        job.stream);
  });
}
cudaError_t scan(const lab::Request& r, void* d_temp, std::size_t& temp_bytes) {
  cudaError_t code = cudaErrorNotSupported;
  dispatch(r, [&](const auto& job) {
    code = scan_with(job, d_temp, temp_bytes);
    return Status::ok;
  });
  return code;
}

bool is_int_sum(const lab::Request& r, std::string_view) {
  return static_cast<OpId>(r.op) == OpId::sum && r.dtype == lab::DType::i32;
}
cudaError_t thrust_sums(const lab::Request& r, void* d_temp, std::size_t& temp_bytes) {
  const auto* d_in = static_cast<const std::int32_t*>(r.inputs[0].data);
  auto* d_out = static_cast<std::int32_t*>(r.outputs[0].data);
  return lab::with_thrust(r, d_temp, temp_bytes, 1, [&](const auto& policy) {
    if (static_cast<Kind>(r.params[0]) == Kind::exclusive)
      thrust::exclusive_scan(policy, d_in, d_in + r.n, d_out);
    else
      thrust::inclusive_scan(policy, d_in, d_in + r.n, d_out);
  });
}
constexpr lab::Peer kPeers[] = {
    {"CUB DeviceScan",
     "cub::DeviceScan::InclusiveSum, ExclusiveSum, InclusiveScan or ExclusiveScan, 32-bit offsets", is_any,
     scan},
    {"Thrust scan", "thrust::inclusive_scan or exclusive_scan, its memory allocated before", is_int_sum,
     thrust_sums}};

}  // namespace

lab::Peers peers() {
  return {kPeers, CUB_VERSION};
}

}  // namespace course::hierarchical_scan
