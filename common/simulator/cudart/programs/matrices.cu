// SPDX-License-Identifier: MIT
// Tensor cores: wmma with three types and both layouts, and ldmatrix with mma as in libraries. All numbers
// are integers, so that sums are exact.
#include <cuda_fp16.h>
#include <mma.h>

#include <cstdint>
#include <vector>

#include "check.hpp"

namespace {

using namespace nvcuda;

constexpr int kM = 16, kN = 16, kK = 16;

__global__ void multiply_halves(const half* a, const half* b, float* c) {
  __shared__ __align__(32) half s_a[kM * kK], s_b[kK * kN];
  for (int i = static_cast<int>(threadIdx.x); i < kM * kK; i += warpSize) s_a[i] = a[i], s_b[i] = b[i];
  __syncwarp();
  wmma::fragment<wmma::matrix_a, kM, kN, kK, half, wmma::row_major> fragment_a;
  wmma::fragment<wmma::matrix_b, kM, kN, kK, half, wmma::col_major> fragment_b;
  wmma::fragment<wmma::accumulator, kM, kN, kK, float> sum;
  wmma::fill_fragment(sum, 1.0f);
  wmma::load_matrix_sync(fragment_a, s_a, kK);
  wmma::load_matrix_sync(fragment_b, s_b, kK);
  wmma::mma_sync(sum, fragment_a, fragment_b, sum);
  for (float& x : sum.x) x *= 2;
  wmma::store_matrix_sync(c, sum, kN, wmma::mem_row_major);
}

__global__ void multiply_bytes(const signed char* a, const signed char* b, int* c) {  // 32 × 8
  wmma::fragment<wmma::matrix_a, 32, 8, kK, signed char, wmma::col_major> fragment_a;
  wmma::fragment<wmma::matrix_b, 32, 8, kK, signed char, wmma::row_major> fragment_b;
  wmma::fragment<wmma::accumulator, 32, 8, kK, int> sum;
  wmma::fill_fragment(sum, 5);
  wmma::load_matrix_sync(fragment_a, a, 32);
  wmma::load_matrix_sync(fragment_b, b, 16);  // stride of 16 between rows
  wmma::mma_sync(sum, fragment_a, fragment_b, sum);
  wmma::store_matrix_sync(c, sum, 32, wmma::mem_col_major);
}

// a: 16 × 16, b: 16 × 8, both row-major.
__global__ void multiply_with_ldmatrix(const half* a, const half* b, float* c) {
  __shared__ __align__(16) half s_a[kM * kK], s_b[kK * 8];
  const unsigned lane = threadIdx.x;
  for (unsigned i = lane; i < kM * kK; i += 32) s_a[i] = a[i];
  for (unsigned i = lane; i < kK * 8; i += 32) s_b[i] = b[i];
  __syncwarp();
  std::uint32_t ra[4], rb[2];
  const auto at_a =
      static_cast<std::uint32_t>(__cvta_generic_to_shared(&s_a[lane % 16 * kK + lane / 16 * 8]));
  const auto at_b = static_cast<std::uint32_t>(__cvta_generic_to_shared(&s_b[lane % 16 * 8]));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3])
               : "r"(at_a));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(rb[0]), "=r"(rb[1])
               : "r"(at_b));
  float d[4] = {0, 0, 0, 0};
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, "
      "%1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
  for (unsigned k = 0; k < 4; ++k) c[(lane / 4 + k / 2 * 8) * 8 + lane % 4 * 2 + k % 2] = d[k];
}

template <typename T>
T* on_device(const std::vector<T>& h) {
  void* d = nullptr;
  CHECK(cudaMalloc(&d, h.size() * sizeof(T)));
  CHECK(cudaMemcpy(d, h.data(), h.size() * sizeof(T), cudaMemcpyHostToDevice));
  return static_cast<T*>(d);
}

}  // namespace

int main() {
  std::vector<half> a, b;
  std::vector<signed char> bytes_a, bytes_b;
  for (int i = 0; i < 256; ++i) {
    a.push_back(__float2half(static_cast<float>(i * 7 % 13 - 6)));
    b.push_back(__float2half(static_cast<float>(i * 5 % 11 - 5)));
    bytes_b.push_back(static_cast<signed char>(i * 29 % 256 - 128));
  }
  for (int i = 0; i < 512; ++i) bytes_a.push_back(static_cast<signed char>(i * 37 % 256 - 128));
  const auto value = [](const std::vector<half>& v, int i) {
    return __half2float(v[static_cast<std::size_t>(i)]);
  };
  half *d_a = on_device(a), *d_b = on_device(b);
  float* d_c = on_device(std::vector<float>(256));

  multiply_halves<<<1, 32>>>(d_a, d_b, d_c);
  std::vector<float> c(256);
  CHECK(cudaMemcpy(c.data(), d_c, 256 * sizeof(float), cudaMemcpyDeviceToHost));
  for (int i = 0; i < kM; ++i)
    for (int j = 0; j < kN; ++j) {
      float sum = 1;
      for (int k = 0; k < kK; ++k) sum += value(a, i * kK + k) * value(b, j * kK + k);
      EXPECT(c[static_cast<std::size_t>(i * kN + j)] == 2 * sum);
    }

  multiply_with_ldmatrix<<<1, 32>>>(d_a, d_b, d_c);
  CHECK(cudaMemcpy(c.data(), d_c, 128 * sizeof(float), cudaMemcpyDeviceToHost));
  for (int i = 0; i < kM; ++i)
    for (int j = 0; j < 8; ++j) {
      float sum = 0;
      for (int k = 0; k < kK; ++k) sum += value(a, i * kK + k) * value(b, k * 8 + j);
      EXPECT(c[static_cast<std::size_t>(i * 8 + j)] == sum);
    }

  signed char *d_bytes_a = on_device(bytes_a), *d_bytes_b = on_device(bytes_b);
  multiply_bytes<<<1, 32>>>(d_bytes_a, d_bytes_b, reinterpret_cast<int*>(d_c));
  std::vector<int> whole(256);
  CHECK(cudaMemcpy(whole.data(), d_c, 256 * sizeof(int), cudaMemcpyDeviceToHost));
  for (int i = 0; i < 32; ++i)
    for (int j = 0; j < 8; ++j) {
      int sum = 5;
      for (int k = 0; k < kK; ++k)
        sum += bytes_a[static_cast<std::size_t>(k * 32 + i)] * bytes_b[static_cast<std::size_t>(k * 16 + j)];
      EXPECT(whole[static_cast<std::size_t>(j * 32 + i)] == sum);
    }
  for (void* d : {static_cast<void*>(d_a), static_cast<void*>(d_b), static_cast<void*>(d_c),
                  static_cast<void*>(d_bytes_a), static_cast<void*>(d_bytes_b)})
    CHECK(cudaFree(d));
  return 0;
}
