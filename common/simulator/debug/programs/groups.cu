// SPDX-License-Identifier: MIT
// Cooperative groups: tiles of a warp, and a barrier of the whole grid.
#include <cooperative_groups.h>
#include <cstdio>

namespace cg = cooperative_groups;

__global__ void grid_sum(const int* in, int* partial, int* out) {
  const cg::grid_group grid = cg::this_grid();
  const cg::thread_block block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<16>(block);
  int value = in[grid.thread_rank()];
  for (int distance = 8; distance > 0; distance /= 2) value += tile.shfl_down(value, distance);
  if (tile.thread_rank() == 0) partial[grid.thread_rank() / 16] = value;
  grid.sync();
  if (grid.thread_rank() == 0) {
    int total = 0;
    for (int i = 0; i < 8; ++i) total += partial[i];
    *out = total;
  }
}

int main() {
  int host[128], *in, *partial, *out;
  for (int i = 0; i < 128; ++i) host[i] = i;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&partial, 8 * sizeof(int));
  cudaMalloc(&out, sizeof(int));
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  void* arguments[] = {&in, &partial, &out};
  cudaLaunchCooperativeKernel(reinterpret_cast<void*>(grid_sum), dim3(4), dim3(32), arguments, 0, nullptr);
  cudaMemcpy(host, out, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", host[0]);
}
