// SPDX-License-Identifier: MIT
// Atomics of every width, compare-and-swap loops for operations without an instruction, a spin lock,
// __threadfence and a ticket.
#include <cmath>
#include <vector>

#include "check.hpp"

__device__ float atomic_max_float(float* address, float value) {
  int* bits = reinterpret_cast<int*>(address);
  int old = *bits, assumed;
  do {
    assumed = old;
    if (__int_as_float(assumed) >= value) break;
    old = atomicCAS(bits, assumed, __float_as_int(value));
  } while (assumed != old);
  return __int_as_float(old);
}

__device__ double atomic_multiply(double* address, double factor) {
  auto* bits = reinterpret_cast<unsigned long long*>(address);
  unsigned long long old = *bits, assumed;
  do {
    assumed = old;
    old = atomicCAS(bits, assumed, __double_as_longlong(__longlong_as_double(assumed) * factor));
  } while (assumed != old);
  return __longlong_as_double(old);
}

struct Results {
  int add, sub, min, max, or_, and_, xor_, exchanged, locked;
  unsigned inc, dec;
  unsigned long long add64, max64;
  float float_sum, float_max;
  double double_sum, product;
};

__device__ int lock = 0;
__device__ unsigned tickets = 0;

__global__ void all_kinds(Results* r, int* last_block_sum) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&r->add, i);
  atomicSub(&r->sub, 2);
  atomicMin(&r->min, (i * 37) % 512 - 100);
  atomicMax(&r->max, (i * 37) % 512 - 100);
  atomicOr(&r->or_, 1 << (i % 20));
  atomicAnd(&r->and_, ~(1 << (i % 7)));
  atomicXor(&r->xor_, i);
  atomicExch(&r->exchanged, 7);
  atomicInc(&r->inc, 99);
  atomicDec(&r->dec, 49);
  atomicAdd(&r->add64, 1ull << 33);
  atomicMax(&r->max64, (unsigned long long)i << 40);
  atomicAdd(&r->float_sum, 0.5f);
  atomicAdd(&r->double_sum, 0.25);
  atomic_max_float(&r->float_max, float((i * 53) % 511));
  if (i < 10) atomic_multiply(&r->product, 2.0);

  // A lock that one lane at a time holds; requires independent thread scheduling.
  bool done = false;
  while (!done) {
    if (atomicCAS(&lock, 0, 1) == 0) {
      __threadfence();  // what the last holder wrote is seen
      r->locked = r->locked + 1;
      __threadfence();
      atomicExch(&lock, 0);
      done = true;
    }
  }

  // The last block to finish sees what all others wrote.
  __shared__ bool last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(&tickets, 1u) == gridDim.x - 1;
  __syncthreads();
  if (last && threadIdx.x == 0) *last_block_sum = *const_cast<volatile int*>(&r->add);
}

__global__ void shared_histogram(const int* in, int n, int* bins) {
  __shared__ int mine[64];
  for (int b = threadIdx.x; b < 64; b += blockDim.x) mine[b] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&mine[in[i]], 1);
  __syncthreads();
  for (int b = threadIdx.x; b < 64; b += blockDim.x) atomicAdd(&bins[b], mine[b]);
}

int main() {
  const int blocks = 8, threads = 64, n = blocks * threads;
  Results h{}, *d;
  h.min = 1 << 30;
  h.max = -(1 << 30);
  h.and_ = -1;
  h.float_max = -1;
  h.product = 1;
  h.dec = 3;
  int *d_last, last = -1;
  CHECK(cudaMalloc(&d, sizeof(Results)));
  CHECK(cudaMalloc(&d_last, sizeof(int)));
  CHECK(cudaMemcpy(d, &h, sizeof h, cudaMemcpyHostToDevice));
  all_kinds<<<blocks, threads>>>(d, d_last);
  CHECK(cudaMemcpy(&h, d, sizeof h, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(&last, d_last, sizeof last, cudaMemcpyDeviceToHost));

  int min = 1 << 30, max = -min, exclusive = 0;
  unsigned inc = 0, dec = 3;
  float float_max = -1;
  for (int i = 0; i < n; ++i) {
    const int v = (i * 37) % 512 - 100;
    min = v < min ? v : min;
    max = v > max ? v : max;
    exclusive ^= i;
    inc = inc >= 99 ? 0 : inc + 1;
    dec = dec == 0 || dec > 49 ? 49 : dec - 1;
    float_max = std::fmax(float_max, float((i * 53) % 511));
  }
  EXPECT(h.add == n * (n - 1) / 2 && h.sub == -2 * n && h.min == min && h.max == max);
  EXPECT(h.or_ == (1 << 20) - 1 && h.and_ == ~127 && h.xor_ == exclusive && h.exchanged == 7);
  EXPECT(h.inc == inc && h.dec == dec);
  EXPECT(h.add64 == (1ull << 33) * n && h.max64 == (unsigned long long)(n - 1) << 40);
  EXPECT(h.float_sum == 0.5f * n && h.double_sum == 0.25 * n && h.float_max == float_max &&
         h.product == 1024);
  EXPECT(h.locked == n);
  EXPECT(last == h.add);

  std::vector<int> in(10000);
  int expected[64] = {}, bins[64];
  for (int i = 0; i < 10000; ++i) {
    in[i] = (i * i) % 64;
    ++expected[in[i]];
  }
  int *d_in, *d_bins;
  CHECK(cudaMalloc(&d_in, in.size() * sizeof(int)));
  CHECK(cudaMalloc(&d_bins, sizeof bins));
  CHECK(cudaMemcpy(d_in, in.data(), in.size() * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaMemset(d_bins, 0, sizeof bins));
  shared_histogram<<<5, 128>>>(d_in, 10000, d_bins);
  CHECK(cudaMemcpy(bins, d_bins, sizeof bins, cudaMemcpyDeviceToHost));
  for (int b = 0; b < 64; ++b) EXPECT(bins[b] == expected[b]);
  std::puts("ok");
}
