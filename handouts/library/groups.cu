// SPDX-License-Identifier: MIT
// The job of a warp by a call: cooperative_groups::reduce and inclusive_scan, __reduce_add_sync, and CUB's
// block-wide scan. Run it with
//   ./lab sanitize handouts/library/groups.cu
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <cub/block/block_scan.cuh>

#include "check.cuh"

namespace cg = cooperative_groups;

constexpr int kBlock = 128;

// --- a warp
// One sum per warp of 32 items, computed in two ways, and the inclusive scan of the items.
__global__ void warp_calls(const int* d_in, int* d_reduced, int* d_instruction, int* d_scanned) {
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const int value = d_in[i];
  const int sum = cg::reduce(warp, value, cg::plus<int>());
  const int same = __reduce_add_sync(0xffffffffu, value);  // one instruction, for integers, from sm_80 on
  d_scanned[i] = cg::inclusive_scan(warp, value);
  if (warp.thread_rank() == 0) {
    d_reduced[i / 32] = sum;
    d_instruction[i / 32] = same;
  }
}

// --- a block
// The exclusive scan of the items of each block, and the block's total.
__global__ void block_calls(const int* d_in, int* d_out, int* d_totals) {
  using BlockScan = cub::BlockScan<int, kBlock>;
  __shared__ BlockScan::TempStorage s_temp;
  const unsigned i = blockIdx.x * kBlock + threadIdx.x;
  int before = 0, total = 0;
  BlockScan(s_temp).ExclusiveSum(d_in[i], before, total);
  d_out[i] = before;
  if (threadIdx.x == 0) d_totals[blockIdx.x] = total;
}

// --- end
int main() {
  constexpr int kItems = 2 * kBlock;
  std::vector<int> items(kItems);
  for (int i = 0; i < kItems; ++i) items[i] = i % 7;

  const DeviceArray<int> in(items), reduced(kItems / 32), instruction(kItems / 32), scanned(kItems);
  warp_calls<<<2, kBlock>>>(in.data(), reduced.data(), instruction.data(), scanned.data());
  CHECK(cudaDeviceSynchronize());
  std::vector<int> sums(kItems / 32), prefixes(kItems);
  for (int i = 0; i < kItems; ++i) {
    sums[i / 32] += items[i];
    prefixes[i] = sums[i / 32];
  }
  expect(reduced.on_host() == sums, "cooperative_groups::reduce");
  expect(instruction.on_host() == sums, "__reduce_add_sync");
  expect(scanned.on_host() == prefixes, "cooperative_groups::inclusive_scan");

  const DeviceArray<int> out(kItems), totals(2);
  block_calls<<<2, kBlock>>>(in.data(), out.data(), totals.data());
  CHECK(cudaDeviceSynchronize());
  std::vector<int> before(kItems), of_block(2);
  for (int i = 0; i < kItems; ++i) {
    before[i] = of_block[i / kBlock];
    of_block[i / kBlock] += items[i];
  }
  expect(out.on_host() == before, "cub::BlockScan");
  expect(totals.on_host() == of_block, "its totals");
}
