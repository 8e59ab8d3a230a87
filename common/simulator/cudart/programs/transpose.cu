// SPDX-License-Identifier: MIT
// Transposes with 2D grids and blocks: naive, tiled, padded, with dynamic shared memory above 48 KiB; pitched
// memory.
#include <vector>

#include "check.hpp"

constexpr int kTile = 32, kRows = 8;

__global__ void naive(const float* in, float* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) out[x * height + y] = in[y * width + x];
}

template <int kPad>
__global__ void tiled(const float* in, float* out, int width, int height) {
  __shared__ float tile[kTile][kTile + kPad];
  int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += kRows) {
    if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
  }
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += kRows) {
    if (x < height && y + j < width) out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
  }
}

extern __shared__ double whole[];
__global__ void one_block(const double* in, double* out, int n, size_t pitch) {
  for (int i = threadIdx.x; i < n * n; i += blockDim.x) whole[i] = in[i / n * pitch / sizeof(double) + i % n];
  __syncthreads();
  for (int i = threadIdx.x; i < n * n; i += blockDim.x) out[i] = whole[i % n * n + i / n];
}

int main() {
  const int width = 100, height = 67;
  std::vector<float> in(width * height), out(width * height);
  for (int i = 0; i < width * height; ++i) in[i] = float(i);
  float *d_in, *d_out;
  CHECK(cudaMalloc(&d_in, in.size() * sizeof(float)));
  CHECK(cudaMalloc(&d_out, in.size() * sizeof(float)));
  CHECK(cudaMemcpy(d_in, in.data(), in.size() * sizeof(float), cudaMemcpyHostToDevice));
  for (int which = 0; which < 3; ++which) {
    CHECK(cudaMemset(d_out, 0xff, in.size() * sizeof(float)));
    const dim3 grid((width + kTile - 1) / kTile, (height + kTile - 1) / kTile);
    if (which == 0)
      naive<<<dim3((width + 15) / 16, (height + 15) / 16), dim3(16, 16)>>>(d_in, d_out, width, height);
    if (which == 1) tiled<0><<<grid, dim3(kTile, kRows)>>>(d_in, d_out, width, height);
    if (which == 2) tiled<1><<<grid, dim3(kTile, kRows)>>>(d_in, d_out, width, height);
    CHECK(cudaMemcpy(out.data(), d_out, out.size() * sizeof(float), cudaMemcpyDeviceToHost));
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) EXPECT(out[x * height + y] == in[y * width + x]);
    }
  }

  const int n = 96;
  const size_t shared = n * n * sizeof(double);  // 72 KiB
  std::vector<double> square(n * n), turned(n * n);
  for (int i = 0; i < n * n; ++i) square[i] = i * 0.5;
  double *d_square, *d_turned;
  size_t pitch = 0;
  CHECK(cudaMallocPitch(&d_square, &pitch, n * sizeof(double), n));
  CHECK(cudaMalloc(&d_turned, shared));
  CHECK(cudaMemcpy2D(d_square, pitch, square.data(), n * sizeof(double), n * sizeof(double), n,
                     cudaMemcpyHostToDevice));
  one_block<<<1, 256, shared>>>(d_square, d_turned, n, pitch);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
  CHECK(cudaFuncSetAttribute(one_block, cudaFuncAttributeMaxDynamicSharedMemorySize, int(shared)));
  one_block<<<1, 256, shared>>>(d_square, d_turned, n, pitch);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(turned.data(), d_turned, shared, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n * n; ++i) EXPECT(turned[i] == square[i % n * n + i / n]);
  std::puts("ok");
}
