// SPDX-License-Identifier: MIT
// Arithmetic: chains of different parallelism, special functions, divergence, uneven work, atomics.
#include "foreign.hpp"

namespace course::foreign {
namespace {

template <int kChains>
__global__ void fma_chains(float* out, unsigned rounds, float f) {
  float x[kChains];
#pragma unroll
  for (int k = 0; k < kChains; ++k) x[k] = static_cast<float>(threadIdx.x + k);
  for (unsigned r = 0; r < rounds; ++r)
#pragma unroll
    for (int k = 0; k < kChains; ++k) x[k] = x[k] * f + 0.5f;
  float sum = 0;
#pragma unroll
  for (int k = 0; k < kChains; ++k) sum += x[k];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void doubles(double* out, unsigned rounds, double f) {
  double x = threadIdx.x;
  for (unsigned r = 0; r < rounds; ++r) x = x * f + 0.5;
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

__global__ void integers(int* out, unsigned rounds) {
  unsigned x = threadIdx.x + 1;
  for (unsigned r = 0; r < rounds; ++r) {
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = static_cast<int>(x);
}

// 0: exp and sqrt; 1: fast ones; 2: sine; 3: division
template <int kHow>
__global__ void functions(const float* a, float* c, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = a[i];
  for (int k = 0; k < 8; ++k) {
    if (kHow == 0) x = sqrtf(expf(x) + 1.f);
    if (kHow == 1) x = rsqrtf(__expf(x) + 1.f);
    if (kHow == 2) x = sinf(x) + 1.f;
    if (kHow == 3) x = 1.f / (x + 1.f);
  }
  c[i] = x;
}

__global__ void integer_division(const int* a, int* c, unsigned n, int divisor) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int x = a[i];
  for (int k = 0; k < 4; ++k) x = x / divisor + x % (divisor + k);
  c[i] = x;
}

__global__ void black_scholes(const float* s, const float* x, float* call, float* put, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float price = 5.f + 25.f * s[i], strike = 1.f + 99.f * x[i], t = 1.5f;
  const float root = sqrtf(t), d1 = (__logf(price / strike) + 0.065f * t) / (0.3f * root),
              d2 = d1 - 0.3f * root;
  const auto normal = [](float d) {
    const float k = 1.f / (1.f + 0.2316419f * fabsf(d));
    const float v =
        0.39894228f * __expf(-0.5f * d * d) *
        (k * (0.31938153f + k * (-0.35656378f + k * (1.78147794f + k * (-1.82125598f + k * 1.33027443f)))));
    return d > 0 ? 1.f - v : v;
  };
  const float a = normal(d1), b = normal(d2), e = __expf(-0.02f * t);
  call[i] = price * a - strike * e * b;
  put[i] = strike * e * (1.f - b) - price * (1.f - a);
}

__global__ void mandelbrot(int* out, unsigned width) {
  const unsigned px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  const float cx = -2.f + 3.f * px / width, cy = -1.5f + 3.f * py / width;
  float x = 0, y = 0;
  int k = 0;
  while (k < 64 && x * x + y * y < 4.f) {
    const float next = x * x - y * y + cx;
    y = 2 * x * y + cy;
    x = next;
    ++k;
  }
  out[py * width + px] = k;
}

__global__ void bodies(const float4* in, float4* out, unsigned n) {
  __shared__ float4 s[128];
  const unsigned i = blockIdx.x * 128 + threadIdx.x;
  const float4 me = in[i];
  float x = 0, y = 0, z = 0;
  for (unsigned t = 0; t < n; t += 128) {
    s[threadIdx.x] = in[t + threadIdx.x];
    __syncthreads();
#pragma unroll 8
    for (unsigned k = 0; k < 128; ++k) {
      const float dx = s[k].x - me.x, dy = s[k].y - me.y, dz = s[k].z - me.z;
      const float r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f), f = s[k].w * r * r * r;
      x += dx * f;
      y += dy * f;
      z += dz * f;
    }
    __syncthreads();
  }
  out[i] = make_float4(x, y, z, 0);
}

// Every lane of a warp, or every warp, takes another path.
__global__ void divergent(const int* a, int* c, unsigned n, unsigned shift) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned x = static_cast<unsigned>(a[i]);
  const unsigned rounds = (threadIdx.x >> shift & 7) * 16;
  for (unsigned k = 0; k < rounds; ++k) x = x * 1664525u + 1013904223u;
  c[i] = static_cast<int>(x);
}

__global__ void histogram_global(const int* a, int* bins, unsigned n, unsigned mask) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(bins + (static_cast<unsigned>(a[i]) & mask), 1);
}

__global__ void histogram_shared(const int* a, int* bins, unsigned n) {
  __shared__ int s[256];
  s[threadIdx.x] = 0;
  __syncthreads();
  for (unsigned i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)
    atomicAdd(s + (static_cast<unsigned>(a[i]) & 255), 1);
  __syncthreads();
  atomicAdd(bins + threadIdx.x, s[threadIdx.x]);
}

__global__ void compact(const int* a, int* out, int* count, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const bool keeps = i < n && (a[i] & 1) != 0;
  const unsigned kept = __ballot_sync(~0u, keeps), lane = threadIdx.x % 32;
  int first = 0;
  if (lane == 0) first = atomicAdd(count, __popc(kept));
  first = __shfl_sync(~0u, first, 0);
  if (keeps) out[first + __popc(kept & ((1u << lane) - 1))] = a[i];
}

__global__ void one_counter(int* count, unsigned rounds) {
  for (unsigned k = 0; k < rounds; ++k) atomicAdd(count, 1);
}

__global__ void monte_carlo(int* out, unsigned rounds) {
  unsigned state = (blockIdx.x * blockDim.x + threadIdx.x) * 747796405u + 1u;
  int hits = 0;
  for (unsigned k = 0; k < rounds; ++k) {
    state = state * 1664525u + 1013904223u;
    const float x = static_cast<float>(state >> 8) * 0x1p-24f;
    state = state * 1664525u + 1013904223u;
    const float y = static_cast<float>(state >> 8) * 0x1p-24f;
    hits += x * x + y * y < 1.f;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = hits;
}

__global__ void empty() {}

}  // namespace

void add_compute(const Memory& m, std::vector<Case>& cases) {
  const auto add = [&](const std::string& name, std::function<void()> run) {
    cases.push_back({name, std::move(run), {}});
  };
  const auto zeroed = [&](const std::string& name, std::function<void()> run) {
    cases.push_back({name, std::move(run), [=] { must(cudaMemset(m.out, 0, 1 << 20), "cudaMemset"); }});
  };
  constexpr float f = 0.999f;
  add("fma, 1 chain, 1 warp per multiprocessor", [=] { fma_chains<1><<<132, 32>>>(m.c, 2048, f); });
  add("fma, 2 chains, 4 warps", [=] { fma_chains<2><<<132, 128>>>(m.c, 1024, f); });
  add("fma, 4 chains, 4 warps", [=] { fma_chains<4><<<132, 128>>>(m.c, 512, f); });
  add("fma, 1 chain, 32 warps", [=] { fma_chains<1><<<132, 1024>>>(m.c, 512, f); });
  add("fma, 4 chains, 64 warps", [=] { fma_chains<4><<<264, 1024>>>(m.c, 128, f); });
  add("fma, 133 blocks of 1024", [=] { fma_chains<4><<<133, 1024>>>(m.c, 128, f); });
  add("fma, 265 blocks of 1024", [=] { fma_chains<4><<<265, 1024>>>(m.c, 128, f); });
  add("fma, 1056 blocks of 128", [=] { fma_chains<4><<<1056, 128>>>(m.c, 128, f); });
  add("doubles", [=] { doubles<<<528, 256>>>(reinterpret_cast<double*>(m.c), 128, 0.999); });
  add("xorshift", [=] { integers<<<1056, 256>>>(m.out, 64); });
  const unsigned n = 1u << 20;
  add("exp and sqrt", [=] { functions<0><<<n / 256, 256>>>(m.a, m.c, n); });
  add("fast exp and rsqrt", [=] { functions<1><<<n / 256, 256>>>(m.a, m.c, n); });
  add("sine", [=] { functions<2><<<n / 256, 256>>>(m.a, m.c, n); });
  add("division of floats", [=] { functions<3><<<n / 256, 256>>>(m.a, m.c, n); });
  add("division of integers", [=] { integer_division<<<n / 256, 256>>>(m.ints, m.out, n, 1237); });
  add("Black-Scholes",
      [=] { black_scholes<<<4 * n / 256, 256>>>(m.a, m.b, m.c, reinterpret_cast<float*>(m.out), 4 * n); });
  add("Mandelbrot", [=] { mandelbrot<<<dim3(64, 64), dim3(16, 16)>>>(m.out, 1024); });
  add("bodies", [=] {
    bodies<<<64, 128>>>(reinterpret_cast<const float4*>(m.a), reinterpret_cast<float4*>(m.c), 8192);
  });
  add("divergent lanes", [=] { divergent<<<n / 256, 256>>>(m.ints, m.out, n, 0); });
  add("divergent warps", [=] { divergent<<<n / 256, 256>>>(m.ints, m.out, n, 5); });
  add("Monte Carlo", [=] { monte_carlo<<<1056, 128>>>(m.out, 64); });
  zeroed("histogram in global memory, 256 bins",
         [=] { histogram_global<<<1056, 256>>>(m.ints, m.out, n, 255); });
  zeroed("histogram in global memory, 64 Ki bins",
         [=] { histogram_global<<<1056, 256>>>(m.ints, m.out, 4 * n, 65535); });
  zeroed("histogram in shared memory", [=] { histogram_shared<<<528, 256>>>(m.ints, m.out, 4 * n); });
  zeroed("compaction with one atomic per warp",
         [=] { compact<<<2 * n / 256, 256>>>(m.ints, m.out + 1024, m.out, 2 * n); });
  zeroed("one counter", [=] { one_counter<<<132, 256>>>(m.out, 16); });
  add("empty", [=] { empty<<<1, 32>>>(); });
  add("empty, 16384 blocks", [=] { empty<<<16384, 128>>>(); });
}

}  // namespace course::foreign
