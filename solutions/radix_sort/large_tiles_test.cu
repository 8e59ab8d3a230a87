// SPDX-License-Identifier: MIT
// Tests rung 8's large tiles, which state_of_the_art takes for arrays that are too long for the simulator,
// with all their rows (one multiprocessor) and with fewer.
#include <algorithm>
#include <cstdio>
#include <numeric>
#include <vector>

#include "radix_sort.cu"

namespace course::radix_sort {
namespace {

using Value = std::uint32_t;

template <typename T>
T* copy_of(const std::vector<T>& items) {
  T* d = nullptr;
  cudaMalloc(&d, items.size() * sizeof(T));
  cudaMemcpy(d, items.data(), items.size() * sizeof(T), cudaMemcpyHostToDevice);
  return d;
}

template <typename T>
std::vector<T> host_copy_of(const T* d, std::uint64_t n) {
  std::vector<T> items(n);
  cudaMemcpy(items.data(), d, n * sizeof(T), cudaMemcpyDeviceToHost);
  return items;
}

template <typename Key>
bool is_right(std::uint64_t n, bool descending, int multiprocessors) {
  std::vector<Key> keys(n);
  for (std::uint64_t i = 0; i < n; ++i)
    keys[i] = static_cast<Key>(i / 2 * 0x9e3779b97f4a7c15u);  // each twice
  std::vector<Value> places(n);
  std::iota(places.begin(), places.end(), 0);
  Job<Key, Value> job;
  job.n = n;
  job.descending = descending;
  job.multiprocessors = multiprocessors;
  const Key* d_keys = copy_of(keys);
  const Value* d_values = copy_of(places);
  job.in.d_keys = d_keys;
  job.in.d_values = d_values;
  job.spare.d_keys = copy_of(keys);
  job.spare.d_values = copy_of(places);
  job.out.d_keys = copy_of(keys);
  job.out.d_values = copy_of(places);
  job.d_counts = copy_of(std::vector<std::uint32_t>(counts_count(n)));
  if (sort_by_sweeps<true>(job) != Status::ok || cudaDeviceSynchronize() != cudaSuccess) return false;

  std::stable_sort(places.begin(), places.end(),
                   [&](Value a, Value b) { return descending ? keys[a] > keys[b] : keys[a] < keys[b]; });
  const std::vector<Key> sorted = host_copy_of(job.out.d_keys, n);
  bool right = host_copy_of(job.out.d_values, n) == places;
  for (std::uint64_t i = 0; i < n; ++i) right = right && sorted[i] == keys[places[i]];
  return right;
}

template <typename Key>
int wrong_ones() {
  constexpr std::uint64_t kTile = kShape<Key, Value, true>.tile();
  int n_wrong = 0;
  for (const std::uint64_t n : {kTile, 3 * kTile + 17, kTile - 1}) {
    for (const bool descending : {false, true}) {
      const bool right = is_right<Key>(n, descending, 1) && is_right<Key>(n, descending, 4);
      std::printf("%llu pairs, keys of %zu bytes%s: %s\n", static_cast<unsigned long long>(n), sizeof(Key),
                  descending ? ", descending" : "", right ? "right" : "WRONG");
      n_wrong += !right;
    }
  }
  return n_wrong;
}

}  // namespace
}  // namespace course::radix_sort

int main() {
  using namespace course::radix_sort;
  return wrong_ones<std::uint32_t>() + wrong_ones<std::uint64_t>();
}
