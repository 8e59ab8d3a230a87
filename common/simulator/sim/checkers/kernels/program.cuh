// SPDX-License-Identifier: MIT
// For files of test kernels that are programs, too, so that readers of the handouts can run the kernels:
//   ./lab sanitize common/simulator/sim/checkers/kernels/errata.cu 1
#pragma once

#include "kernels.cuh"

#include <cstdio>
#include <cstdlib>

struct Example {
  int number;
  void (*kernel)(const int*, int*, int*, unsigned*, int);
  unsigned grid, block;
  int n;
};

static int run(const Example& example) {
  int *in = nullptr, *out = nullptr, *scratch = nullptr;
  unsigned* counter = nullptr;
  const std::size_t n_bytes = static_cast<std::size_t>(example.n) * sizeof(int);
  int* items = static_cast<int*>(std::malloc(n_bytes));
  for (int k = 0; k < example.n; ++k) items[k] = k * 7 % 101;
  cudaMalloc(&in, n_bytes);
  cudaMalloc(&out, n_bytes);
  cudaMalloc(&scratch, n_bytes);
  cudaMalloc(&counter, 64 * sizeof(unsigned));
  cudaMemcpy(in, items, n_bytes, cudaMemcpyHostToDevice);
  cudaMemset(out, 0, n_bytes);
  cudaMemset(counter, 0, 64 * sizeof(unsigned));
  example.kernel<<<example.grid, example.block>>>(in, out, scratch, counter, example.n);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("kernel %d: %s\n", example.number, cudaGetErrorString(error));
  std::free(items);
  for (void* memory : {static_cast<void*>(in), static_cast<void*>(out), static_cast<void*>(scratch),
                       static_cast<void*>(counter)})
    cudaFree(memory);
  return error == cudaSuccess ? 0 : 1;
}

// Runs the example whose number is the program's only argument.
template <std::size_t N>
int run_one(const Example (&examples)[N], int argc, char** argv) {
  const int wanted = argc == 2 ? std::atoi(argv[1]) : 0;
  for (const Example& example : examples)
    if (example.number == wanted) return run(example);
  std::fprintf(stderr, "usage: give the number of a kernel:");
  for (const Example& example : examples) std::fprintf(stderr, " %d", example.number);
  std::fprintf(stderr, "\n");
  return 2;
}
