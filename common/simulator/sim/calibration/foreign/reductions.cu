// SPDX-License-Identifier: MIT
// Sums and similar: the steps of Harris, "Optimizing parallel reduction in CUDA" (2007), written anew, and
// kernels that read with few blocks.
#include "foreign.hpp"

namespace course::foreign {
namespace {

__device__ int warp_sum(int v) {
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d);
  return v;
}

// 0: remainders; 1: strided index with conflicts; 2: sequential addresses
template <int kStep>
__global__ void tree(const int* in, int* out, unsigned n) {
  extern __shared__ int s[];
  const unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? in[i] : 0;
  __syncthreads();
  if (kStep == 2) {
    for (unsigned d = blockDim.x / 2; d > 0; d /= 2) {
      if (t < d) s[t] += s[t + d];
      __syncthreads();
    }
  } else {
    for (unsigned d = 1; d < blockDim.x; d *= 2) {
      if (kStep == 0) {
        if (t % (2 * d) == 0) s[t] += s[t + d];
      } else {
        const unsigned at = 2 * d * t;
        if (at < blockDim.x) s[at] += s[at + d];
      }
      __syncthreads();
    }
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

// 3: two loads per thread; 4: the last warp by shuffles; 5: unrolled for the block size
template <int kStep, unsigned kThreads>
__global__ void first_add(const int* in, int* out, unsigned n) {
  extern __shared__ int s[];
  const unsigned t = threadIdx.x, i = blockIdx.x * (kThreads * 2) + t;
  int sum = i < n ? in[i] : 0;
  if (i + kThreads < n) sum += in[i + kThreads];
  s[t] = sum;
  __syncthreads();
  if (kStep == 5) {
    if (kThreads >= 512 && t < 256) s[t] = sum += s[t + 256];
    __syncthreads();
    if (kThreads >= 256 && t < 128) s[t] = sum += s[t + 128];
    __syncthreads();
    if (kThreads >= 128 && t < 64) s[t] = sum += s[t + 64];
    __syncthreads();
  } else {
    for (unsigned d = kThreads / 2; d > (kStep == 3 ? 0 : 32); d /= 2) {
      if (t < d) s[t] = sum += s[t + d];
      __syncthreads();
    }
  }
  if (kStep >= 4 && t < 32) sum = warp_sum(sum + s[t + 32]);
  if (t == 0) out[blockIdx.x] = sum;
}

// 6: a grid stride with two loads, the second one guarded; 7: shuffles only; 8: one load
template <int kStep, unsigned kThreads>
__global__ void strided_sum(const int* in, int* out, unsigned n) {
  __shared__ int s[32];
  const unsigned t = threadIdx.x, each = kStep == 8 ? 1 : 2;
  int sum = 0;
  for (unsigned i = blockIdx.x * kThreads * each + t; i < n; i += kThreads * each * gridDim.x) {
    sum += in[i];
    if (kStep != 8 && i + kThreads < n) sum += in[i + kThreads];
  }
  sum = warp_sum(sum);
  if (t % 32 == 0) s[t / 32] = sum;
  __syncthreads();
  if (t < 32) {
    sum = warp_sum(t < kThreads / 32 ? s[t] : 0);
    if (t == 0) out[blockIdx.x] = sum;
  }
}

// 9: rows of 16 bytes, the last block adds up what the others have left.
__global__ void single_launch(const int4* in, int* out, unsigned n, unsigned* tickets) {
  __shared__ int s[32];
  __shared__ bool last;
  int sum = 0;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const int4 v = in[i];
    sum += v.x + v.y + v.z + v.w;
  }
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    sum = 0;
    for (unsigned k = 0; k < blockDim.x / 32; ++k) sum += s[k];
    out[blockIdx.x] = sum;
    __threadfence();
    last = atomicAdd(tickets, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  sum = 0;
  for (unsigned k = threadIdx.x; k < gridDim.x; k += blockDim.x)
    sum += reinterpret_cast<volatile int*>(out)[k];
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) atomicAdd(out + gridDim.x, sum);
}

__global__ void dot(const float* a, const float* b, float* out, unsigned n) {
  float sum = 0;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    sum += a[i] * b[i];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}

// The sum of every row; a warp per row.
__global__ void row_per_warp(const float* in, float* out, unsigned columns) {
  const unsigned row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  float sum = 0;
  for (unsigned k = lane; k < columns; k += 32) sum += in[row * columns + k];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  if (lane == 0) out[row] = sum;
}

__global__ void softmax_rows(const float* in, float* out, unsigned columns) {
  __shared__ float s[32];
  const float* row = in + static_cast<std::size_t>(blockIdx.x) * columns;
  float* to = out + static_cast<std::size_t>(blockIdx.x) * columns;
  const unsigned t = threadIdx.x;
  const auto over_block = [&](float v, bool add) {
    for (int d = 16; d > 0; d /= 2) {
      const float other = __shfl_xor_sync(~0u, v, d);
      v = add ? v + other : fmaxf(v, other);
    }
    __syncthreads();
    if (t % 32 == 0) s[t / 32] = v;
    __syncthreads();
    v = s[0];
    for (unsigned k = 1; k < blockDim.x / 32; ++k) v = add ? v + s[k] : fmaxf(v, s[k]);
    return v;
  };
  float most = -1e30f;
  for (unsigned k = t; k < columns; k += blockDim.x) most = fmaxf(most, row[k]);
  most = over_block(most, false);
  float sum = 0;
  for (unsigned k = t; k < columns; k += blockDim.x) sum += __expf(row[k] - most);
  sum = over_block(sum, true);
  for (unsigned k = t; k < columns; k += blockDim.x) to[k] = __expf(row[k] - most) / sum;
}

__global__ void gemv_row_per_thread(const float* matrix, const float* x, float* y, unsigned columns) {
  const unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (unsigned k = 0; k < columns; ++k) sum += matrix[k * (gridDim.x * blockDim.x) + row] * x[k];
  y[row] = sum;
}

}  // namespace

void add_reductions(const Memory& m, std::vector<Case>& cases) {
  constexpr unsigned n = Memory::kItems;
  const auto add = [&](const char* name, std::function<void()> run) {
    cases.push_back({name, std::move(run), {}});
  };
  add("reduce k0 remainders", [=] { tree<0><<<n / 256, 256, 1024>>>(m.ints, m.out, n); });
  add("reduce k1 strided index", [=] { tree<1><<<n / 256, 256, 1024>>>(m.ints, m.out, n); });
  add("reduce k2 sequential", [=] { tree<2><<<n / 256, 256, 1024>>>(m.ints, m.out, n); });
  add("reduce k3 first add", [=] { first_add<3, 256><<<n / 512, 256, 1024>>>(m.ints, m.out, n); });
  add("reduce k4 last warp", [=] { first_add<4, 256><<<n / 512, 256, 1024>>>(m.ints, m.out, n); });
  add("reduce k5 unrolled", [=] { first_add<5, 256><<<n / 512, 256, 1024>>>(m.ints, m.out, n); });
  add("reduce k5 128 threads", [=] { first_add<5, 128><<<n / 256, 128, 512>>>(m.ints, m.out, n); });
  add("reduce k5 512 threads", [=] { first_add<5, 512><<<n / 1024, 512, 2048>>>(m.ints, m.out, n); });
  add("reduce k6 64 blocks", [=] { strided_sum<6, 256><<<64, 256>>>(m.ints, m.out, n); });
  add("reduce k6 264 blocks", [=] { strided_sum<6, 256><<<264, 256>>>(m.ints, m.out, n); });
  add("reduce k6 1056 blocks", [=] { strided_sum<6, 256><<<1056, 256>>>(m.ints, m.out, n); });
  add("reduce k7 128 blocks, 512 threads", [=] { strided_sum<7, 512><<<128, 512>>>(m.ints, m.out, n); });
  add("reduce k8 64 blocks, one load", [=] { strided_sum<8, 256><<<64, 256>>>(m.ints, m.out, n); });
  add("reduce k8 528 blocks, one load", [=] { strided_sum<8, 256><<<528, 256>>>(m.ints, m.out, n); });
  cases.push_back({"reduce k9 single launch",
                   [=] {
                     single_launch<<<528, 256>>>(reinterpret_cast<const int4*>(m.ints), m.out, n / 4,
                                                 static_cast<unsigned*>(m.scratch));
                   },
                   [=] { must(cudaMemset(m.scratch, 0, 4), "cudaMemset"); }});
  add("dot 264 blocks", [=] { dot<<<264, 256>>>(m.a, m.b, m.c, n); });
  add("dot 1056 blocks", [=] { dot<<<1056, 256>>>(m.a, m.b, m.c, n); });
  add("row sums 4096 x 2048, warp per row", [=] { row_per_warp<<<512, 256>>>(m.a, m.c, 2048); });
  add("row sums 65536 x 128, warp per row", [=] { row_per_warp<<<8192, 256>>>(m.a, m.c, 128); });
  add("softmax 4096 x 2048", [=] { softmax_rows<<<4096, 256>>>(m.a, m.c, 2048); });
  add("softmax 32768 x 256", [=] { softmax_rows<<<32768, 128>>>(m.a, m.c, 256); });
  add("gemv 8192 x 1024, thread per row", [=] { gemv_row_per_thread<<<64, 128>>>(m.a, m.b, m.c, 1024); });
}

}  // namespace course::foreign
