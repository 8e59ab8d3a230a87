// SPDX-License-Identifier: MIT
// __constant__, __device__ and __managed__ variables: initialisers, symbol copies, indexing that differs by
// lane.
#include "check.hpp"

struct Settings {
  int width;
  float weights[3];
  char name[8];
};

__constant__ float filter[5] = {1, 4, 6, 4, 1};
__constant__ Settings settings;
__device__ int counters[4] = {10, 20, 30, 40};
__device__ double scale = 0.5;
__device__ const char* const words[] = {"zero", "one", "two"};
__managed__ int shared_counter = 100;

__global__ void convolve(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int k = -2; k <= 2; ++k) {
    const int j = min(max(i + k, 0), n - 1);
    sum += filter[k + 2] * in[j];
  }
  out[i] = sum / 16;
}

__global__ void use_all(float* out, int* letters) {
  const int t = threadIdx.x;
  out[t] = settings.width * settings.weights[t % 3] * float(scale);  // lanes read different constants
  atomicAdd(&counters[t % 4], 1);
  atomicAdd(&shared_counter, 2);
  letters[t] = words[t % 3][t % 2] + settings.name[0];
}

int main() {
  const int n = 64;
  float h_in[n], h_out[n];
  for (int i = 0; i < n; ++i) h_in[i] = float(i);
  float *in, *out;
  int* letters;
  CHECK(cudaMalloc(&in, sizeof h_in));
  CHECK(cudaMalloc(&out, sizeof h_out));
  CHECK(cudaMalloc(&letters, n * sizeof(int)));
  CHECK(cudaMemcpy(in, h_in, sizeof h_in, cudaMemcpyHostToDevice));
  convolve<<<2, 32>>>(in, out, n);
  CHECK(cudaMemcpy(h_out, out, sizeof h_out, cudaMemcpyDeviceToHost));
  for (int i = 2; i < n - 2; ++i) EXPECT(h_out[i] == h_in[i]);
  EXPECT(h_out[0] == (4 * 1 + 2) / 16.0f);

  Settings s{3, {1, 2, 4}, "q"};
  CHECK(cudaMemcpyToSymbol(settings, &s, sizeof s));
  const double new_scale = 0.25;
  CHECK(cudaMemcpyToSymbol(scale, &new_scale, sizeof new_scale));
  const float centre = 8;
  CHECK(cudaMemcpyToSymbol(filter, &centre, sizeof centre, 2 * sizeof(float)));
  EXPECT(shared_counter == 100);
  shared_counter += 1;
  use_all<<<1, n>>>(out, letters);
  CHECK(cudaDeviceSynchronize());
  EXPECT(shared_counter == 101 + 2 * n);
  CHECK(cudaMemcpy(h_out, out, sizeof h_out, cudaMemcpyDeviceToHost));
  for (int t = 0; t < n; ++t) EXPECT(h_out[t] == 3 * s.weights[t % 3] * 0.25f);
  int h_counters[4], h_letters[n];
  CHECK(cudaMemcpyFromSymbol(h_counters, counters, sizeof h_counters));
  for (int k = 0; k < 4; ++k) EXPECT(h_counters[k] == 10 * (k + 1) + n / 4);
  CHECK(cudaMemcpy(h_letters, letters, sizeof h_letters, cudaMemcpyDeviceToHost));
  const char* const expected[] = {"zero", "one", "two"};
  for (int t = 0; t < n; ++t) EXPECT(h_letters[t] == expected[t % 3][t % 2] + 'q');

  float h_filter[5];
  size_t size = 0;
  void* address = nullptr;
  CHECK(cudaMemcpyFromSymbol(h_filter, filter, sizeof h_filter));
  EXPECT(h_filter[1] == 4 && h_filter[2] == 8);
  CHECK(cudaGetSymbolSize(&size, filter));
  EXPECT(size == sizeof h_filter);
  CHECK(cudaGetSymbolAddress(&address, counters));
  CHECK(cudaMemset(address, 0, sizeof h_counters));
  CHECK(cudaMemcpyFromSymbol(h_counters, counters, sizeof h_counters));
  EXPECT(h_counters[3] == 0);
  std::puts("ok");
}
