// SPDX-License-Identifier: MIT
// CUB's algorithms for blocks and warps: scans and reductions in each variant, radix sort, exchange, load and
// store.
#include <algorithm>
#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>

#include "cub.hpp"

namespace {

constexpr int kThreads = 128, kItems = 5, kTile = kThreads * kItems, kBlocks = 7;

template <cub::BlockScanAlgorithm kAlgorithm>
__global__ void scan(const int* in, int* out, int* totals) {
  using Load = cub::BlockLoad<int, kThreads, kItems, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
  using Scan = cub::BlockScan<int, kThreads, kAlgorithm>;
  using Store = cub::BlockStore<int, kThreads, kItems, cub::BLOCK_STORE_TRANSPOSE>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Scan::TempStorage scan;
    typename Store::TempStorage store;
  } s_temporary;
  int items[kItems], total;
  Load(s_temporary.load).Load(in + blockIdx.x * kTile, items);
  __syncthreads();
  Scan(s_temporary.scan).ExclusiveSum(items, items, total);
  __syncthreads();
  Store(s_temporary.store).Store(out + blockIdx.x * kTile, items);
  if (threadIdx.x == 0) totals[blockIdx.x] = total;
}

template <cub::BlockReduceAlgorithm kAlgorithm>
__global__ void reduce(const int* in, int* out) {
  using Reduce = cub::BlockReduce<int, kThreads, kAlgorithm>;
  __shared__ typename Reduce::TempStorage s_temporary;
  int items[kItems];
  for (int k = 0; k < kItems; ++k) items[k] = in[blockIdx.x * kTile + threadIdx.x * kItems + k];
  const int sum = Reduce(s_temporary).Sum(items);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

__global__ void sort(const int* in, int* out) {
  using Sort = cub::BlockRadixSort<int, kThreads, kItems>;
  __shared__ typename Sort::TempStorage s_temporary;
  int items[kItems];
  for (int k = 0; k < kItems; ++k) items[k] = in[blockIdx.x * kTile + threadIdx.x * kItems + k];
  Sort(s_temporary).SortBlockedToStriped(items);
  for (int k = 0; k < kItems; ++k) out[blockIdx.x * kTile + k * kThreads + threadIdx.x] = items[k];
}

struct Larger {
  __device__ int operator()(int a, int b) const { return a < b ? b : a; }
};

// Logical warps of 8 lanes.
__global__ void warps(const int* in, int* sums, int* mosts) {
  using Scan = cub::WarpScan<int, 8>;
  using Reduce = cub::WarpReduce<int, 8>;
  __shared__ typename Scan::TempStorage s_scan[kThreads / 8];
  __shared__ typename Reduce::TempStorage s_reduce[kThreads / 8];
  const int k = static_cast<int>(blockIdx.x * kThreads + threadIdx.x),
            warp = static_cast<int>(threadIdx.x) / 8;
  int sum;
  Scan(s_scan[warp]).InclusiveSum(in[k], sum);
  sums[k] = sum;
  const int most = Reduce(s_reduce[warp]).Reduce(in[k], Larger{});
  if (threadIdx.x % 8 == 0) mosts[k / 8] = most;
}

template <cub::BlockScanAlgorithm kAlgorithm>
void check_scan(const std::vector<int>& values) {
  const Array<int> d_in(values), d_out(values.size()), d_totals(kBlocks);
  scan<kAlgorithm><<<kBlocks, kThreads>>>(d_in.get(), d_out.get(), d_totals.get());
  CHECK(cudaDeviceSynchronize());
  const auto out = d_out.values(), totals = d_totals.values();
  for (int b = 0; b < kBlocks; ++b) {
    int sum = 0;
    for (int k = b * kTile; k < (b + 1) * kTile; ++k) {
      EXPECT(out[k] == sum);
      sum += values[k];
    }
    EXPECT(totals[b] == sum);
  }
}

template <cub::BlockReduceAlgorithm kAlgorithm>
void check_reduce(const std::vector<int>& values) {
  const Array<int> d_in(values), d_out(kBlocks);
  reduce<kAlgorithm><<<kBlocks, kThreads>>>(d_in.get(), d_out.get());
  CHECK(cudaDeviceSynchronize());
  const auto out = d_out.values();
  for (int b = 0; b < kBlocks; ++b) {
    int sum = 0;
    for (int k = b * kTile; k < (b + 1) * kTile; ++k) sum += values[k];
    EXPECT(out[b] == sum);
  }
}

}  // namespace

int main() {
  const auto values =
      made<int>(kBlocks * kTile, 1, [](Numbers& r) { return static_cast<int>(r.below(20001)) - 10000; });
  check_scan<cub::BLOCK_SCAN_RAKING>(values);
  check_scan<cub::BLOCK_SCAN_RAKING_MEMOIZE>(values);
  check_scan<cub::BLOCK_SCAN_WARP_SCANS>(values);
  check_reduce<cub::BLOCK_REDUCE_RAKING>(values);
  check_reduce<cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY>(values);
  check_reduce<cub::BLOCK_REDUCE_WARP_REDUCTIONS>(values);

  const Array<int> d_in(values), d_out(values.size()), d_mosts(values.size() / 8);
  sort<<<kBlocks, kThreads>>>(d_in.get(), d_out.get());
  CHECK(cudaDeviceSynchronize());
  std::vector<int> sorted = values;
  for (int b = 0; b < kBlocks; ++b) std::sort(sorted.begin() + b * kTile, sorted.begin() + (b + 1) * kTile);
  EXPECT(d_out.values() == sorted);

  warps<<<kBlocks * kItems, kThreads>>>(d_in.get(), d_out.get(), d_mosts.get());
  CHECK(cudaDeviceSynchronize());
  const auto sums = d_out.values(), mosts = d_mosts.values();
  for (std::size_t k = 0; k < values.size(); ++k) {
    EXPECT(sums[k] == values[k] + (k % 8 == 0 ? 0 : sums[k - 1]));
    if (k % 8 == 0) EXPECT(mosts[k / 8] == *std::max_element(values.begin() + k, values.begin() + k + 8));
  }
}
