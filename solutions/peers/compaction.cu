// SPDX-License-Identifier: MIT
#include <cub/device/device_select.cuh>

#include "bench/peer.hpp"
#include "compaction/lab.hpp"

namespace course::compaction {
namespace {

bool is_any(const lab::Request&, std::string_view) {
  return true;
}
cudaError_t select(const lab::Request& r, void* d_temp, std::size_t& temp_bytes) {
  cudaError_t code = cudaErrorNotSupported;
  dispatch(r, [&](const auto& job) {
    code = cub::DeviceSelect::If(d_temp, temp_bytes, job.d_in, job.d_out, job.d_count,
                                 static_cast<std::int64_t>(job.n), job.keep, job.stream);
    return Status::ok;
  });
  return code;
}

constexpr lab::Peer kPeers[] = {{"CUB DeviceSelect", "cub::DeviceSelect::If", is_any, select}};

}  // namespace

lab::Peers peers() {
  return {kPeers, CUB_VERSION};
}

}  // namespace course::compaction
