// SPDX-License-Identifier: MIT
// Estimates pi with one linear congruential generator per thread: 64-bit integer arithmetic, doubles, warp
// shuffles, one atomic per warp.
#include <cmath>

#include "check.hpp"

__host__ __device__ unsigned next(unsigned long long& state) {
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return unsigned(state >> 33);
}

__host__ __device__ int hits_of(unsigned stream, int samples) {
  unsigned long long state = (unsigned long long)stream * 0x9E3779B97F4A7C15ull + 12345;
  int hits = 0;
  for (int i = 0; i < samples; ++i) {
    const double x = next(state) * (1.0 / 2147483648.0);
    const double y = next(state) * (1.0 / 2147483648.0);
    hits += x * x + y * y <= 1.0;
  }
  return hits;
}

__global__ void estimate(int samples, unsigned long long* total) {
  int hits = hits_of(blockIdx.x * blockDim.x + threadIdx.x, samples);
  for (int offset = 16; offset > 0; offset /= 2) hits += __shfl_down_sync(0xffffffffu, hits, offset);
  if (threadIdx.x % 32 == 0) atomicAdd(total, (unsigned long long)hits);
}

int main() {
  const int blocks = 16, threads = 128, samples = 200;
  unsigned long long *d_total, total = 0, expected = 0;
  CHECK(cudaMalloc(&d_total, sizeof total));
  CHECK(cudaMemset(d_total, 0, sizeof total));
  estimate<<<blocks, threads>>>(samples, d_total);
  CHECK(cudaMemcpy(&total, d_total, sizeof total, cudaMemcpyDeviceToHost));
  for (unsigned t = 0; t < unsigned(blocks * threads); ++t)
    expected += (unsigned long long)hits_of(t, samples);
  EXPECT(total == expected);
  EXPECT(std::abs(4.0 * double(total) / (double(blocks) * threads * samples) - 3.14159) < 0.02);
  std::puts("ok");
}
