// SPDX-License-Identifier: MIT
// Declarations shared by separate.cu and separate_part.cu.
#pragma once

extern __device__ int counter;
extern __constant__ int table[4];
__device__ int twice(int x);
__device__ int cube(int x);

// Both files have a copy; the linker keeps one.
template <typename T>
__device__ __noinline__ T shared_template(T x) {
  return 7 * x;
}

void launch_in_other_file(int* d_out);
