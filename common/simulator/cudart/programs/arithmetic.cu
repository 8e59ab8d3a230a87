// SPDX-License-Identifier: MIT
// Arithmetic: doubles, 64-bit multiplication and division, shifts, bit counts, mathematical functions,
// conversions, rounding.
#include <cmath>
#include <cstdint>
#include <vector>

#include "check.hpp"

__global__ void integers(const long long* a, const long long* b, long long* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const long long x = a[i], y = b[i];
  long long* r = out + i * 10;
  r[0] = x * y;
  r[1] = x / y;
  r[2] = x % y;
  r[3] = (long long)((unsigned long long)x / (unsigned long long)y);
  r[4] = __mul64hi(x, y);
  r[5] = (x << (y & 31)) ^ (x >> (y & 63));
  r[6] = __popcll(x) * 1000 + __clzll(x) * 10 + __ffsll(y);
  r[7] = (long long)(int)x / (int)(y | 1);
  r[8] =
      (long long)__brevll((unsigned long long)x) ^ (long long)__byte_perm((unsigned)x, (unsigned)y, 0x5410);
  r[9] = (unsigned char)x + (short)y + (long long)__funnelshift_l((unsigned)x, (unsigned)y, 7);
}

__global__ void reals(const double* in, double* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double x = in[i];
  double* r = out + i * 10;
  r[0] = sqrt(fabs(x)) + x / 3.0;
  r[1] = sin(x) + cos(x);
  r[2] = exp(x * 0.1);
  r[3] = log(fabs(x) + 1);
  r[4] = pow(fabs(x) + 0.5, 1.5);
  r[5] = floor(x) + ceil(x) * 2 + rint(x) * 4 + trunc(x) * 8;
  r[6] = fma(x, x, -1.0);
  r[7] = atan2(x, 2.0);
  r[8] = float(x) * 3.0f + sqrtf(fabsf(float(x)));
  r[9] = double((int)x) + double((unsigned char)(int)fabs(x)) + double(__float2int_rn(float(x)));
}

int main() {
  const int n = 300;
  std::vector<long long> a(n), b(n), out(n * 10);
  std::vector<double> d(n), results(n * 10);
  unsigned long long state = 42;
  for (int i = 0; i < n; ++i) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    a[i] = (long long)(state >> (i % 50)) - (i % 3 == 0 ? 1ll << 20 : 0);
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    b[i] = (long long)(state >> (i % 60 + 2)) * (i % 2 == 0 ? 1 : -1);
    if (b[i] == 0) b[i] = 3;
    d[i] = (i - 150) * 0.37;
  }
  long long *da, *db, *dout;
  double *dd, *dr;
  CHECK(cudaMalloc(&da, n * 8));
  CHECK(cudaMalloc(&db, n * 8));
  CHECK(cudaMalloc(&dout, n * 80));
  CHECK(cudaMalloc(&dd, n * 8));
  CHECK(cudaMalloc(&dr, n * 80));
  CHECK(cudaMemcpy(da, a.data(), n * 8, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(db, b.data(), n * 8, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(dd, d.data(), n * 8, cudaMemcpyHostToDevice));
  integers<<<(n + 63) / 64, 64>>>(da, db, dout, n);
  reals<<<(n + 63) / 64, 64>>>(dd, dr, n);
  CHECK(cudaMemcpy(out.data(), dout, n * 80, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(results.data(), dr, n * 80, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) {
    const long long x = a[i], y = b[i], *r = &out[i * 10];
    EXPECT(r[0] == (long long)((unsigned long long)x * (unsigned long long)y));
    EXPECT(r[1] == x / y && r[2] == x % y);
    EXPECT(r[3] == (long long)((unsigned long long)x / (unsigned long long)y));
    EXPECT(r[4] == (long long)((__int128)x * y >> 64));
    EXPECT(r[5] == ((long long)((unsigned long long)x << (y & 31)) ^ (x >> (y & 63))));
    EXPECT(r[6] ==
           __builtin_popcountll(x) * 1000 + (x == 0 ? 64 : __builtin_clzll(x)) * 10 + __builtin_ffsll(y));
    if ((int)x != INT32_MIN) EXPECT(r[7] == (int)x / (int)(y | 1));
    unsigned long long reversed = 0;
    for (int k = 0; k < 64; ++k) reversed |= ((unsigned long long)x >> k & 1) << (63 - k);
    EXPECT(r[8] == ((long long)reversed ^ (long long)(((unsigned)y << 16) | ((unsigned)x & 0xffff))));
    EXPECT(r[9] == (unsigned char)x + (short)y + (long long)(((unsigned)y << 7) | ((unsigned)x >> 25)));

    const double z = d[i], *s = &results[i * 10];
    const auto near = [](double got, double expected) {
      return std::abs(got - expected) <= 1e-13 * (1 + std::abs(expected));
    };
    EXPECT(near(s[0], std::sqrt(std::abs(z)) + z / 3.0));
    EXPECT(near(s[1], std::sin(z) + std::cos(z)));
    EXPECT(near(s[2], std::exp(z * 0.1)));
    EXPECT(near(s[3], std::log(std::abs(z) + 1)));
    EXPECT(near(s[4], std::pow(std::abs(z) + 0.5, 1.5)));
    EXPECT(s[5] == std::floor(z) + std::ceil(z) * 2 + std::rint(z) * 4 + std::trunc(z) * 8);
    EXPECT(s[6] == std::fma(z, z, -1.0));
    EXPECT(near(s[7], std::atan2(z, 2.0)));
    EXPECT(std::abs(s[8] - (float(z) * 3.0f + std::sqrt(std::abs(float(z))))) < 1e-4);
    EXPECT(s[9] == double((int)z) + double((unsigned char)(int)std::abs(z)) + double(std::lrint(float(z))));
  }
  std::puts("ok");
}
