// SPDX-License-Identifier: MIT
#include "sim/checkers/lanes.hpp"

#include <algorithm>

// The compiler makes one version for each instruction set; the loader picks the best one.
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

// The words per lane are a compile-time constant, and so is the number of cells if all lanes are active, so
// the loops can be unrolled.
template <u32 Words>
inline bool counting(const u32* cells, u32 n, u32 first) {
  u32 off = 0;
  for (u32 i = 0; i < n; ++i) off |= cells[i] ^ (first + i / Words);
  return off == 0;
}
template <u32 Words>
inline void count(u32* cells, u32 n, u32 first) {
  for (u32 i = 0; i < n; ++i) cells[i] = first + i / Words;
}

template <u32 Words>
inline Found meet_words(u32* written, u32* read, u32 n, u32 bound, u32 mine, bool writes) {
  u32 high_written = 0, high_read = 0, off = 0;
  const u32 first = read[0];
  const auto look = [&](u32 i) {
    high_written |= written[i] >= bound ? 1u : 0u;
    high_read |= read[i] >= bound ? 1u : 0u;
    off |= read[i] ^ (first + i / Words);
  };
  if (n == kLanes * Words)
    for (u32 i = 0; i < kLanes * Words; ++i) look(i);
  else
    for (u32 i = 0; i < n; ++i) look(i);
  const bool done = (high_written | high_read) == 0;
  if (done) count<Words>(writes ? written : read, n, mine);
  return {high_written == 0, high_read == 0, off == 0, done};
}

template <typename T>
inline Shape shape(const T* base, T step, const u32* active, int first) {
  T out_of_step = 0, different = 0;
  const T start = base[first], lane_0 = start - static_cast<T>(first) * step;
  T low = start, high = start;
  for (T i = 0; i < kLanes; ++i) {
    const T mask = static_cast<T>(static_cast<std::int32_t>(active[i]));
    out_of_step |= (base[i] ^ (lane_0 + i * step)) & mask;
    different |= (base[i] ^ start) & mask;
    low = std::min(low, base[i] | static_cast<T>(~mask));
    high = std::max(high, base[i] & mask);
  }
  return {out_of_step == 0, different == 0, u64{different} >> 32 == 0, start - low, high - start};
}

}  // namespace

SIM_VERSIONS
Found meet(u32* written, u32* read, u32 n, u32 words, u32 bound, u32 mine, bool writes) {
  if (words == 1) return meet_words<1>(written, read, n, bound, mine, writes);
  if (words == 2) return meet_words<2>(written, read, n, bound, mine, writes);
  return meet_words<4>(written, read, n, bound, mine, writes);
}

SIM_VERSIONS
Shape shape_of(const u64* base, u64 step, const u32* active, int first) {
  return shape(base, step, active, first);
}

SIM_VERSIONS
Shape shape_of(const u32* base, u32 step, const u32* active, int first) {
  return shape(base, step, active, first);
}

SIM_VERSIONS
bool all_counting(const u32* cells, u32 n, u32 words, u32 first) {
  if (words == 1) return counting<1>(cells, n, first);
  if (words == 2) return counting<2>(cells, n, first);
  return counting<4>(cells, n, first);
}

SIM_VERSIONS
void set_counting(u32* cells, u32 n, u32 words, u32 first) {
  if (words == 1) return count<1>(cells, n, first);
  if (words == 2) return count<2>(cells, n, first);
  count<4>(cells, n, first);
}

SIM_VERSIONS
bool all_equal(const u32* words, u32 value) {
  u32 off = 0;
  for (u32 i = 0; i < kLanes; ++i) off |= words[i] ^ value;
  return off == 0;
}

}  // namespace course::sim::lanes
