// SPDX-License-Identifier: MIT
#include <cub/device/device_scan.cuh>

#include "bench/peer.hpp"
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

constexpr lab::Peer kPeers[] = {
    {"CUB DeviceScan",
     "cub::DeviceScan::InclusiveSum, ExclusiveSum, InclusiveScan or ExclusiveScan, 32-bit offsets", is_any,
     scan}};

}  // namespace

lab::Peers peers() {
  return {kPeers, CUB_VERSION};
}

}  // namespace course::hierarchical_scan
