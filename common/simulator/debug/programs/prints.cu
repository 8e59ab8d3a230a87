// SPDX-License-Identifier: MIT
// Two launches whose threads print, and host code that prints in between.
#include <cstdio>

__global__ void greet(int round) {
  if (threadIdx.x % 2 == 0) {
    printf("round %d\n", round);
    round += 10;
  }
  __syncthreads();
  if (threadIdx.x == 3) printf("last of %d\n", round);
}

int main() {
  for (int round = 0; round < 2; ++round) {
    greet<<<1, 4>>>(round);
    cudaDeviceSynchronize();
    std::printf("host %d\n", round);
  }
}
