// SPDX-License-Identifier: MIT
// Compiled to fat binaries for fatbin_test.cpp: kernels with different numbers of registers.
extern "C" __global__ void sample_kernel(int* out) {
  out[threadIdx.x] = static_cast<int>(threadIdx.x);
}

template <int n>
__device__ void reverse(float* data) {
  float held[n];
#pragma unroll
  for (int i = 0; i < n; ++i) held[i] = data[threadIdx.x + i * 1024];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < n; ++i) data[threadIdx.x + i * 1024] = held[i] * held[n - 1 - i];
}
extern "C" __global__ void sample_hungry_kernel(float* data) {
  reverse<48>(data);
}
// Holds more values at a time than a thread may have registers.
extern "C" __global__ void __launch_bounds__(1024, 2) sample_spilling_kernel(float* data) {
  reverse<96>(data);
}
