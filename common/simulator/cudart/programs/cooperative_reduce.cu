// SPDX-License-Identifier: MIT
// Cooperative groups: tiles, coalesced groups, a grid-wide barrier in a cooperative launch.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <vector>

#include "check.hpp"
namespace cg = cooperative_groups;

__global__ void reduce_twice(const int* in, int n, int* partial, int* total) {
  __shared__ int warp_sums[32];
  cg::grid_group grid = cg::this_grid();
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);

  int sum = 0;
  for (unsigned i = grid.thread_rank(); i < unsigned(n); i += grid.size()) sum += in[i];
  sum = cg::reduce(warp, sum, cg::plus<int>());
  if (warp.thread_rank() == 0) warp_sums[warp.meta_group_rank()] = sum;
  block.sync();
  if (warp.meta_group_rank() == 0) {
    sum = warp.thread_rank() < warp.meta_group_size() ? warp_sums[warp.thread_rank()] : 0;
    sum = cg::reduce(warp, sum, cg::plus<int>());
    if (warp.thread_rank() == 0) partial[blockIdx.x] = sum;
  }
  grid.sync();  // every partial sum is written before one is read
  if (grid.thread_rank() == 0) {
    int all = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) all += partial[b];
    *total = all;
  }
}

// The lanes of a warp that have an odd item count them with one atomic operation.
__global__ void count_odd(const int* in, int n, int* count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && (in[i] & 1) != 0) {
    cg::coalesced_group active = cg::coalesced_threads();
    if (active.thread_rank() == 0) atomicAdd(count, int(active.size()));
  }
}

__global__ void tile_shuffle(int* out) {
  cg::thread_block_tile<8> tile = cg::tiled_partition<8>(cg::this_thread_block());
  out[threadIdx.x] = tile.shfl_down(int(threadIdx.x), 3) * 100 + tile.shfl_xor(int(tile.thread_rank()), 1);
}

// Tiles of several warps synchronise through memory reserved by the system, on older chips through memory of
// the program.
__global__ void wide_tiles(int* out) {
  __shared__ cg::block_tile_memory<256> memory;
  __shared__ int touched[256];
  const auto block = cg::this_thread_block(memory);
  const auto tile = cg::tiled_partition<64>(block);
  touched[threadIdx.x] = threadIdx.x;
  tile.sync();
  const int neighbour = touched[(threadIdx.x + 32) % 64 + threadIdx.x / 64 * 64];
  out[threadIdx.x] = cg::reduce(tile, neighbour, cg::plus<int>()) + 1000 * tile.any(threadIdx.x == 70);
}

int main() {
  const int n = 50000;
  std::vector<int> h_in(n);
  int expected = 0, odd = 0;
  for (int i = 0; i < n; ++i) {
    h_in[i] = (i * 7919) % 1000 - 300;
    expected += h_in[i];
    odd += h_in[i] & 1;
  }
  int *in, *partial, *total, *count, *out;
  CHECK(cudaMalloc(&in, n * sizeof(int)));
  CHECK(cudaMalloc(&partial, 64 * sizeof(int)));
  CHECK(cudaMalloc(&total, sizeof(int)));
  CHECK(cudaMalloc(&count, sizeof(int)));
  CHECK(cudaMalloc(&out, 64 * sizeof(int)));
  CHECK(cudaMemcpy(in, h_in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaMemset(count, 0, sizeof(int)));

  int supported = 0, per_sm = 0, device = 0, n_sm = 0;
  CHECK(cudaGetDevice(&device));
  CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrCooperativeLaunch, device));
  CHECK(cudaDeviceGetAttribute(&n_sm, cudaDevAttrMultiProcessorCount, device));
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, reduce_twice, 256, 0));
  EXPECT(supported == 1 && per_sm > 0);
  int n_arg = n;
  void* arguments[] = {&in, &n_arg, &partial, &total};
  CHECK(cudaLaunchCooperativeKernel((const void*)reduce_twice, dim3(16), dim3(256), arguments, 0, nullptr));
  int result = 0;
  CHECK(cudaMemcpy(&result, total, sizeof(int), cudaMemcpyDeviceToHost));
  EXPECT(result == expected);
  EXPECT(cudaLaunchCooperativeKernel((const void*)reduce_twice, dim3(unsigned(per_sm * n_sm + 1)), dim3(256),
                                     arguments, 0, nullptr) == cudaErrorCooperativeLaunchTooLarge);
  EXPECT(cudaGetLastError() == cudaErrorCooperativeLaunchTooLarge);

  count_odd<<<(n + 127) / 128, 128>>>(in, n, count);
  CHECK(cudaMemcpy(&result, count, sizeof(int), cudaMemcpyDeviceToHost));
  EXPECT(result == odd);

  tile_shuffle<<<1, 64>>>(out);
  int h_out[64];
  CHECK(cudaMemcpy(h_out, out, sizeof h_out, cudaMemcpyDeviceToHost));
  for (int t = 0; t < 64; ++t) {
    const int down = t % 8 + 3 < 8 ? t + 3 : t;
    EXPECT(h_out[t] == down * 100 + (t % 8 ^ 1));
  }

  int* wide;
  CHECK(cudaMalloc(&wide, 256 * sizeof(int)));
  wide_tiles<<<1, 256>>>(wide);
  int h_wide[256];
  CHECK(cudaMemcpy(h_wide, wide, sizeof h_wide, cudaMemcpyDeviceToHost));
  for (int t = 0; t < 256; ++t) {
    const int first = t / 64 * 64;
    EXPECT(h_wide[t] == 64 * first + 63 * 32 + (t / 64 == 1 ? 1000 : 0));
  }
  std::puts("ok");
}
