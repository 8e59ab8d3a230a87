// SPDX-License-Identifier: MIT
#include "sim/checkers/lanes.hpp"

// The compiler makes a version for each instruction set; the loader picks one.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define SIM_VERSIONS __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define SIM_VERSIONS
#endif

namespace course::sim::lanes {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

// Words a lane known when compiling: the loops unroll.
template <u32 Words>
inline bool counting(const u32* cells, u32 first) {
  u32 off = 0;
  for (u32 i = 0; i < kLanes * Words; ++i) off |= cells[i] ^ (first + i / Words);
  return off == 0;
}
template <u32 Words>
inline void count(u32* cells, u32 first) {
  for (u32 i = 0; i < kLanes * Words; ++i) cells[i] = first + i / Words;
}

}  // namespace

SIM_VERSIONS
bool add(u64* at, const u64* base, u64 add, u64 step) {
  u64 off = 0;
  const u64 first = base[0] + add;
  for (u64 i = 0; i < kLanes; ++i) {
    at[i] = base[i] + add;
    off |= at[i] ^ (first + i * step);
  }
  return off == 0;
}

SIM_VERSIONS
bool add(u64* at, const u32* base, u32 add, u64 window, u64 step) {
  u64 off = 0;
  const u64 first = static_cast<u32>(base[0] + add) + window;
  for (u64 i = 0; i < kLanes; ++i) {
    at[i] = static_cast<u32>(base[i] + add) + window;
    off |= at[i] ^ (first + i * step);
  }
  return off == 0;
}

SIM_VERSIONS
bool all_below(const u32* cells, u32 words, u32 bound) {
  u32 above = 0;
  for (u32 k = 0; k < words; ++k)
    for (u32 i = 0; i < kLanes; ++i) above |= cells[k * kLanes + i] >= bound ? 1u : 0u;
  return above == 0;
}

SIM_VERSIONS
bool all_counting(const u32* cells, u32 words, u32 first) {
  if (words == 1) return counting<1>(cells, first);
  if (words == 2) return counting<2>(cells, first);
  return counting<4>(cells, first);
}

SIM_VERSIONS
void set_counting(u32* cells, u32 words, u32 first) {
  if (words == 1) return count<1>(cells, first);
  if (words == 2) return count<2>(cells, first);
  count<4>(cells, first);
}

SIM_VERSIONS
bool all_equal(const u32* words, u32 value) {
  u32 off = 0;
  for (u32 i = 0; i < kLanes; ++i) off |= words[i] ^ value;
  return off == 0;
}

}  // namespace course::sim::lanes
