// SPDX-License-Identifier: MIT
// Two dimensions, shared memory and barriers: transposes, stencils, matrix products, block scans, sorting.
#include "foreign.hpp"

namespace course::foreign {
namespace {

constexpr unsigned kTile = 32, kRows = 8;

// kHow 0: copy; 1: writes with a stride; 2: through shared memory with conflicts; 3: padded; 4: padded, tiles
// in diagonal order; 5: reads with a stride
template <int kHow>
__global__ void transpose(const float* in, float* out, unsigned width) {
  __shared__ float s[kTile][kTile + (kHow >= 3)];
  unsigned bx = blockIdx.x, by = blockIdx.y;
  if (kHow == 4) {
    by = blockIdx.x;
    bx = (blockIdx.x + blockIdx.y) % gridDim.x;
  }
  const unsigned x = bx * kTile + threadIdx.x, y = by * kTile + threadIdx.y;
  if constexpr (kHow <= 1 || kHow == 5) {
    for (unsigned j = 0; j < kTile; j += kRows) {
      const unsigned row = (y + j) * width + x, column = x * width + y + j;
      out[kHow == 1 ? column : row] = in[kHow == 5 ? column : row];
    }
  } else {
    for (unsigned j = 0; j < kTile; j += kRows) s[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
    __syncthreads();
    const unsigned tx = by * kTile + threadIdx.x, ty = bx * kTile + threadIdx.y;
    for (unsigned j = 0; j < kTile; j += kRows) out[(ty + j) * width + tx] = s[threadIdx.x][threadIdx.y + j];
  }
}

__global__ void stencil_1d(const float* in, float* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 3 || i + 3 >= n) return;
  float sum = 0;
  for (int k = -3; k <= 3; ++k) sum += in[i + k];
  out[i] = sum;
}

__global__ void stencil_1d_shared(const float* in, float* out, unsigned n) {
  __shared__ float s[256 + 6];
  const unsigned i = blockIdx.x * 256 + threadIdx.x, t = threadIdx.x;
  s[t + 3] = in[i];
  if (t < 3) {
    s[t] = i >= 3 ? in[i - 3] : 0;
    s[t + 259] = i + 256 < n ? in[i + 256] : 0;
  }
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 7; ++k) sum += s[t + k];
  out[i] = sum;
}

__global__ void stencil_2d(const float* in, float* out, unsigned width, unsigned height) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x == 0 || y == 0 || x + 1 >= width || y + 1 >= height) return;
  const unsigned i = y * width + x;
  out[i] = 0.5f * in[i] + 0.125f * (in[i - 1] + in[i + 1] + in[i - width] + in[i + width]);
}

__global__ void stencil_3d(const float* in, float* out, unsigned width) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x == 0 || y == 0 || x + 1 >= width || y + 1 >= width) return;
  const unsigned plane = width * width;
  unsigned i = plane + y * width + x;
  float below = in[i - plane], here = in[i];
  for (unsigned z = 1; z + 1 < 64; ++z, i += plane) {
    const float above = in[i + plane];
    out[i] = here + 0.1f * (below + above + in[i - 1] + in[i + 1] + in[i - width] + in[i + width]);
    below = here;
    here = above;
  }
}

__global__ void convolve_rows(const float* in, float* out, unsigned width) {
  __shared__ float s[8][32 + 16];
  const unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  s[threadIdx.y][threadIdx.x + 8] = in[y * width + x];
  if (threadIdx.x < 8) {
    s[threadIdx.y][threadIdx.x] = x >= 8 ? in[y * width + x - 8] : 0;
    s[threadIdx.y][threadIdx.x + 40] = x + 32 < width ? in[y * width + x + 32] : 0;
  }
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 17; ++k) sum += s[threadIdx.y][threadIdx.x + k] * (0.01f * k);
  out[y * width + x] = sum;
}

__global__ void multiply_naive(const float* a, const float* b, float* c, unsigned n) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0;
  for (unsigned k = 0; k < n; ++k) sum += a[y * n + k] * b[k * n + x];
  c[y * n + x] = sum;
}

template <unsigned kSide>
__global__ void multiply_tiled(const float* a, const float* b, float* c, unsigned n) {
  __shared__ float s_a[kSide][kSide], s_b[kSide][kSide];
  const unsigned tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * kSide + tx, y = blockIdx.y * kSide + ty;
  float sum = 0;
  for (unsigned t = 0; t < n; t += kSide) {
    s_a[ty][tx] = a[y * n + t + tx];
    s_b[ty][tx] = b[(t + ty) * n + x];
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < kSide; ++k) sum += s_a[ty][k] * s_b[k][tx];
    __syncthreads();
  }
  c[y * n + x] = sum;
}

// Each thread computes four rows of its column.
__global__ void multiply_registers(const float* a, const float* b, float* c, unsigned n) {
  __shared__ float s_a[32][32], s_b[32][32];
  const unsigned tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 32 + tx, y = blockIdx.y * 32 + ty * 4;
  float sum[4] = {};
  for (unsigned t = 0; t < n; t += 32) {
#pragma unroll
    for (unsigned j = 0; j < 4; ++j) {
      s_a[ty * 4 + j][tx] = a[(y + j) * n + t + tx];
      s_b[ty * 4 + j][tx] = b[(t + ty * 4 + j) * n + x];
    }
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < 32; ++k) {
      const float v = s_b[k][tx];
#pragma unroll
      for (unsigned j = 0; j < 4; ++j) sum[j] += s_a[ty * 4 + j][k] * v;
    }
    __syncthreads();
  }
#pragma unroll
  for (unsigned j = 0; j < 4; ++j) c[(y + j) * n + x] = sum[j];
}

__global__ void block_scan(const int* in, int* out) {  // Hillis and Steele
  __shared__ int s[2][512];
  const unsigned t = threadIdx.x, i = blockIdx.x * 512 + t;
  int from = 0;
  s[0][t] = in[i];
  __syncthreads();
  for (unsigned d = 1; d < 512; d *= 2) {
    s[1 - from][t] = s[from][t] + (t >= d ? s[from][t - d] : 0);
    from = 1 - from;
    __syncthreads();
  }
  out[i] = s[from][t];
}

__global__ void warp_scan(const int* in, int* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  int v = in[i];
#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    const int other = __shfl_up_sync(~0u, v, d);
    if (lane >= d) v += other;
  }
  out[i] = v;
}

__global__ void bitonic(const int* in, int* out) {
  __shared__ int s[1024];
  const unsigned t = threadIdx.x, base = blockIdx.x * 1024;
  s[t] = in[base + t];
  s[t + 512] = in[base + t + 512];
  for (unsigned size = 2; size <= 1024; size *= 2)
    for (unsigned d = size / 2; d > 0; d /= 2) {
      __syncthreads();
      const unsigned at = 2 * t - (t & (d - 1));
      const bool up = (t & (size / 2)) == 0;
      const int x = s[at], y = s[at + d];
      if ((x > y) == up) {
        s[at] = y;
        s[at + d] = x;
      }
    }
  __syncthreads();
  out[base + t] = s[t];
  out[base + t + 512] = s[t + 512];
}

// Lanes at a distance of kStride words.
template <unsigned kStride>
__global__ void conflicts(float* out, unsigned rounds) {
  __shared__ float s[32 * 32 + 256];
  const unsigned t = threadIdx.x;
  for (unsigned k = t; k < 32 * 32 + 256; k += blockDim.x) s[k] = static_cast<float>(k);
  __syncthreads();
  float sum = 0;
  unsigned at = t % 32 * kStride;
  for (unsigned k = 0; k < rounds; ++k) {
    sum += s[at] + s[at + 32] + s[at + 64] + s[at + 96];
    at ^= 1;
  }
  out[blockIdx.x * blockDim.x + t] = sum;
}

__global__ void barriers(float* out, unsigned rounds) {
  __shared__ float s[1024];
  const unsigned t = threadIdx.x;
  s[t] = static_cast<float>(t);
  for (unsigned k = 0; k < rounds; ++k) {
    __syncthreads();
    const float v = s[(t + 1) % blockDim.x];
    __syncthreads();
    s[t] = v + 1;
  }
  out[blockIdx.x * blockDim.x + t] = s[t];
}

}  // namespace

void add_tiles(const Memory& m, std::vector<Case>& cases) {
  const auto add = [&](const std::string& name, std::function<void()> run) {
    cases.push_back({name, std::move(run), {}});
  };
  const dim3 threads(kTile, kRows), grid(64, 64), square16(16, 16), square32(32, 32);
  add("transpose: copy", [=] { transpose<0><<<grid, threads>>>(m.a, m.c, 2048); });
  add("transpose: strided writes", [=] { transpose<1><<<grid, threads>>>(m.a, m.c, 2048); });
  add("transpose: strided reads", [=] { transpose<5><<<grid, threads>>>(m.a, m.c, 2048); });
  add("transpose: conflicts", [=] { transpose<2><<<grid, threads>>>(m.a, m.c, 2048); });
  add("transpose: padded", [=] { transpose<3><<<grid, threads>>>(m.a, m.c, 2048); });
  add("transpose: diagonal", [=] { transpose<4><<<grid, threads>>>(m.a, m.c, 2048); });
  add("transpose: padded, 4096", [=] { transpose<3><<<dim3(128, 128), threads>>>(m.a, m.c, 4096); });
  const unsigned n = 1u << 22;
  add("stencil 1D", [=] { stencil_1d<<<n / 256, 256>>>(m.a, m.c, n); });
  add("stencil 1D, shared", [=] { stencil_1d_shared<<<n / 256, 256>>>(m.a, m.c, n); });
  add("stencil 2D", [=] { stencil_2d<<<dim3(64, 256), dim3(32, 8)>>>(m.a, m.c, 2048, 2048); });
  add("stencil 2D, 16 x 16", [=] { stencil_2d<<<dim3(128, 128), square16>>>(m.a, m.c, 2048, 2048); });
  add("stencil 3D", [=] { stencil_3d<<<dim3(8, 32), dim3(32, 8)>>>(m.a, m.c, 256); });
  add("convolution of rows", [=] { convolve_rows<<<dim3(64, 256), dim3(32, 8)>>>(m.a, m.c, 2048); });
  add("matrix product, naive", [=] { multiply_naive<<<dim3(32, 32), square16>>>(m.a, m.b, m.c, 512); });
  add("matrix product, naive, 32 x 32",
      [=] { multiply_naive<<<dim3(16, 16), square32>>>(m.a, m.b, m.c, 512); });
  add("matrix product, tiles of 16",
      [=] { multiply_tiled<16><<<dim3(32, 32), square16>>>(m.a, m.b, m.c, 512); });
  add("matrix product, tiles of 32",
      [=] { multiply_tiled<32><<<dim3(32, 32), square32>>>(m.a, m.b, m.c, 1024); });
  add("matrix product, registers",
      [=] { multiply_registers<<<dim3(32, 32), dim3(32, 8)>>>(m.a, m.b, m.c, 1024); });
  add("block scan", [=] { block_scan<<<8192, 512>>>(m.ints, m.out); });
  add("warp scan", [=] { warp_scan<<<16384, 256>>>(m.ints, m.out); });
  add("bitonic sort in shared memory", [=] { bitonic<<<1024, 512>>>(m.ints, m.out); });
  add("shared stride 1", [=] { conflicts<1><<<528, 256>>>(m.c, 64); });
  add("shared stride 2", [=] { conflicts<2><<<528, 256>>>(m.c, 64); });
  add("shared stride 8", [=] { conflicts<8><<<528, 256>>>(m.c, 64); });
  add("shared stride 32", [=] { conflicts<32><<<528, 256>>>(m.c, 64); });
  add("barriers, 1024 threads", [=] { barriers<<<264, 1024>>>(m.c, 64); });
  add("barriers, 128 threads", [=] { barriers<<<1056, 128>>>(m.c, 64); });
}

}  // namespace course::foreign
