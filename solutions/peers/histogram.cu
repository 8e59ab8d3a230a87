// SPDX-License-Identifier: MIT
#include <cub/device/device_histogram.cuh>

#include "bench/peer.hpp"
#include "histogram/lab.hpp"

namespace course::histogram {
namespace {

bool is_even(const lab::Request& r, std::string_view) {
  return static_cast<OpId>(r.op) != OpId::edges && r.dtype == lab::DType::i32;
}
// CUB does not count the samples in no bin.
cudaError_t clear_outside(const lab::Request& r) {
  auto* d_counts = static_cast<Count*>(r.outputs[0].data);
  return cudaMemsetAsync(d_counts + r.params[kBinsParam], 0, sizeof(Count), r.stream);
}
cudaError_t even(const lab::Request& r, void* d_temp, std::size_t& temp_bytes) {
  return cub::DeviceHistogram::HistogramEven(
      d_temp, temp_bytes, static_cast<const std::int32_t*>(r.inputs[0].data),
      static_cast<Count*>(r.outputs[0].data), static_cast<int>(r.params[kBinsParam]) + 1, r.params[kLoParam],
      r.params[kHiParam], static_cast<std::int64_t>(r.n), r.stream);
}
constexpr lab::Peer kPeers[] = {{"CUB DeviceHistogram", is_even, even, clear_outside}};

}  // namespace

std::span<const lab::Peer> peers() {
  return kPeers;
}

}  // namespace course::histogram
