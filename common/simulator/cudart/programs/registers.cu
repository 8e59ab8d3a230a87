// SPDX-License-Identifier: MIT
// Registers limit blocks: launches, attributes and occupancy follow from the number in the machine code.
#include "check.hpp"

constexpr int kValues = 120;

// Each thread keeps so many values that a block of 1024 threads has too few registers for them.
__global__ void many_values(const float* values, float* sums, int n) {
  float own[kValues];
#pragma unroll
  for (int k = 0; k < kValues; ++k) own[k] = values[k * 64 + threadIdx.x % 64];
  for (int round = 0; round < n; ++round) {
#pragma unroll
    for (int k = 0; k < kValues; ++k) own[k] = own[k] * own[(k + 1) % kValues] + own[(k + 7) % kValues];
  }
  float sum = 0;
#pragma unroll
  for (int k = 0; k < kValues; ++k) sum += own[k] * float(k + 1);
  sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void few_values(float* out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}

// Blocks of this size on a multiprocessor, as far as registers and threads limit them: each of the four
// partitions holds whole warps, whose registers come in units of 256.
int expected_blocks(int registers, int threads) {
  const int warps = (threads + 31) / 32, per_warp = (registers * 32 + 255) / 256 * 256;
  const int by_registers = 65536 / 4 / per_warp * 4 / warps, by_threads = 64 / warps;
  return by_registers < by_threads ? by_registers : by_threads < 32 ? by_threads : 32;
}

template <typename Kernel>
int registers_of(Kernel kernel) {
  cudaFuncAttributes attributes;
  CHECK(cudaFuncGetAttributes(&attributes, kernel));
  EXPECT(attributes.maxThreadsPerBlock >= 32 && attributes.maxThreadsPerBlock % 32 == 0);
  EXPECT(expected_blocks(attributes.numRegs, attributes.maxThreadsPerBlock) > 0);
  EXPECT(attributes.maxThreadsPerBlock == 1024 ||
         expected_blocks(attributes.numRegs, attributes.maxThreadsPerBlock + 128) == 0);
  for (const int threads : {32, 96, 256, 512, 960, 1024}) {
    int blocks = -1;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, 0));
    EXPECT(blocks == expected_blocks(attributes.numRegs, threads));
  }
  return attributes.numRegs;
}

int main() {
  float *values = nullptr, *sums = nullptr;
  CHECK(cudaMalloc(&values, kValues * 64 * sizeof(float)));
  CHECK(cudaMalloc(&sums, 1024 * sizeof(float)));
  CHECK(cudaMemset(values, 0, kValues * 64 * sizeof(float)));
  EXPECT(registers_of(few_values) <= 32);
  EXPECT(registers_of(many_values) > 64);
  many_values<<<1, 1024>>>(values, sums, 3);
  EXPECT(cudaGetLastError() == cudaErrorLaunchOutOfResources);
  int grid = 0, block = 0;
  CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, many_values));
  EXPECT(block > 0 && block <= 512);
  many_values<<<1, block>>>(values, sums, 3);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaFree(values));
  CHECK(cudaFree(sums));
  std::puts("ok");
}
