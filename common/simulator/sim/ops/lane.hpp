// SPDX-License-Identifier: MIT
// Lanes: reading and writing one value per lane in register slots, and the only code that depends on the
// host's vector unit. Included once per instruction set (SIM_ISA), in a namespace of its own, so that no
// inline code is shared between instruction sets.
// Invariant: a slot of 4-byte lanes has 8-, 16- and 32-bit values in its low bits. Readers truncate; writers
// sign- or zero-extend, as PTX requires for destinations wider than the type.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "sim/machine/warp.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace course::sim::SIM_ISA {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s8 = std::int8_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;
__extension__ using u128 = unsigned __int128;
__extension__ using s128 = __int128;
using f32 = float;
using f64 = double;

// The iterations of a lane loop are independent: iteration i only accesses lane i.
#if defined(__clang__)
#define SIM_FOR_LANES(i) for (int i = 0; i < kLanes; ++i)
#else
#define SIM_FOR_LANES(i) _Pragma("GCC ivdep") for (int i = 0; i < kLanes; ++i)
#endif

// Collects the top bits of 32 words in one mask.
inline u32 mask_of(const u32* words) {
#if defined(__AVX512F__) && defined(__AVX512DQ__)
  const u32 low = _mm512_movepi32_mask(_mm512_load_si512(words));
  const u32 high = _mm512_movepi32_mask(_mm512_load_si512(words + 16));
  return low | high << 16;
#elif defined(__AVX2__)
  u32 mask = 0;
  for (int k = 0; k < 4; ++k) {
    const __m256 part = _mm256_load_ps(reinterpret_cast<const float*>(words + 8 * k));
    mask |= static_cast<u32>(_mm256_movemask_ps(part)) << (8 * k);
  }
  return mask;
#else
  u32 mask = 0;
  for (int i = 0; i < kLanes; ++i) mask |= (words[i] >> 31) << i;
  return mask;
#endif
}

template <typename T>
using Stored = std::conditional_t<sizeof(T) == 8, u64, u32>;

template <typename T>
inline T from_stored(Stored<T> raw) {
  if constexpr (std::is_floating_point_v<T>)
    return std::bit_cast<T>(raw);
  else
    return static_cast<T>(raw);
}

template <typename T>
inline Stored<T> to_stored(T value) {
  if constexpr (std::is_floating_point_v<T>)
    return std::bit_cast<Stored<T>>(value);
  else if constexpr (std::is_signed_v<T>)
    return static_cast<Stored<T>>(static_cast<std::make_signed_t<Stored<T>>>(value));
  else
    return static_cast<Stored<T>>(value);
}

// One input of a lane loop: a slot of values, or a predicate mask.
template <typename T>
struct Source {
  const Stored<T>* lanes;
  explicit Source(Warp& w, u32 slot) : lanes(w.slot<const Stored<T>>(slot)) {}
  T operator[](int i) const { return from_stored<T>(lanes[i]); }
};
template <>
struct Source<bool> {
  alignas(
      64) u32 lanes[kLanes];  // from the bits of one word, selections would not become vector instructions
  explicit Source(Warp& w, u32 slot) { SIM_FOR_LANES(i) lanes[i] = w.predicate(slot) >> i & 1u; }
  bool operator[](int i) const { return lanes[i] != 0; }
};

// Computes `value(i)` for each lane and stores it for the active lanes.
template <typename T, typename Value>
inline void write_lanes(Warp& w, u32 slot, const Value& value) {
  if constexpr (std::is_same_v<T, bool>) {
    alignas(64) u32 words[kLanes];
    SIM_FOR_LANES(i) words[i] = value(i) ? ~0u : 0u;
    u32& out = w.predicate(slot);
    out = (out & ~w.mask) | (mask_of(words) & w.mask);
  } else if (w.mask == kAllLanes) {
    auto* out = w.slot<Stored<T>>(slot);
    SIM_FOR_LANES(i) out[i] = to_stored<T>(value(i));
  } else {
    auto* out = w.slot<Stored<T>>(slot);
    const u32* keep = w.lane_mask;
    SIM_FOR_LANES(i) {
      const auto m = static_cast<Stored<T>>(static_cast<s64>(static_cast<s32>(keep[i])));
      out[i] = (to_stored<T>(value(i)) & m) | (out[i] & ~m);
    }
  }
}

}  // namespace course::sim::SIM_ISA
