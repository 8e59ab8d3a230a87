// SPDX-License-Identifier: MIT
// Clusters: blocks that read and modify each other's shared memory, with a cluster size known to the compiler
// or chosen at the launch. On devices below sm_90, which have no clusters, the program does nothing.
#include <cooperative_groups.h>

#include "check.hpp"

namespace {

namespace cg = cooperative_groups;
constexpr unsigned kThreads = 64, kBlocks = 12, kClusterSize = 4;

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define OF_FOUR __cluster_dims__(kClusterSize, 1, 1)
#else
#define OF_FOUR
#endif

__global__ void OF_FOUR read_next(unsigned* out) {
#if __CUDA_ARCH__ >= 900
  __shared__ unsigned s_own[kThreads];
  const cg::cluster_group cluster = cg::this_cluster();
  s_own[threadIdx.x] = 1000 * blockIdx.x + threadIdx.x;
  cluster.sync();
  const unsigned* next = cluster.map_shared_rank(s_own, (cluster.block_rank() + 1) % cluster.num_blocks());
  out[blockIdx.x * kThreads + threadIdx.x] = next[threadIdx.x];
  cluster.sync();  // no block ends while others still read its shared memory
#endif
}

__global__ void count_threads(unsigned* out) {
#if __CUDA_ARCH__ >= 900
  __shared__ unsigned s_count;
  const cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) s_count = 0;
  cluster.sync();
  atomicAdd(cluster.map_shared_rank(&s_count, 0), 1u);
  cluster.sync();
  if (cluster.block_rank() == 0 && threadIdx.x == 0) out[blockIdx.x / cluster.num_blocks()] = s_count;
#endif
}

}  // namespace

int main() {
  cudaDeviceProp device{};
  CHECK(cudaGetDeviceProperties(&device, 0));
  if (device.major < 9) return 0;
  unsigned* d_out = nullptr;
  CHECK(cudaMalloc(&d_out, kBlocks * kThreads * sizeof(unsigned)));
  read_next<<<kBlocks, kThreads>>>(d_out);
  CHECK(cudaGetLastError());
  unsigned out[kBlocks * kThreads];
  CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
  for (unsigned block = 0; block < kBlocks; ++block) {
    const unsigned next = block / kClusterSize * kClusterSize + (block + 1) % kClusterSize;
    for (unsigned i = 0; i < kThreads; ++i) EXPECT(out[block * kThreads + i] == 1000 * next + i);
  }

  cudaLaunchConfig_t config{};
  config.gridDim = kBlocks;
  config.blockDim = kThreads;
  cudaLaunchAttribute size{};
  size.id = cudaLaunchAttributeClusterDimension;
  size.val.clusterDim.x = 2;
  size.val.clusterDim.y = size.val.clusterDim.z = 1;
  config.attrs = &size;
  config.numAttrs = 1;
  CHECK(cudaLaunchKernelEx(&config, count_threads, d_out));
  CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
  for (unsigned cluster = 0; cluster < kBlocks / 2; ++cluster) EXPECT(out[cluster] == 2 * kThreads);
  CHECK(cudaFree(d_out));
  return 0;
}
