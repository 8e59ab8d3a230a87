// SPDX-License-Identifier: MIT
#include <cub/device/device_scan.cuh>

#include "bench/peer.hpp"
#include "hierarchical_scan/lab.hpp"

namespace course::hierarchical_scan {
namespace {

bool is_sum(const lab::Request& r, std::string_view) {
  return static_cast<OpId>(r.op) == OpId::sum && r.dtype == lab::DType::i32;
}
cudaError_t sum(const lab::Request& r, void* d_temp, std::size_t& temp_bytes) {
  const auto* d_in = static_cast<const std::int32_t*>(r.inputs[0].data);
  auto* d_out = static_cast<std::int32_t*>(r.outputs[0].data);
  return lab::with_shortest(r.n, [&](auto n) {
    return static_cast<Kind>(r.params[0]) == Kind::exclusive
               ? cub::DeviceScan::ExclusiveSum(d_temp, temp_bytes, d_in, d_out, n, r.stream)
               : cub::DeviceScan::InclusiveSum(d_temp, temp_bytes, d_in, d_out, n, r.stream);
  });
}
constexpr lab::Peer kPeers[] = {
    {"CUB DeviceScan", "cub::DeviceScan::InclusiveSum or ExclusiveSum, 32-bit offsets", is_sum, sum}};

}  // namespace

std::span<const lab::Peer> peers() {
  return kPeers;
}

}  // namespace course::hierarchical_scan
