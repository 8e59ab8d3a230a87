// SPDX-License-Identifier: MIT
#include <cub/device/device_radix_sort.cuh>

#include "bench/peer.hpp"
#include "radix_sort/lab.hpp"

namespace course::radix_sort {
namespace {

bool whole_sort(const lab::Request& r, std::string_view rung) {
  return rung != "tile_sort" && rung != "merge" && rung != "merge_path" && r.params[kDescending] == 0 &&
         r.dtype == lab::DType::u32;
}
bool keys_only(const lab::Request& r, std::string_view rung) {
  return whole_sort(r, rung) && static_cast<OpId>(r.op) == OpId::keys;
}
bool pairs_too(const lab::Request& r, std::string_view rung) {
  return whole_sort(r, rung) && static_cast<OpId>(r.op) != OpId::keys;
}
const std::uint32_t* in(const lab::Request& r, std::size_t k) {
  return static_cast<const std::uint32_t*>(r.inputs[k].data);
}
std::uint32_t* out(const lab::Request& r, std::size_t k) {
  return static_cast<std::uint32_t*>(r.outputs[k].data);
}
cudaError_t keys(const lab::Request& r, void* d_temp, std::size_t& temp_bytes) {
  return lab::with_shortest(r.n, [&](auto n) {
    return cub::DeviceRadixSort::SortKeys(d_temp, temp_bytes, in(r, 0), out(r, 0), n,
                                          static_cast<int>(r.params[kBeginBit]),
                                          static_cast<int>(r.params[kEndBit]), r.stream);
  });
}
cudaError_t pairs(const lab::Request& r, void* d_temp, std::size_t& temp_bytes) {
  return lab::with_shortest(r.n, [&](auto n) {
    return cub::DeviceRadixSort::SortPairs(d_temp, temp_bytes, in(r, 0), out(r, 0), in(r, 1), out(r, 1), n,
                                           static_cast<int>(r.params[kBeginBit]),
                                           static_cast<int>(r.params[kEndBit]), r.stream);
  });
}
constexpr lab::Peer kPeers[] = {
    {"CUB DeviceRadixSort keys", "cub::DeviceRadixSort::SortKeys, 32-bit offsets", keys_only, keys},
    {"CUB DeviceRadixSort pairs", "cub::DeviceRadixSort::SortPairs, 32-bit offsets", pairs_too, pairs}};

}  // namespace

std::span<const lab::Peer> peers() {
  return kPeers;
}

}  // namespace course::radix_sort
