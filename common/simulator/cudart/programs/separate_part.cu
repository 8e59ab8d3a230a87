// SPDX-License-Identifier: MIT
#include "separate.hpp"

__device__ int counter = 100;
__constant__ int table[4] = {0, 10, 20, 30};

namespace {

__device__ int hidden = 2;

__global__ void read(int* out) {
  *out = counter + hidden + shared_template(3);
}

}  // namespace

__device__ __noinline__ int twice(int x) {
  return 2 * x;
}
__device__ __noinline__ int cube(int x) {
  return x * x * x;
}

void launch_in_other_file(int* d_out) {
  read<<<1, 1>>>(d_out);
}
