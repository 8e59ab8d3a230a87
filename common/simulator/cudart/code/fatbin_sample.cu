// SPDX-License-Identifier: MIT
// Compiled to fat binaries for fatbin_test.cpp: two kernels with different numbers of registers.
extern "C" __global__ void sample_kernel(int* out) {
  out[threadIdx.x] = static_cast<int>(threadIdx.x);
}

extern "C" __global__ void sample_hungry_kernel(float* data) {
  float held[48];
#pragma unroll
  for (int i = 0; i < 48; ++i) held[i] = data[threadIdx.x + i * 1024];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 48; ++i) data[threadIdx.x + i * 1024] = held[i] * held[47 - i];
}
