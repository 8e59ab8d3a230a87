// SPDX-License-Identifier: MIT
// Random numbers that are the same on every machine: SplitMix64, and functions that mix seeds. Not suitable
// for secrets, except one_way.
// Source: G. Steele, D. Lea, C. Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014;
// J.-P. Aumasson, D. J. Bernstein, "SipHash: a fast short-input PRF", INDOCRYPT 2012.
#pragma once

#include <bit>
#include <cstddef>
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

// Like seed_for, but who learns the seeds of some parts can calculate neither the common seed nor that of
// another part: SipHash-2-4, with the seed as the first half of the key.
constexpr std::uint64_t one_way(std::uint64_t seed, std::string_view part, std::uint64_t half = 0) {
  std::uint64_t v[4] = {seed ^ 0x736f6d6570736575u, half ^ 0x646f72616e646f6du, seed ^ 0x6c7967656e657261u,
                        half ^ 0x7465646279746573u};
  const auto rounds = [&](int n) {
    for (; n > 0; --n) {
      v[0] += v[1], v[2] += v[3];
      v[1] = std::rotl(v[1], 13) ^ v[0], v[3] = std::rotl(v[3], 16) ^ v[2];
      v[0] = std::rotl(v[0], 32) + v[3], v[2] += v[1];
      v[1] = std::rotl(v[1], 17) ^ v[2], v[3] = std::rotl(v[3], 21) ^ v[0];
      v[2] = std::rotl(v[2], 32);
    }
  };
  for (std::size_t at = 0; at <= part.size(); at += 8) {
    std::uint64_t word = at + 8 > part.size() ? std::uint64_t{part.size()} << 56 : 0;
    for (std::size_t k = 0; k < 8 && at + k < part.size(); ++k)
      word |= std::uint64_t{static_cast<unsigned char>(part[at + k])} << 8 * k;
    v[3] ^= word;
    rounds(2);
    v[0] ^= word;
  }
  v[2] ^= 0xff;
  rounds(4);
  return v[0] ^ v[1] ^ v[2] ^ v[3];
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
  // Uniform in [0, bound), bound > 0. If bound is below 2^32, the probability of a value differs from 1 /
  // bound by less than 2^-32.
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
