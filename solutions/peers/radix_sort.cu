// SPDX-License-Identifier: MIT
#include <cub/device/device_radix_sort.cuh>

#include "bench/peer.hpp"
#include "radix_sort/lab.hpp"

namespace course::radix_sort {
namespace {

bool whole_sort(const lab::Request&, std::string_view rung) {
  return rung != "tile_sort" && rung != "merge" && rung != "merge_path";
}
bool keys_only(const lab::Request& r, std::string_view rung) {
  return whole_sort(r, rung) && static_cast<OpId>(r.op) == OpId::keys;
}
bool pairs_too(const lab::Request& r, std::string_view rung) {
  return whole_sort(r, rung) && static_cast<OpId>(r.op) == OpId::pairs;
}
template <typename T>
const T* in(const lab::Request& r, std::size_t k) {
  return static_cast<const T*>(r.inputs[k].data);
}
template <typename T>
T* out(const lab::Request& r, std::size_t k) {
  return static_cast<T*>(r.outputs[k].data);
}

template <typename Key>
cudaError_t sort_keys(const lab::Request& r, void* d_temp, std::size_t& temp_bytes) {
  const int begin = static_cast<int>(r.params[kBeginBit]), end = static_cast<int>(r.params[kEndBit]);
  return lab::with_shortest(r.n, [&](auto n) {
    return r.params[kDescending] != 0
               ? cub::DeviceRadixSort::SortKeysDescending(d_temp, temp_bytes, in<Key>(r, 0), out<Key>(r, 0),
                                                          n, begin, end, r.stream)
               : cub::DeviceRadixSort::SortKeys(d_temp, temp_bytes, in<Key>(r, 0), out<Key>(r, 0), n, begin,
                                                end, r.stream);
  });
}
template <typename Key>
cudaError_t sort_pairs(const lab::Request& r, void* d_temp, std::size_t& temp_bytes) {
  using Value = std::uint32_t;
  const int begin = static_cast<int>(r.params[kBeginBit]), end = static_cast<int>(r.params[kEndBit]);
  return lab::with_shortest(r.n, [&](auto n) {
    return r.params[kDescending] != 0
               ? cub::DeviceRadixSort::SortPairsDescending(d_temp, temp_bytes, in<Key>(r, 0), out<Key>(r, 0),
                                                           in<Value>(r, 1), out<Value>(r, 1), n, begin, end,
                                                           r.stream)
               : cub::DeviceRadixSort::SortPairs(d_temp, temp_bytes, in<Key>(r, 0), out<Key>(r, 0),
                                                 in<Value>(r, 1), out<Value>(r, 1), n, begin, end, r.stream);
  });
}
// Calls f(Key{}) with the type of the request's keys.
template <typename F>
cudaError_t with_key(const lab::Request& r, F f) {
  switch (r.dtype) {
    case lab::DType::i32: return f(std::int32_t{});
    case lab::DType::f32: return f(float{});
    case lab::DType::u64: return f(std::uint64_t{});
    case lab::DType::i64: return f(std::int64_t{});
    case lab::DType::f64: return f(double{});
    default: return f(std::uint32_t{});
  }
}
cudaError_t keys(const lab::Request& r, void* d_temp, std::size_t& temp_bytes) {
  return with_key(r, [&]<typename Key>(Key) { return sort_keys<Key>(r, d_temp, temp_bytes); });
}
cudaError_t pairs(const lab::Request& r, void* d_temp, std::size_t& temp_bytes) {
  return with_key(r, [&]<typename Key>(Key) { return sort_pairs<Key>(r, d_temp, temp_bytes); });
}

constexpr lab::Peer kPeers[] = {
    {"CUB DeviceRadixSort keys", "cub::DeviceRadixSort::SortKeys or SortKeysDescending, 32-bit offsets",
     keys_only, keys},
    {"CUB DeviceRadixSort pairs", "cub::DeviceRadixSort::SortPairs or SortPairsDescending, 32-bit offsets",
     pairs_too, pairs}};

}  // namespace

lab::Peers peers() {
  return {kPeers, CUB_VERSION};
}

}  // namespace course::radix_sort
