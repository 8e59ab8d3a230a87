// SPDX-License-Identifier: MIT
// Blocks that wait for each other: each adds its sum to that of the block before it.
#include <cstdio>

__global__ void chained(const int* in, volatile int* prefix, volatile int* ready, int* out) {
  __shared__ int s_before;
  const int block = blockIdx.x, tid = threadIdx.x;
  const int own = __reduce_add_sync(~0u, in[block * 32 + tid]);
  if (tid == 0) {
    int before = 0;
    if (block > 0) {
      while (ready[block - 1] == 0) continue;
      __threadfence();
      before = prefix[block - 1];
    }
    prefix[block] = before + own;
    __threadfence();
    ready[block] = 1;
    s_before = before;
  }
  __syncthreads();
  out[block * 32 + tid] = s_before + own;
}

int main() {
  int host[256], *in, *prefix, *ready, *out;
  for (int i = 0; i < 256; ++i) host[i] = i % 7;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMalloc(&prefix, 8 * sizeof(int));
  cudaMalloc(&ready, 8 * sizeof(int));
  cudaMemset(ready, 0, 8 * sizeof(int));
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  chained<<<8, 32>>>(in, prefix, ready, out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  std::printf("%d\n", host[255]);
}
