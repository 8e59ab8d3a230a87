// SPDX-License-Identifier: MIT
// Comparisons of half2 and bfloat162 pairs, with masks, with ones, or with one result for both halves.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "check.hpp"

constexpr int kResults = 25;

template <typename Pair>
__device__ unsigned bits(Pair p) {
  unsigned b;
  memcpy(&b, &p, sizeof b);
  return b;
}

template <typename Pair>
__global__ void compare(const unsigned* in, unsigned* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Pair a, b;
  memcpy(&a, &in[2 * i], sizeof a);
  memcpy(&b, &in[2 * i + 1], sizeof b);
  unsigned* r = out + kResults * i;
  r[0] = __heq2_mask(a, b), r[1] = __hne2_mask(a, b), r[2] = __hlt2_mask(a, b), r[3] = __hle2_mask(a, b);
  r[4] = __hgt2_mask(a, b), r[5] = __hge2_mask(a, b), r[6] = __hequ2_mask(a, b), r[7] = __hneu2_mask(a, b);
  r[8] = __hltu2_mask(a, b), r[9] = __hleu2_mask(a, b), r[10] = __hgtu2_mask(a, b);
  r[11] = __hgeu2_mask(a, b);
  r[12] = bits(__heq2(a, b)), r[13] = bits(__hne2(a, b)), r[14] = bits(__hlt2(a, b));
  r[15] = bits(__hgeu2(a, b)), r[16] = bits(__hisnan2(a));
  r[17] = __hbeq2(a, b), r[18] = __hblt2(a, b), r[19] = __hbgeu2(a, b), r[20] = __hbne2(a, b);
  r[21] = __heq(a.x, b.x), r[22] = __hltu(a.y, b.y), r[23] = __hisnan(b.x), r[24] = __hge(a.y, b.y);
}

float number(std::uint16_t bits, bool bf16) {
  if (bf16) {
    const std::uint32_t wide = static_cast<std::uint32_t>(bits) << 16;
    float f;
    std::memcpy(&f, &wide, sizeof f);
    return f;
  }
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const float magnitude = exponent == 31  ? (fraction != 0 ? NAN : INFINITY)
                          : exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                                          : std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

template <typename Pair>
void run(bool bf16) {
  const int n = 3000;
  const unsigned one = bf16 ? 0x3f80 : 0x3c00;
  const std::uint16_t infinity = bf16 ? 0x7f80 : 0x7c00;
  const std::uint16_t edges[] = {0,        0x8000,
                                 1,        0x8001,
                                 infinity, static_cast<std::uint16_t>(infinity | 0x8000),
                                 0x7fff,   static_cast<std::uint16_t>(infinity | 1),
                                 0x3c00,   0x3c01,
                                 0xbc00};
  std::vector<unsigned> in(2 * n), out(kResults * n);
  unsigned long long state = 3;
  const auto random = [&] { return (state = state * 6364136223846793005ull + 1442695040888963407ull) >> 40; };
  const auto half = [&]() -> unsigned {
    return random() % 2 == 0 ? edges[random() % (sizeof edges / sizeof *edges)] : random() & 0xffff;
  };
  for (unsigned& w : in) w = half() << 16 | half();
  for (int i = 0; i < n; i += 5) in[2 * i] = in[2 * i + 1] ^ (random() % 2 != 0 ? 0x10000 : 0);
  unsigned *d_in, *d_out;
  CHECK(cudaMalloc(&d_in, in.size() * 4));
  CHECK(cudaMalloc(&d_out, out.size() * 4));
  CHECK(cudaMemcpy(d_in, in.data(), in.size() * 4, cudaMemcpyHostToDevice));
  compare<Pair><<<(n + 99) / 100, 100>>>(d_in, d_out, n);
  CHECK(cudaMemcpy(out.data(), d_out, out.size() * 4, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) {
    const unsigned* r = &out[kResults * i];
    float a[2], b[2];
    for (int k = 0; k < 2; ++k) {
      a[k] = number(static_cast<std::uint16_t>(in[2 * i] >> 16 * k), bf16);
      b[k] = number(static_cast<std::uint16_t>(in[2 * i + 1] >> 16 * k), bf16);
    }
    const auto both = [&](unsigned yes, auto holds) {
      return (holds(a[0], b[0]) ? yes : 0) | (holds(a[1], b[1]) ? yes << 16 : 0);
    };
    const auto eq = [](float x, float y) { return x == y; };
    const auto ne = [](float x, float y) { return x < y || x > y; };
    const auto lt = [](float x, float y) { return x < y; };
    const auto le = [](float x, float y) { return x <= y; };
    const auto gt = [](float x, float y) { return x > y; };
    const auto ge = [](float x, float y) { return x >= y; };
    const auto nan = [](float x, float) { return x != x; };
    const auto unless = [](auto opposite) { return [=](float x, float y) { return !opposite(x, y); }; };
    EXPECT(r[0] == both(0xffff, eq) && r[1] == both(0xffff, ne));
    EXPECT(r[2] == both(0xffff, lt) && r[3] == both(0xffff, le));
    EXPECT(r[4] == both(0xffff, gt) && r[5] == both(0xffff, ge));
    EXPECT(r[6] == both(0xffff, unless(ne)) && r[7] == both(0xffff, unless(eq)));
    EXPECT(r[8] == both(0xffff, unless(ge)) && r[9] == both(0xffff, unless(gt)));
    EXPECT(r[10] == both(0xffff, unless(le)) && r[11] == both(0xffff, unless(lt)));
    EXPECT(r[12] == both(one, eq) && r[13] == both(one, ne) && r[14] == both(one, lt));
    EXPECT(r[15] == both(one, unless(lt)) && r[16] == both(one, nan));
    EXPECT(r[17] == (both(1, eq) == 0x10001) && r[18] == (both(1, lt) == 0x10001));
    EXPECT(r[19] == (both(1, unless(lt)) == 0x10001) && r[20] == (both(1, ne) == 0x10001));
    EXPECT(r[21] == eq(a[0], b[0]) && r[22] == !ge(a[1], b[1]));
    EXPECT(r[23] == (b[0] != b[0]) && r[24] == ge(a[1], b[1]));
  }
  CHECK(cudaFree(d_in));
  CHECK(cudaFree(d_out));
}

int main() {
  run<__half2>(false);
  run<__nv_bfloat162>(true);
  std::puts("ok");
}
