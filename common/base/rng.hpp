// SPDX-License-Identifier: MIT
// Random numbers that are the same on every machine: SplitMix64, and functions that mix seeds. Not suitable
// for secrets.
// Source: G. Steele, D. Lea, C. Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014.
#pragma once

#include <cstdint>
#include <string_view>

namespace course {

// SplitMix64's mixing function: a bijection of 64-bit numbers whose outputs look random.
constexpr std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// The 64-bit FNV-1a hash of a text, the same on every machine.
constexpr std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

// Derives the seed of a part from a common seed. Parts with different names get unrelated seeds.
constexpr std::uint64_t seed_for(std::uint64_t seed, std::string_view part) {
  return mix(seed + 0x9e3779b97f4a7c15u * (hash_of(part) | 1));
}

// A stream of random numbers. Satisfies UniformRandomBitGenerator, but the distributions of <random> differ
// between libraries, so use the members below.
class Rng {
 public:
  using result_type = std::uint64_t;  // NOLINT(readability-identifier-naming): the standard's name
  explicit constexpr Rng(std::uint64_t seed) : state_(seed) {}
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return ~result_type{0}; }

  constexpr std::uint64_t operator()() {
    state_ += 0x9e3779b97f4a7c15u;
    return mix(state_);
  }
  // Uniform in [0, bound), bound > 0; the bias is below 2^-32 for bounds below 2^32.
  constexpr std::uint64_t below(std::uint64_t bound) {
    if (bound <= 0xffffffffu) return ((*this)() >> 32) * bound >> 32;
    return (*this)() % bound;
  }
  // Uniform in [0, 1), a multiple of 2^-53.
  constexpr double unit() { return static_cast<double>((*this)() >> 11) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

}  // namespace course
