// SPDX-License-Identifier: MIT
#include <cub/device/device_select.cuh>

#include "bench/peer.hpp"
#include "compaction/lab.hpp"

namespace course::compaction {
namespace {

bool is_positive(const lab::Request& r, std::string_view) {
  return static_cast<KeepId>(r.op) == KeepId::is_positive && r.dtype == lab::DType::i32;
}
cudaError_t select(const lab::Request& r, void* d_temp, std::size_t& temp_bytes) {
  return cub::DeviceSelect::If(d_temp, temp_bytes, static_cast<const std::int32_t*>(r.inputs[0].data),
                               static_cast<std::int32_t*>(r.outputs[0].data),
                               static_cast<Index*>(r.outputs[1].data), static_cast<std::int64_t>(r.n),
                               IsPositive<std::int32_t>{}, r.stream);
}
constexpr lab::Peer kPeers[] = {{"CUB DeviceSelect", "cub::DeviceSelect::If", is_positive, select}};

}  // namespace

std::span<const lab::Peer> peers() {
  return kPeers;
}

}  // namespace course::compaction
