// SPDX-License-Identifier: MIT
// The blind set, first half: grids, matrices, rows of neural networks, transforms, in other precisions.
// Its predictions were stored before anything of it was measured.
#include <cuda_fp16.h>

#include "foreign.hpp"

namespace course::foreign {
namespace {

__constant__ float c_filter[17] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 8, 7, 6, 5, 4, 3, 2, 1};
__constant__ float4 c_atoms[512];

__device__ unsigned thread_number() {
  return blockIdx.x * blockDim.x + threadIdx.x;
}

// A block walks through z with a plane in shared memory and the neighbours above and below in registers.
__global__ void heat_3d(const float* in, float* out, int nx, int ny, int nz) {
  __shared__ float plane[10][34];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  const int size = nx * ny, at = y * nx + x, tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  float below = in[at], here = in[at + size];
  for (int z = 1; z < nz - 1; ++z) {
    const float above = in[at + (z + 1) * size];
    plane[ty][tx] = here;
    if (threadIdx.x == 0 && x > 0) plane[ty][0] = in[at + z * size - 1];
    if (threadIdx.x == 31 && x < nx - 1) plane[ty][33] = in[at + z * size + 1];
    if (threadIdx.y == 0 && y > 0) plane[0][tx] = in[at + z * size - nx];
    if (threadIdx.y == 7 && y < ny - 1) plane[9][tx] = in[at + z * size + nx];
    __syncthreads();
    if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1)
      out[at + z * size] = here + 0.1f * (plane[ty][tx - 1] + plane[ty][tx + 1] + plane[ty - 1][tx] +
                                          plane[ty + 1][tx] + above + below - 6 * here);
    __syncthreads();
    below = here;
    here = above;
  }
}

__global__ void blur_5x5(const float* in, float* out, int width, int height) {
  __shared__ float s[20][36];
  const int x0 = blockIdx.x * 32 - 2, y0 = blockIdx.y * 16 - 2;
  for (int k = threadIdx.y * 32 + threadIdx.x; k < 20 * 36; k += 512) {
    const int x = min(max(x0 + k % 36, 0), width - 1), y = min(max(y0 + k / 36, 0), height - 1);
    s[k / 36][k % 36] = in[y * width + x];
  }
  __syncthreads();
  float sum = 0;
  for (int j = 0; j < 5; ++j)
    for (int i = 0; i < 5; ++i) sum += s[threadIdx.y + j][threadIdx.x + i];
  out[(y0 + 2 + threadIdx.y) * width + x0 + 2 + threadIdx.x] = sum / 25;
}

__global__ void sobel(const unsigned char* in, unsigned char* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;
  const auto at = [&](int dx, int dy) { return static_cast<int>(in[(y + dy) * width + x + dx]); };
  const int gx = at(1, -1) + 2 * at(1, 0) + at(1, 1) - at(-1, -1) - 2 * at(-1, 0) - at(-1, 1);
  const int gy = at(-1, 1) + 2 * at(0, 1) + at(1, 1) - at(-1, -1) - 2 * at(0, -1) - at(1, -1);
  out[y * width + x] = static_cast<unsigned char>(min(255, abs(gx) + abs(gy)));
}

__global__ void convolve_columns(const float* in, float* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0;
#pragma unroll
  for (int k = -8; k <= 8; ++k)
    if (y + k >= 0 && y + k < height) sum += c_filter[k + 8] * in[(y + k) * width + x];
  out[y * width + x] = sum;
}

__global__ void gauss_seidel_red(float* grid, int width, int height) {
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const int x = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + y % 2;
  if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;
  float* at = grid + y * width + x;
  *at = 0.25f * (at[-1] + at[1] + at[-width] + at[width]);
}

__global__ void life(const unsigned char* in, unsigned char* out, int width) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const int left = (x + width - 1) % width, right = (x + 1) % width;
  const int up = (y + width - 1) % width, down = (y + 1) % width;
  const int n = in[up * width + left] + in[up * width + x] + in[up * width + right] + in[y * width + left] +
                in[y * width + right] + in[down * width + left] + in[down * width + x] +
                in[down * width + right];
  out[y * width + x] = n == 3 || (n == 2 && in[y * width + x] != 0);
}

// Tiles of 64 x 64 x 16, 4 x 4 results a thread.
__global__ void sgemm_64(const float* a, const float* b, float* c, int n) {
  __shared__ float sa[16][64], sb[16][64];
  const int t = threadIdx.x, tx = t % 16, ty = t / 16, row = blockIdx.y * 64, column = blockIdx.x * 64;
  float sum[4][4] = {};
  for (int k0 = 0; k0 < n; k0 += 16) {
    const float4 va = *reinterpret_cast<const float4*>(a + (row + t / 4) * n + k0 + t % 4 * 4);
    sa[t % 4 * 4 + 0][t / 4] = va.x;
    sa[t % 4 * 4 + 1][t / 4] = va.y;
    sa[t % 4 * 4 + 2][t / 4] = va.z;
    sa[t % 4 * 4 + 3][t / 4] = va.w;
    *reinterpret_cast<float4*>(&sb[t / 16][tx * 4]) =
        *reinterpret_cast<const float4*>(b + (k0 + t / 16) * n + column + tx * 4);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      const float4 x = *reinterpret_cast<const float4*>(&sa[k][ty * 4]);
      const float4 y = *reinterpret_cast<const float4*>(&sb[k][tx * 4]);
      const float xs[4] = {x.x, x.y, x.z, x.w}, ys[4] = {y.x, y.y, y.z, y.w};
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) sum[i][j] += xs[i] * ys[j];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j) c[(row + ty * 4 + i) * n + column + tx * 4 + j] = sum[i][j];
}

__global__ void dgemm_16(const double* a, const double* b, double* c, int n) {
  __shared__ double sa[16][16], sb[16][17];
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  double sum = 0;
  for (int k0 = 0; k0 < n; k0 += 16) {
    sa[threadIdx.y][threadIdx.x] = a[y * n + k0 + threadIdx.x];
    sb[threadIdx.y][threadIdx.x] = b[(k0 + threadIdx.y) * n + x];
    __syncthreads();
    for (int k = 0; k < 16; ++k) sum += sa[threadIdx.y][k] * sb[k][threadIdx.x];
    __syncthreads();
  }
  c[y * n + x] = sum;
}

__global__ void half2_polynomial(const __half2* in, __half2* out, unsigned n) {
  const unsigned i = thread_number();
  if (i >= n) return;
  const __half2 x = in[i];
  __half2 y = x;
#pragma unroll
  for (int k = 0; k < 12; ++k) y = __hfma2(y, x, __float2half2_rn(0.5f));
  out[i] = y;
}

// A warp for a row of bytes.
__global__ void int8_gemv(const int4* matrix, const int4* vector, int* out, unsigned vectors_per_row) {
  const unsigned row = thread_number() / 32, lane = threadIdx.x % 32;
  int sum = 0;
  for (unsigned k = lane; k < vectors_per_row; k += 32) {
    const int4 m = matrix[row * vectors_per_row + k], v = vector[k];
    sum = __dp4a(m.x, v.x, sum);
    sum = __dp4a(m.y, v.y, sum);
    sum = __dp4a(m.z, v.z, sum);
    sum = __dp4a(m.w, v.w, sum);
  }
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(~0u, sum, offset);
  if (lane == 0) out[row] = sum;
}

__device__ float block_sum(float x) {
  __shared__ float s[32];
  for (int offset = 16; offset > 0; offset /= 2) x += __shfl_xor_sync(~0u, x, offset);
  __syncthreads();
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = x;
  __syncthreads();
  x = threadIdx.x % 32 < blockDim.x / 32 ? s[threadIdx.x % 32] : 0.f;
  for (int offset = 16; offset > 0; offset /= 2) x += __shfl_xor_sync(~0u, x, offset);
  return x;
}

__global__ void layer_norm(const float* in, float* out, const float* gain, const float* bias, int n) {
  const float* row = in + static_cast<std::size_t>(blockIdx.x) * n;
  float sum = 0, squares = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += row[i];
  const float mean = block_sum(sum) / n;
  for (int i = threadIdx.x; i < n; i += blockDim.x) squares += (row[i] - mean) * (row[i] - mean);
  const float scale = rsqrtf(block_sum(squares) / n + 1e-5f);
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[static_cast<std::size_t>(blockIdx.x) * n + i] = (row[i] - mean) * scale * gain[i] + bias[i];
}

// A warp for a row of 768 items, which it keeps in registers.
__global__ void rms_norm_768(const float4* in, float4* out) {
  const unsigned row = thread_number() / 32, lane = threadIdx.x % 32;
  float4 x[6];
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 6; ++k) {
    x[k] = in[row * 192 + k * 32 + lane];
    sum += x[k].x * x[k].x + x[k].y * x[k].y + x[k].z * x[k].z + x[k].w * x[k].w;
  }
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(~0u, sum, offset);
  const float scale = rsqrtf(sum / 768 + 1e-6f);
#pragma unroll
  for (int k = 0; k < 6; ++k)
    out[row * 192 + k * 32 + lane] =
        make_float4(x[k].x * scale, x[k].y * scale, x[k].z * scale, x[k].w * scale);
}

// The largest value and the sum of exponentials in one pass.
__global__ void softmax_online(const float* in, float* out, int n) {
  const unsigned row = thread_number() / 32, lane = threadIdx.x % 32;
  float most = -1e30f, sum = 0;
  for (int i = lane; i < n; i += 32) {
    const float x = in[row * n + i], larger = fmaxf(most, x);
    sum = sum * __expf(most - larger) + __expf(x - larger);
    most = larger;
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    const float other = __shfl_xor_sync(~0u, most, offset), its = __shfl_xor_sync(~0u, sum, offset);
    const float larger = fmaxf(most, other);
    sum = sum * __expf(most - larger) + its * __expf(other - larger);
    most = larger;
  }
  for (int i = lane; i < n; i += 32) out[row * n + i] = __expf(in[row * n + i] - most) / sum;
}

__global__ void gelu(const float4* in, float4* out, unsigned n) {
  const unsigned i = thread_number();
  if (i >= n) return;
  const auto f = [](float x) { return 0.5f * x * (1 + tanhf(0.7978845608f * (x + 0.044715f * x * x * x))); };
  const float4 x = in[i];
  out[i] = make_float4(f(x.x), f(x.y), f(x.z), f(x.w));
}

__global__ void adam(float* weights, const float* gradients, float* means, float* squares, unsigned n) {
  const unsigned i = thread_number();
  if (i >= n) return;
  const float g = gradients[i];
  const float m = 0.9f * means[i] + 0.1f * g, v = 0.999f * squares[i] + 0.001f * g * g;
  means[i] = m;
  squares[i] = v;
  weights[i] -= 1e-3f * (m / 0.19f) / (sqrtf(v / 0.002f) + 1e-8f);
}

// Every thread reads the same atom at the same time, from constant memory.
__global__ void coulomb(float* out, unsigned width, unsigned n_atoms) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0;
  for (unsigned k = 0; k < n_atoms; ++k) {
    const float4 atom = c_atoms[k];
    const float dx = static_cast<float>(x) - atom.x, dy = static_cast<float>(y) - atom.y;
    sum += atom.w * rsqrtf(dx * dx + dy * dy + atom.z * atom.z + 1);
  }
  out[y * width + x] = sum;
}

__global__ void double_black_scholes(const double* price, const double* strike, double* call, unsigned n) {
  const unsigned i = thread_number();
  if (i >= n) return;
  const double s = price[i] + 1, k = strike[i] + 1, root = 0.3;
  const double d1 = (log(s / k) + 0.06) / root, d2 = d1 - root;
  call[i] = s * normcdf(d1) - k * exp(-0.02) * normcdf(d2);
}

// 1024 points a block, radix 2, in place.
__global__ void fft_1024(const float2* in, float2* out) {
  __shared__ float2 s[1024];
  const unsigned t = threadIdx.x;
  for (unsigned k = t; k < 1024; k += 512) s[__brev(k) >> 22] = in[blockIdx.x * 1024 + k];
  for (unsigned half = 1; half < 1024; half *= 2) {
    __syncthreads();
    const unsigned low = t / half * 2 * half + t % half;
    float sine = 0, cosine = 0;
    __sincosf(-3.14159265f * static_cast<float>(t % half) / static_cast<float>(half), &sine, &cosine);
    const float2 a = s[low], b = s[low + half];
    const float2 w = make_float2(b.x * cosine - b.y * sine, b.x * sine + b.y * cosine);
    s[low] = make_float2(a.x + w.x, a.y + w.y);
    s[low + half] = make_float2(a.x - w.x, a.y - w.y);
  }
  __syncthreads();
  for (unsigned k = t; k < 1024; k += 512) out[blockIdx.x * 1024 + k] = s[k];
}

__global__ void floyd_warshall_step(float* distances, int n, int k) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const float over = distances[y * n + k] + distances[k * n + x];
  if (over < distances[y * n + x]) distances[y * n + x] = over;
}

// The nearest of 16 centres, and sums for the next ones in shared memory.
__global__ void k_means_step(const float2* points, const float2* centres, float* sums, unsigned n) {
  __shared__ float s[3 * 16];
  if (threadIdx.x < 48) s[threadIdx.x] = 0;
  __syncthreads();
  for (unsigned i = thread_number(); i < n; i += gridDim.x * blockDim.x) {
    const float2 p = points[i];
    unsigned best = 0;
    float least = 1e30f;
    for (unsigned k = 0; k < 16; ++k) {
      const float dx = p.x - centres[k].x, dy = p.y - centres[k].y, d = dx * dx + dy * dy;
      if (d < least) least = d, best = k;
    }
    atomicAdd(&s[3 * best], p.x);
    atomicAdd(&s[3 * best + 1], p.y);
    atomicAdd(&s[3 * best + 2], 1.f);
  }
  __syncthreads();
  if (threadIdx.x < 48) atomicAdd(&sums[threadIdx.x], s[threadIdx.x]);
}

// 16 entries a row, stored by columns.
__global__ void ell_product(const float* values, const int* columns, const float* x, float* y, unsigned n) {
  const unsigned row = thread_number();
  if (row >= n) return;
  float sum = 0;
  for (unsigned k = 0; k < 16; ++k) sum += values[k * n + row] * x[columns[k * n + row] % n];
  y[row] = sum;
}

}  // namespace

void add_numerics(const Memory& m, std::vector<Case>& cases) {
  const auto add = [&](const char* name, std::function<void()> run) {
    cases.push_back({name, std::move(run), {}});
  };
  const auto bytes = [](void* d) { return static_cast<unsigned char*>(d); };
  const auto doubles = [](float* d) { return reinterpret_cast<double*>(d); };
  const auto fours = [](float* d) { return reinterpret_cast<float4*>(d); };
  const dim3 block(32, 8), grid(64, 256);
  const unsigned n = 1u << 22;
  add("heat 3D", [=] { heat_3d<<<dim3(8, 32), block>>>(m.a, m.c, 256, 256, 64); });
  add("blur 5 x 5", [=] { blur_5x5<<<dim3(64, 128), dim3(32, 16)>>>(m.a, m.c, 2048, 2048); });
  add("Sobel of bytes", [=] { sobel<<<dim3(128, 512), block>>>(bytes(m.ints), bytes(m.out), 4096, 4096); });
  add("convolution of columns", [=] { convolve_columns<<<grid, block>>>(m.a, m.c, 2048, 2048); });
  add("red Gauss-Seidel", [=] { gauss_seidel_red<<<dim3(32, 256), block>>>(m.c, 2048, 2048); });
  add("life", [=] { life<<<dim3(128, 512), block>>>(bytes(m.ints), bytes(m.out), 4096); });
  add("sgemm, tiles of 64", [=] { sgemm_64<<<dim3(16, 16), 256>>>(m.a, m.b, m.c, 1024); });
  add("dgemm, tiles of 16",
      [=] { dgemm_16<<<dim3(32, 32), dim3(16, 16)>>>(doubles(m.a), doubles(m.b), doubles(m.c), 512); });
  add("polynomial of half2", [=] {
    half2_polynomial<<<n / 256, 256>>>(reinterpret_cast<const __half2*>(m.a), reinterpret_cast<__half2*>(m.c),
                                       n);
  });
  add("gemv of int8", [=] {
    int8_gemv<<<1024, 256>>>(reinterpret_cast<const int4*>(m.ints), reinterpret_cast<const int4*>(m.a), m.out,
                             256);
  });
  add("layer norm", [=] { layer_norm<<<4096, 256>>>(m.a, m.c, m.b, m.b + 4096, 1024); });
  add("RMS norm", [=] { rms_norm_768<<<1024, 256>>>(fours(m.a), fours(m.c)); });
  add("online softmax", [=] { softmax_online<<<1024, 256>>>(m.a, m.c, 1000); });
  add("GELU", [=] { gelu<<<n / 1024, 256>>>(fours(m.a), fours(m.c), n / 4); });
  add("Adam", [=] { adam<<<n / 256, 256>>>(m.c, m.a, m.c + n, m.c + 2 * n, n); });
  add("Coulomb potential", [=] { coulomb<<<dim3(16, 64), block>>>(m.c, 512, 512); });
  add("double Black-Scholes",
      [=] { double_black_scholes<<<2048, 256>>>(doubles(m.a), doubles(m.b), doubles(m.c), 1u << 19); });
  add("FFT of 1024 points",
      [=] { fft_1024<<<2048, 512>>>(reinterpret_cast<const float2*>(m.a), reinterpret_cast<float2*>(m.c)); });
  cases.push_back({"Floyd-Warshall, 8 steps",
                   [=] {
                     for (int k = 0; k < 8; ++k) floyd_warshall_step<<<dim3(32, 128), block>>>(m.c, 1024, k);
                   },
                   [=] { must(cudaMemcpy(m.c, m.a, 4 << 20, cudaMemcpyDeviceToDevice), "cudaMemcpy"); }});
  add("k-means step", [=] {
    k_means_step<<<264, 256>>>(reinterpret_cast<const float2*>(m.a), reinterpret_cast<const float2*>(m.b),
                               m.c, 1u << 20);
  });
  add("ELL matrix", [=] { ell_product<<<2048, 128>>>(m.a, m.ints, m.b, m.c, 1u << 18); });
}

}  // namespace course::foreign
