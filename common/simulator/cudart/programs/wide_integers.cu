// SPDX-License-Identifier: MIT
// 128-bit integers: sums, products, quotients, shifts and comparisons, whose machine code chains carries and
// borrows.
#include <cstdint>
#include <vector>

#include "check.hpp"

using Wide = __int128;
using UWide = unsigned __int128;

constexpr int kResults = 12;

__host__ __device__ void compute(UWide a, UWide b, UWide* r) {
  const auto x = static_cast<Wide>(a), y = static_cast<Wide>(b);
  r[0] = a + b;
  r[1] = a - b;
  r[2] = a * b;
  r[3] = a / b;
  r[4] = a % b;
  r[5] = static_cast<UWide>(x / y);
  r[6] = static_cast<UWide>(x % y);
  r[7] = static_cast<UWide>(-x) + (x < y ? 1 : 0) + (a < b ? 2 : 0);
  r[8] = a << (static_cast<unsigned>(b) & 127);
  r[9] = a >> (static_cast<unsigned>(b) & 127);
  r[10] = static_cast<UWide>(x >> (static_cast<unsigned>(b) & 127));
  r[11] = a - b - (a < b ? 1 : 0);
}

__global__ void kernel(const UWide* in, UWide* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) compute(in[2 * i], in[2 * i + 1], out + kResults * i);
}

int main() {
  const int n = 4000;
  std::vector<UWide> in(2 * n), out(kResults * n);
  std::uint64_t state = 7;
  const auto random = [&] {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return state >> 32 ^ state << 32;
  };
  for (UWide& w : in) {
    w = static_cast<UWide>(random()) << 64 | random();
    if (random() % 4 == 0) w = static_cast<UWide>(0) - (w >> 64);  // a small negative number
    w >>= random() % 4 == 0 ? random() % 128 : 0;
    if (random() % 8 == 0) w = w >> 64 << 64;
    if (w == 0) w = 1;
  }
  for (int i = 0; i < n; i += 7) in[2 * i] = in[2 * i + 1];
  UWide *d_in, *d_out;
  CHECK(cudaMalloc(&d_in, in.size() * sizeof(UWide)));
  CHECK(cudaMalloc(&d_out, out.size() * sizeof(UWide)));
  CHECK(cudaMemcpy(d_in, in.data(), in.size() * sizeof(UWide), cudaMemcpyHostToDevice));
  kernel<<<(n + 127) / 128, 128>>>(d_in, d_out, n);
  CHECK(cudaMemcpy(out.data(), d_out, out.size() * sizeof(UWide), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) {
    UWide expected[kResults];
    compute(in[2 * i], in[2 * i + 1], expected);
    for (int k = 0; k < kResults; ++k) EXPECT(out[kResults * i + k] == expected[k]);
  }
  CHECK(cudaFree(d_in));
  CHECK(cudaFree(d_out));
  std::puts("ok");
}
