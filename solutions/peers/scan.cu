// SPDX-License-Identifier: MIT
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <cub/device/device_scan.cuh>
#include <cuda/std/functional>

#include "bench/peer.hpp"
#include "scan/lab.hpp"

namespace course::scan {
namespace {

bool has_rows(const lab::Request&, std::string_view rung) {
  return rung != "segmented";
}

// CUB has no scan of rows. Its scan by key treats equal keys as one segment, so an item's key is its row's
// index.
struct RowOf {
  std::uint32_t row_length;
  __host__ __device__ std::uint32_t operator()(std::uint32_t i) const { return i / row_length; }
};
template <typename Op>
cudaError_t scan_with(const Job<Op>& job, void* d_temp, std::size_t& temp_bytes) {
  const auto rows = thrust::make_transform_iterator(thrust::make_counting_iterator(std::uint32_t{0}),
                                                    RowOf{job.row_length});
  const auto n = static_cast<std::uint32_t>(job.n);  // the benchmark's sizes are below 2^32
  const cuda::std::equal_to<> same;
  const bool exclusive = job.kind == Kind::exclusive;
  if constexpr (std::is_same_v<Op, Sum<typename Op::Value>>)
    return exclusive ? cub::DeviceScan::ExclusiveSumByKey(d_temp, temp_bytes, rows, job.d_in, job.d_out, n,
                                                          same, job.stream)
                     : cub::DeviceScan::InclusiveSumByKey(d_temp, temp_bytes, rows, job.d_in, job.d_out, n,
                                                          same, job.stream);
  else
    return exclusive ? cub::DeviceScan::ExclusiveScanByKey(d_temp, temp_bytes, rows, job.d_in, job.d_out,
                                                           job.op, job.op.identity(), n, same, job.stream)
                     : cub::DeviceScan::InclusiveScanByKey(d_temp, temp_bytes, rows, job.d_in, job.d_out,
                                                           job.op, n, same, job.stream);
}
cudaError_t scan_rows(const lab::Request& r, void* d_temp, std::size_t& temp_bytes) {
  cudaError_t code = cudaErrorNotSupported;
  dispatch(r, [&](const auto& job) {
    code = scan_with(job, d_temp, temp_bytes);
    return Status::ok;
  });
  return code;
}
constexpr lab::Peer kPeers[] = {
    {"CUB DeviceScan by row",
     "cub::DeviceScan::InclusiveSumByKey, ExclusiveSumByKey or their general forms, 32-bit offsets and keys",
     has_rows, scan_rows}};

}  // namespace

lab::Peers peers() {
  return {kPeers, CUB_VERSION};
}

}  // namespace course::scan
