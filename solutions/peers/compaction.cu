// SPDX-License-Identifier: MIT
#include <thrust/copy.h>

#include <cub/device/device_select.cuh>

#include "bench/peer.hpp"
#include "bench/thrust_memory.hpp"
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

bool is_positive(const lab::Request& r, std::string_view) {
  return static_cast<KeepId>(r.op) == KeepId::is_positive && r.dtype == lab::DType::i32;
}
// Thrust returns the end of the output to the host, for which it waits.
cudaError_t thrust_copy_if(const lab::Request& r, void* d_temp, std::size_t& temp_bytes) {
  const auto* d_in = static_cast<const std::int32_t*>(r.inputs[0].data);
  auto* d_out = static_cast<std::int32_t*>(r.outputs[0].data);
  return lab::with_thrust(r, d_temp, temp_bytes, 1, [&](const auto& policy) {
    const auto* d_end = thrust::copy_if(policy, d_in, d_in + r.n, d_out, IsPositive<std::int32_t>{});
    const auto count = static_cast<Index>(d_end - d_out);
    cudaMemcpyAsync(r.outputs[1].data, &count, sizeof count, cudaMemcpyHostToDevice, r.stream);
  });
}
constexpr lab::Peer kPeers[] = {
    {"CUB DeviceSelect", "cub::DeviceSelect::If", is_any, select},
    {"Thrust copy_if", "thrust::copy_if, its memory allocated before", is_positive, thrust_copy_if}};

}  // namespace

lab::Peers peers() {
  return {kPeers, CUB_VERSION};
}

}  // namespace course::compaction
