// SPDX-License-Identifier: MIT
// Instructions: the issue rate with full occupancy, and the latency of a single warp.
#include "sim/calibration/cases.hpp"

namespace course::calibration {
namespace {

struct Add {
  static __device__ unsigned of(unsigned a, unsigned b) { return (a ^ b) + 0x1234567u; }  // two instructions
};
struct Multiply {
  static __device__ unsigned of(unsigned a, unsigned b) { return a * b + 7; }
};
struct Shift {
  static __device__ unsigned of(unsigned a, unsigned b) { return __funnelshift_l(a, b, 9); }
};
struct Fused {
  static __device__ unsigned of(unsigned a, unsigned b) {
    return __float_as_uint(__fmaf_rn(__uint_as_float(a), __uint_as_float(b), 1.5f));
  }
};
struct Special {
  static __device__ unsigned of(unsigned a, unsigned b) {
    float power;
    asm volatile("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(__uint_as_float(a)));
    return __float_as_uint(power) + b;
  }
};
struct Population {
  static __device__ unsigned of(unsigned a, unsigned b) { return __popc(a) + b; }
};
struct Divide {
  static __device__ unsigned of(unsigned a, unsigned b) { return a / (b | 1) + b; }
};
struct Shuffle {
  static __device__ unsigned of(unsigned a, unsigned b) { return __shfl_xor_sync(~0u, a, 1) + b; }
};
struct Ballot {
  static __device__ unsigned of(unsigned a, unsigned b) { return __ballot_sync(~0u, (a & 1) != 0) + b; }
};
struct Match {
  static __device__ unsigned of(unsigned a, unsigned b) { return __match_any_sync(~0u, a & 3) + b; }
};
struct Wide {
  static __device__ unsigned long long of(unsigned long long a, unsigned long long b) { return a * b + 3; }
};
struct WideAdd {
  static __device__ unsigned long long of(unsigned long long a, unsigned long long b) { return (a ^ b) + 3; }
};
struct Double {
  static __device__ double of(double a, double b) { return __fma_rn(a, b, 1.5); }
};

// kChains independent chains per thread; each value depends only on the previous one of its chain.
template <typename Op, typename T, int kChains>
__global__ void repeat(T* d_to, unsigned rounds, T seed) {
  T value[kChains];
#pragma unroll
  for (int k = 0; k < kChains; ++k) value[k] = seed + static_cast<T>(k + threadIdx.x);
  for (unsigned r = 0; r < rounds; ++r) {
#pragma unroll
    for (int j = 0; j < 8; ++j)
#pragma unroll
      for (int k = 0; k < kChains; ++k) value[k] = Op::of(value[k], seed);
  }
  T sum = 0;
#pragma unroll
  for (int k = 0; k < kChains; ++k) sum += value[k];
  if (sum == static_cast<T>(0x1e3779b9)) *d_to = sum;
}

template <typename Op, typename T = unsigned>
void add(std::vector<Case>& cases, const char* name, const Memory& m, unsigned rounds) {
  T* to = reinterpret_cast<T*>(m.d_to);
  const unsigned sms = static_cast<unsigned>(m.multiprocessors);
  const std::string instruction = name;
  cases.push_back({"issue " + instruction,
                   {{"warps", 32}},
                   [=] { repeat<Op, T, 4><<<sms, 1024>>>(to, rounds, T{3}); },
                   {}});
  cases.push_back({"issue " + instruction,
                   {{"warps", 8}},
                   [=] { repeat<Op, T, 4><<<sms, 256>>>(to, rounds, T{3}); },
                   {}});
  cases.push_back({"latency " + instruction,
                   {{"rounds", rounds}},
                   [=] { repeat<Op, T, 1><<<1, 32>>>(to, rounds, T{3}); },
                   {}});
  cases.push_back({"latency " + instruction,
                   {{"rounds", 4 * rounds}},
                   [=] { repeat<Op, T, 1><<<1, 32>>>(to, 4 * rounds, T{3}); },
                   {}});
}

}  // namespace

std::vector<Case> compute_cases(const Memory& m) {
  std::vector<Case> cases;
  add<Add>(cases, "add", m, 64);
  add<Multiply>(cases, "multiply", m, 64);
  add<Shift>(cases, "shift", m, 64);
  add<Fused, unsigned>(cases, "fused", m, 64);
  add<Special>(cases, "special", m, 16);
  add<Population>(cases, "population", m, 64);
  add<Divide>(cases, "divide", m, 8);
  add<Shuffle>(cases, "shuffle", m, 32);
  add<Ballot>(cases, "ballot", m, 32);
  add<Match>(cases, "match", m, 4);
  add<Wide, unsigned long long>(cases, "wide multiply", m, 32);
  add<WideAdd, unsigned long long>(cases, "wide add", m, 32);
  add<Double, double>(cases, "double", m, 32);
  return cases;
}

}  // namespace course::calibration
