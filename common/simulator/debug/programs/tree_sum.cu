// SPDX-License-Identifier: MIT
// A template kernel with shared memory, several blocks, and calls: the program of debugger_test.py's session.
#include <cstdio>

struct Pair {
  int first;
  float second[3];
};

template <typename T>
__device__ __noinline__ T twice(T x) {
  T y = x + x;
  return y;
}

__device__ int factorial(int n) {
  if (n <= 1) return 1;
  const int rest = factorial(n - 1);
  return n * rest;
}

__device__ int table[64];

template <typename T>
__global__ void sum(const T* in, T* out, int n) {
  __shared__ T s_data[64];
  const int tid = threadIdx.x;
  Pair p;
  p.first = tid;
  p.second[1] = 2.5f * tid;
  s_data[tid] = in[blockIdx.x * blockDim.x + tid];
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s /= 2) {
    if (tid < s) {
      T other = s_data[tid + s];
      s_data[tid] += other;
    }
    __syncthreads();
  }
  if (tid == 0)
    out[blockIdx.x] = twice(s_data[0]) + factorial(4) + static_cast<int>(p.second[1]) + n;
  else if (blockIdx.x == 0)
    table[tid] = p.first;
}

int main() {
  int host[128], *d_in, *d_out;
  for (int i = 0; i < 128; ++i) host[i] = i;
  cudaMalloc(&d_in, sizeof host);
  cudaMalloc(&d_out, 2 * sizeof(int));
  cudaMemcpy(d_in, host, sizeof host, cudaMemcpyHostToDevice);
  sum<<<2, 64>>>(d_in, d_out, 128);
  cudaMemcpy(host, d_out, 2 * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d %d\n", host[0], host[1]);
  cudaFree(d_in);
  cudaFree(d_out);
}
