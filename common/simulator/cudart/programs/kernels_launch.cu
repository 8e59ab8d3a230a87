// SPDX-License-Identifier: MIT
// Kernels that launch kernels: a tree of launches, arguments of several types, shared memory, and the stream
// of tail launches. Linked from relocatable device code.
#include <cuda_runtime.h>

#include "check.hpp"

namespace {

constexpr int kDepth = 6, kNodes = (1 << (kDepth + 1)) - 1, kThreads = 64;

// Node k of the tree launches nodes 2k + 1 and 2k + 2.
__global__ void node(int* depth_of, int k, int depth) {
  depth_of[k] = depth;
  if (depth == kDepth) return;
  node<<<1, 1>>>(depth_of, 2 * k + 1, depth + 1);
  node<<<1, 1, 0, cudaStreamFireAndForget>>>(depth_of, 2 * k + 2, depth + 1);
}

__global__ void fill(double factor, int* out, char offset) {
  extern __shared__ int s_values[];
  s_values[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncthreads();
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = static_cast<int>(factor * s_values[blockDim.x - 1 - threadIdx.x]) + static_cast<int>(blockIdx.x) +
           offset;
}
__global__ void add_one(int* out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}
// The tail launch runs last, although it comes first here.
__global__ void parent(int* out) {
  if (threadIdx.x != 0) return;
  add_one<<<2, kThreads, 0, cudaStreamTailLaunch>>>(out);
  fill<<<2, kThreads, kThreads * sizeof(int)>>>(2.0, out, 5);
}

}  // namespace

int main() {
  int* d_out = nullptr;
  int out[2 * kNodes];
  CHECK(cudaMalloc(&d_out, sizeof out));
  CHECK(cudaMemset(d_out, 0xff, sizeof out));
  node<<<1, 1>>>(d_out, 0, 0);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(out, d_out, kNodes * sizeof(int), cudaMemcpyDeviceToHost));
  for (int k = 0, depth = 0; k < kNodes; ++k) {
    if (k + 1 == 1 << (depth + 1)) ++depth;
    EXPECT(out[k] == depth);
  }
  parent<<<1, 32>>>(d_out);
  CHECK(cudaMemcpy(out, d_out, 2 * kThreads * sizeof(int), cudaMemcpyDeviceToHost));
  for (int i = 0; i < 2 * kThreads; ++i)
    EXPECT(out[i] == 2 * (kThreads - 1 - i % kThreads) + i / kThreads + 5 + 1);
  CHECK(cudaFree(d_out));
  return 0;
}
