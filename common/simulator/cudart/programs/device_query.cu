// SPDX-License-Identifier: MIT
// The queries that programs make first: versions, properties, attributes, memory, occupancy of a kernel.
#include <cstring>

#include "check.hpp"

__global__ void kernel(float* p) {
  __shared__ float tile[256];
  tile[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  p[threadIdx.x] = tile[255 - threadIdx.x];
}

int main() {
  int driver = 0, version = 0, n = 0;
  CHECK(cudaDriverGetVersion(&driver));
  CHECK(cudaRuntimeGetVersion(&version));
  EXPECT(version / 1000 == CUDART_VERSION / 1000 && driver >= version);
  CHECK(cudaGetDeviceCount(&n));
  EXPECT(n >= 1);
  cudaDeviceProp p;
  CHECK(cudaGetDeviceProperties(&p, 0));
  EXPECT(std::strlen(p.name) > 3 && p.warpSize == 32 && p.major >= 7 && p.multiProcessorCount > 0);
  EXPECT(p.totalGlobalMem > size_t(1) << 30 && p.maxThreadsPerBlock == 1024 && p.sharedMemPerBlock == 49152);
  int value = 0;
  CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
  EXPECT(value == p.multiProcessorCount);
  size_t free = 0, total = 0;
  CHECK(cudaMemGetInfo(&free, &total));
  EXPECT(free > 0 && free <= total);

  cudaFuncAttributes f;
  CHECK(cudaFuncGetAttributes(&f, kernel));
  EXPECT(f.sharedSizeBytes == 1024 && f.numRegs > 0 && f.maxThreadsPerBlock == 1024);
  EXPECT(f.ptxVersion >= 70 && f.binaryVersion >= f.ptxVersion / 10 * 10);
  int blocks = 0, min_grid = 0, block = 0;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 256, 0));
  EXPECT(blocks == p.maxThreadsPerMultiProcessor / 256);
  CHECK(cudaOccupancyMaxPotentialBlockSize(&min_grid, &block, kernel));
  EXPECT(block >= 256 && block <= 1024 && min_grid >= p.multiProcessorCount);
  std::printf("ok on %s\n", p.name);
}
