// SPDX-License-Identifier: MIT
// Calls of every kind, tables of pointers and functions, and every way in which nvcc writes initial values.
struct __attribute__((packed)) Packed {
  char tag;
  int* where;
  double value;
};
struct Pair {
  int first;
  double second;
};

__constant__ int primes[5] = {2, 3, 5, 7, -11};
__device__ int target[16];
__device__ Packed packed = {'p', target + 5, -2.5};
__device__ int* pointers[3] = {target, target + 1, nullptr};
__device__ unsigned long long all_ones = ~0ull;
__managed__ int managed = 7;

__device__ __noinline__ int twice(int x) {
  return 2 * x;
}
__device__ __noinline__ int thrice(int x) {
  return 3 * x;
}
typedef int (*Function)(int);
__device__ Function functions[2] = {twice, thrice};

__device__ __noinline__ int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
__device__ __noinline__ Pair swap_sign(Pair p) {
  return {-p.first, -p.second};
}

__global__ void calls(int* out, int which, Pair pair) {
  int lane;
  asm volatile("{ .reg .u32 t; mov.u32 t, %%laneid; add.u32 %0, t, 1; }" : "=r"(lane));
  const Pair swapped = swap_sign(pair);
  out[0] = functions[which & 1](which) + fibonacci(primes[which]) + lane;
  out[1] = swapped.first + static_cast<int>(swapped.second) + *pointers[which] + packed.tag + *packed.where +
           managed;
#pragma unroll 1
  for (int i = 0; i < which; ++i) out[i] += static_cast<int>(all_ones);
}
