// SPDX-License-Identifier: MIT
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <cub/device/device_scan.cuh>
#include <cuda/std/functional>

#include "bench/peer.hpp"
#include "scan/lab.hpp"

namespace course::scan {
namespace {

bool is_sum(const lab::Request& r, std::string_view rung) {
  return static_cast<OpId>(r.op) == OpId::sum && r.dtype == lab::DType::i32 && rung != "segmented";
}

// CUB has no scan of rows. Its scan by key treats equal keys as one segment, so an item's key is its row's
// index.
struct RowOf {
  std::uint32_t row_length;
  __host__ __device__ std::uint32_t operator()(std::uint32_t i) const { return i / row_length; }
};
cudaError_t sums_of_rows(const lab::Request& r, void* d_temp, std::size_t& temp_bytes) {
  const auto* d_in = static_cast<const std::int32_t*>(r.inputs[0].data);
  auto* d_out = static_cast<std::int32_t*>(r.outputs[0].data);
  const RowOf row_of{static_cast<std::uint32_t>(r.params[kRowLengthParam])};
  const auto rows = thrust::make_transform_iterator(thrust::make_counting_iterator(std::uint32_t{0}), row_of);
  const auto n = static_cast<std::uint32_t>(r.n);  // the benchmark's sizes are below 2^32
  if (static_cast<Kind>(r.params[kKindParam]) == Kind::exclusive)
    return cub::DeviceScan::ExclusiveSumByKey(d_temp, temp_bytes, rows, d_in, d_out, n,
                                              cuda::std::equal_to<>{}, r.stream);
  return cub::DeviceScan::InclusiveSumByKey(d_temp, temp_bytes, rows, d_in, d_out, n, cuda::std::equal_to<>{},
                                            r.stream);
}
constexpr lab::Peer kPeers[] = {
    {"CUB DeviceScan by row",
     "cub::DeviceScan::InclusiveSumByKey or ExclusiveSumByKey, 32-bit offsets and keys", is_sum,
     sums_of_rows}};

}  // namespace

std::span<const lab::Peer> peers() {
  return kPeers;
}

}  // namespace course::scan
