// SPDX-License-Identifier: MIT
// The labs' jobs by CUB. Every function of the device layer is called twice: with a null pointer it only says
// how many bytes of temporary memory it needs. It works in a stream and does not wait. Run it with
//   ./lab sanitize handouts/library/cub_calls.cu
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <algorithm>
#include <cstdint>
#include <cub/cub.cuh>
#include <numeric>

#include "check.cuh"

constexpr int kItems = 10'000, kRow = 100, kBins = 16;

// Calls a function of CUB for the size of its temporary memory, and then with this memory.
template <typename Call>
void with_temporary_memory(const Call& call) {
  std::size_t n_bytes = 0;
  CHECK(call(nullptr, n_bytes));
  const DeviceArray<char> temporary(n_bytes);
  CHECK(call(static_cast<void*>(temporary.data()), n_bytes));
  CHECK(cudaDeviceSynchronize());  // the memory may be freed only when the work is done
}

// --- reduction
void reduce(const int* d_in, int* d_sum, cudaStream_t stream) {
  with_temporary_memory([&](void* d_temp, std::size_t& n_bytes) {
    return cub::DeviceReduce::Sum(d_temp, n_bytes, d_in, d_sum, kItems, stream);
  });
}

// --- scan of rows
// The row of an item is its key: the scan begins again where the key changes.
struct RowOf {
  __host__ __device__ int operator()(int i) const { return i / kRow; }
};
void scan_rows(const int* d_in, int* d_out, cudaStream_t stream) {
  const auto keys = thrust::make_transform_iterator(thrust::counting_iterator<int>(0), RowOf{});
  with_temporary_memory([&](void* d_temp, std::size_t& n_bytes) {
    return cub::DeviceScan::InclusiveSumByKey(d_temp, n_bytes, keys, d_in, d_out, kItems,
                                              cuda::std::equal_to<>{}, stream);
  });
}

// --- hierarchical scan
void scan(const int* d_in, int* d_out, cudaStream_t stream) {
  with_temporary_memory([&](void* d_temp, std::size_t& n_bytes) {
    return cub::DeviceScan::ExclusiveSum(d_temp, n_bytes, d_in, d_out, kItems, stream);
  });
}

// --- compaction
struct IsOdd {
  __host__ __device__ bool operator()(int x) const { return x % 2 != 0; }
};
void compact(const int* d_in, int* d_out, int* d_count, cudaStream_t stream) {
  with_temporary_memory([&](void* d_temp, std::size_t& n_bytes) {
    return cub::DeviceSelect::If(d_temp, n_bytes, d_in, d_out, d_count, kItems, IsOdd{}, stream);
  });
}

// --- radix sort
void sort_pairs(const int* d_keys, int* d_sorted, const int* d_values, int* d_moved, cudaStream_t stream) {
  with_temporary_memory([&](void* d_temp, std::size_t& n_bytes) {
    return cub::DeviceRadixSort::SortPairs(d_temp, n_bytes, d_keys, d_sorted, d_values, d_moved, kItems, 0,
                                           32, stream);
  });
}

// --- histogram
// 16 bins of equal width over [0, 256). A level is an edge of a bin, so there is one more than bins.
void count(const int* d_in, int* d_counts, cudaStream_t stream) {
  with_temporary_memory([&](void* d_temp, std::size_t& n_bytes) {
    return cub::DeviceHistogram::HistogramEven(d_temp, n_bytes, d_in, d_counts, kBins + 1, 0, 256, kItems,
                                               stream);
  });
}

// --- end
int main() {
  std::vector<int> items(kItems), positions(kItems);
  std::uint32_t state = 1;
  for (int& item : items) item = static_cast<int>((state = state * 1664525u + 1013904223u) >> 24);
  std::iota(positions.begin(), positions.end(), 0);
  const DeviceArray<int> in(items), out(kItems), one(1), counts(kBins), values(positions), moved(kItems);

  reduce(in.data(), one.data(), nullptr);
  expect(one.on_host()[0] == std::accumulate(items.begin(), items.end(), 0), "cub::DeviceReduce::Sum");

  std::vector<int> wanted(kItems);
  for (int row = 0; row < kItems; row += kRow)
    std::partial_sum(items.begin() + row, items.begin() + row + kRow, wanted.begin() + row);
  scan_rows(in.data(), out.data(), nullptr);
  expect(out.on_host() == wanted, "cub::DeviceScan::InclusiveSumByKey");

  std::exclusive_scan(items.begin(), items.end(), wanted.begin(), 0);
  scan(in.data(), out.data(), nullptr);
  expect(out.on_host() == wanted, "cub::DeviceScan::ExclusiveSum");

  std::vector<int> kept;
  std::copy_if(items.begin(), items.end(), std::back_inserter(kept), IsOdd{});
  compact(in.data(), out.data(), one.data(), nullptr);
  std::vector<int> found = out.on_host();
  found.resize(static_cast<std::size_t>(one.on_host()[0]));
  expect(found == kept, "cub::DeviceSelect::If");

  std::vector<int> order = positions;
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return items[a] < items[b]; });
  sort_pairs(in.data(), out.data(), values.data(), moved.data(), nullptr);
  expect(moved.on_host() == order, "cub::DeviceRadixSort::SortPairs");

  std::vector<int> bins(kBins);
  for (const int item : items) ++bins[item / 16];
  count(in.data(), counts.data(), nullptr);
  expect(counts.on_host() == bins, "cub::DeviceHistogram::HistogramEven");
}
