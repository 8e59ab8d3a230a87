// SPDX-License-Identifier: MIT
// A race in shared memory, then an access past the end of an array.
#include <cstdio>

__global__ void shift(const int* in, int* out, int n) {
  __shared__ int s_data[64];
  const int tid = threadIdx.x;
  s_data[tid] = in[tid];
  const int neighbour = s_data[(tid + 1) % 64];  // a __syncthreads() is missing before this line
  out[tid + n] = neighbour;
}

int main() {
  int *in, *out;
  cudaMalloc(&in, 64 * sizeof(int));
  cudaMalloc(&out, 64 * sizeof(int));
  cudaMemset(in, 0, 64 * sizeof(int));
  shift<<<1, 64>>>(in, out, 1);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
