// SPDX-License-Identifier: MIT
// Device code compiled in two files and linked: one file uses functions, variables, constants and templates
// of the other, and each has names of its own.
#include "check.hpp"
#include "separate.hpp"

namespace {

__device__ int hidden = 1;  // the other file has one as well
__device__ int own(int x) {
  return x + hidden;
}

__global__ void use_the_other(int* out) {
  const int i = static_cast<int>(threadIdx.x);
  int (*function)(int) = i % 2 == 0 ? twice : cube;
  out[i] = function(i) + table[i % 4] + own(i) + shared_template(i);
  atomicAdd(&counter, 1);
}

}  // namespace

int main() {
  constexpr int kThreads = 64;
  int* d_out = nullptr;
  CHECK(cudaMalloc(&d_out, kThreads * sizeof(int)));
  use_the_other<<<1, kThreads>>>(d_out);
  CHECK(cudaGetLastError());
  int out[kThreads];
  CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
  for (int i = 0; i < kThreads; ++i) {
    const int called = i % 2 == 0 ? 2 * i : i * i * i;
    EXPECT(out[i] == called + 10 * (i % 4) + i + 1 + 7 * i);
  }
  launch_in_other_file(d_out);
  CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
  EXPECT(out[0] == 100 + kThreads + 2 + 21);
  CHECK(cudaFree(d_out));
  return 0;
}
