// SPDX-License-Identifier: MIT
// Lanes that take different ways, recursion to different depths, a loop on one line, a switch.
#include <cstdio>

__device__ int fibonacci(int n) {
  if (n < 2) return n;
  const int left = fibonacci(n - 1);
  const int right = fibonacci(n - 2);
  return left + right;
}

__global__ void diverge(int* out) {
  const int lane = threadIdx.x;
  int value = 0;
  for (int i = 0; i < lane % 4; ++i) value += i;
  switch (lane % 3) {
    case 0: value += 100; break;
    case 1: value += fibonacci(lane % 5); break;
    default:
      if (lane > 16) {
        value = -value;
      } else {
        value += 7;
      }
  }
  out[lane] = value;
  out[lane] = value | 0;  // the same value again
}

int main() {
  int host[48], *d_out;
  cudaMalloc(&d_out, sizeof host);
  diverge<<<1, 48>>>(d_out);
  cudaMemcpy(host, d_out, sizeof host, cudaMemcpyDeviceToHost);
  int total = 0;
  for (int v : host) total += v;
  std::printf("%d\n", total);
  cudaFree(d_out);
}
