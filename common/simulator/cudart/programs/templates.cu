// SPDX-License-Identifier: MIT
// Templates over type, operator and block size; a kernel per instantiation; a functor passed by value.
#include <cmath>
#include <vector>

#include "check.hpp"

template <typename T>
struct Scale {
  T factor;
  __host__ __device__ T operator()(T x) const { return x * factor; }
};

struct Clamp {
  double low, high;
  template <typename T>
  __host__ __device__ T operator()(T x) const {
    return x < T(low) ? T(low) : x > T(high) ? T(high) : x;
  }
};

template <int kBlock, typename T, typename F>
__global__ void __launch_bounds__(kBlock) transform_reduce(const T* in, T* out, int n, F f) {
  __shared__ T tile[kBlock];
  T sum{};
  for (int i = blockIdx.x * kBlock + threadIdx.x; i < n; i += kBlock * gridDim.x) sum += f(in[i]);
  tile[threadIdx.x] = sum;
  __syncthreads();
#pragma unroll
  for (int half = kBlock / 2; half > 0; half /= 2) {
    if (int(threadIdx.x) < half) tile[threadIdx.x] += tile[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = tile[0];
}

template <int kBlock, typename T, typename F>
void test(F f) {
  const int n = 5000, blocks = 3;
  std::vector<T> in(n), out(blocks);
  T expected{};
  for (int i = 0; i < n; ++i) {
    in[i] = T(i % 23 - 4);
    expected += f(in[i]);
  }
  T *d_in, *d_out;
  CHECK(cudaMalloc(&d_in, n * sizeof(T)));
  CHECK(cudaMalloc(&d_out, blocks * sizeof(T)));
  CHECK(cudaMemcpy(d_in, in.data(), n * sizeof(T), cudaMemcpyHostToDevice));
  transform_reduce<kBlock><<<blocks, kBlock>>>(d_in, d_out, n, f);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(out.data(), d_out, blocks * sizeof(T), cudaMemcpyDeviceToHost));
  T sum{};
  for (T part : out) sum += part;
  EXPECT(std::abs(double(sum - expected)) <= 1e-3 * std::abs(double(expected)));
  CHECK(cudaFree(d_in));
  CHECK(cudaFree(d_out));
}

int main() {
  test<32, int>(Scale<int>{3});
  test<64, unsigned>(Scale<unsigned>{5});
  test<128, float>(Scale<float>{0.25f});
  test<256, double>(Scale<double>{-1.5});
  test<512, long long>(Clamp{-2, 10});
  test<1024, short>(Clamp{0, 1});
  test<128, float>(Clamp{-1, 7.5});
  std::puts("ok");
}
