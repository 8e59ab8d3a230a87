// SPDX-License-Identifier: MIT
// Vector addition with a grid-stride loop, with sizes that do not fill the last block.
#include "check.hpp"

__global__ void add(const float* a, const float* b, float* c, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) c[i] = a[i] + b[i];
}

int main() {
  for (int n : {1, 31, 32, 33, 1000, 100003}) {
    float *a, *b, *c;
    CHECK(cudaMallocManaged(&a, n * sizeof(float)));
    CHECK(cudaMallocManaged(&b, n * sizeof(float)));
    CHECK(cudaMallocManaged(&c, n * sizeof(float)));
    for (int i = 0; i < n; ++i) {
      a[i] = i * 0.5f;
      b[i] = 1.0f - i;
    }
#if CUDART_VERSION >= 13000
    CHECK(cudaMemPrefetchAsync(a, n * sizeof(float), cudaMemLocation{cudaMemLocationTypeDevice, 0}, 0,
                               nullptr));
#else
    CHECK(cudaMemPrefetchAsync(a, n * sizeof(float), 0, nullptr));
#endif
    add<<<7, 96>>>(a, b, c, n);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < n; ++i) EXPECT(c[i] == a[i] + b[i]);
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaFree(c));
  }
  std::puts("ok");
}
