// SPDX-License-Identifier: MIT
#include <cub/device/device_histogram.cuh>

#include <limits>

#include "bench/peer.hpp"
#include "histogram/lab.hpp"

namespace course::histogram {
namespace {

// CUB rounds in another way than the lab when it divides floats into bins of equal width.
bool is_even(const lab::Request& r, std::string_view) {
  return static_cast<OpId>(r.op) == OpId::even && r.dtype != lab::DType::f32;
}
bool has_edges(const lab::Request& r, std::string_view) {
  return static_cast<OpId>(r.op) == OpId::edges;
}

// CUB is fastest with 32-bit counts and levels. The lab's counts have 64 bits, so CUB's lie before its own
// temporary storage, and are widened after the clock has stopped. CUB does not count the samples in no bin.
std::size_t bytes_of_counts(const lab::Request& r) {
  constexpr std::size_t kAlignment = 256;
  const std::size_t n_bytes = static_cast<std::size_t>(r.params[kBinsParam]) * sizeof(unsigned);
  return (n_bytes + kAlignment - 1) / kAlignment * kAlignment;
}

// Calls f(d_cub, cub_bytes, d_counts): CUB's temporary storage, its size, and where it counts.
template <typename F>
cudaError_t with_counts(const lab::Request& r, void* d_temp, std::size_t& temp_bytes, F f) {
  const std::size_t n_counts = bytes_of_counts(r);
  std::size_t cub_bytes = d_temp == nullptr ? 0 : temp_bytes - n_counts;
  void* d_cub = d_temp == nullptr ? nullptr : static_cast<std::byte*>(d_temp) + n_counts;
  const cudaError_t code = f(d_cub, cub_bytes, static_cast<unsigned*>(d_temp));
  if (d_temp == nullptr) temp_bytes = n_counts + cub_bytes;
  return code;
}

template <typename Level, typename T>
cudaError_t even_with(const lab::Request& r, const T* d_in, void* d_temp, std::size_t& temp_bytes) {
  return lab::with_shortest(r.n, [&](auto n) {
    return with_counts(r, d_temp, temp_bytes, [&](void* d_cub, std::size_t& cub_bytes, unsigned* d_counts) {
      return cub::DeviceHistogram::HistogramEven(
          d_cub, cub_bytes, d_in, d_counts, static_cast<int>(r.params[kBinsParam]) + 1,
          static_cast<Level>(r.params[kLoParam]), static_cast<Level>(r.params[kHiParam]), n, r.stream);
    });
  });
}
cudaError_t even(const lab::Request& r, void* d_temp, std::size_t& temp_bytes) {
  if (r.dtype == lab::DType::u8)
    return even_with<std::int32_t>(r, static_cast<const std::uint8_t*>(r.inputs[0].data), d_temp, temp_bytes);
  const auto* d_in = static_cast<const std::int32_t*>(r.inputs[0].data);
  return r.params[kHiParam] <= std::numeric_limits<std::int32_t>::max()
             ? even_with<std::int32_t>(r, d_in, d_temp, temp_bytes)
             : even_with<std::int64_t>(r, d_in, d_temp, temp_bytes);
}

template <typename T>
cudaError_t edges_with(const lab::Request& r, void* d_temp, std::size_t& temp_bytes) {
  return lab::with_shortest(r.n, [&](auto n) {
    return with_counts(r, d_temp, temp_bytes, [&](void* d_cub, std::size_t& cub_bytes, unsigned* d_counts) {
      return cub::DeviceHistogram::HistogramRange(d_cub, cub_bytes, static_cast<const T*>(r.inputs[0].data),
                                                  d_counts, static_cast<int>(r.params[kBinsParam]) + 1,
                                                  static_cast<const Edge<T>*>(r.inputs[1].data), n, r.stream);
    });
  });
}
cudaError_t edges(const lab::Request& r, void* d_temp, std::size_t& temp_bytes) {
  switch (r.dtype) {
    case lab::DType::u8: return edges_with<std::uint8_t>(r, d_temp, temp_bytes);
    case lab::DType::f32: return edges_with<float>(r, d_temp, temp_bytes);
    default: return edges_with<std::int32_t>(r, d_temp, temp_bytes);
  }
}

__global__ void widen(const unsigned* d_from, std::uint32_t n, Count* d_counts) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) d_counts[i] = d_from[i];
  if (i == n) d_counts[i] = 0;
}
cudaError_t widen_counts(const lab::Request& r, void* d_temp) {
  const auto n_bins = static_cast<std::uint32_t>(r.params[kBinsParam]);
  widen<<<n_bins / 256 + 1, 256, 0, r.stream>>>(static_cast<const unsigned*>(d_temp), n_bins,
                                                static_cast<Count*>(r.outputs[0].data));
  const cudaError_t code = cudaGetLastError();
  return code != cudaSuccess ? code : cudaStreamSynchronize(r.stream);
}
constexpr lab::Peer kPeers[] = {
    {"CUB DeviceHistogram", "cub::DeviceHistogram::HistogramEven, 32-bit counts, levels and offsets", is_even,
     even, nullptr, widen_counts},
    {"CUB DeviceHistogram", "cub::DeviceHistogram::HistogramRange, 32-bit counts and offsets", has_edges,
     edges, nullptr, widen_counts}};

}  // namespace

lab::Peers peers() {
  return {kPeers, CUB_VERSION};
}

}  // namespace course::histogram
