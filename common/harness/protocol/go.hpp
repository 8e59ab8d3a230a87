// SPDX-License-Identifier: MIT
// Times a run on a GPU by the verifier's own clock. The verifier masks the inputs of a timed case with a key
// and keeps the key. At GO it writes the key into the shared memory and starts its clock. The runner unmasks
// the inputs on the device, runs the student's code, computes a digest of all outputs on the device under the
// same key, and writes the digest, which stops the clock. Before GO there are no usable inputs, and outputs
// that change after the digest no longer match it. A rehearsal without the student's code comes first and
// measures the overhead. Both sides spin on the block, so that no system call lies between them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#ifdef __CUDACC__
#define LAB_BOTH __host__ __device__
#else
#define LAB_BOTH
#endif

namespace course::lab {

inline constexpr std::uint64_t kGoBytes = 4096;  // reserved in the shared memory
inline constexpr std::uint32_t kRehearsal = 0, kRun = 1;

enum class GoStage : std::uint32_t { ready = 1, go = 2, done = 3 };

struct Digest {
  std::uint64_t a = 0, b = 0;
  bool operator==(const Digest&) const = default;
};

// Lies in the shared memory, where both sides may write at any time.
struct GoBlock {
  std::uint32_t stage = 0;
  std::uint32_t reserved = 0;
  std::uint64_t key = 0;
  Digest digest;

  static GoBlock* at(std::span<std::byte> shared, std::uint64_t offset) {
    return reinterpret_cast<GoBlock*>(shared.data() + offset);
  }
  static std::uint32_t code(std::uint32_t round, GoStage stage) {
    return 4 * round + static_cast<std::uint32_t>(stage);
  }
  void set(std::uint32_t round, GoStage to) {
    std::atomic_ref(stage).store(code(round, to), std::memory_order_release);
  }
  bool is(std::uint32_t round, GoStage which) {
    return std::atomic_ref(stage).load(std::memory_order_acquire) == code(round, which);
  }
};

// A keyed stream of pseudorandom numbers: SplitMix64's output i for the seed `key`.
LAB_BOTH inline std::uint64_t keyed(std::uint64_t key, std::uint64_t i) {
  std::uint64_t x = key + 0x9e3779b97f4a7c15u * (i + 1);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}
// The contribution of the i-th word of a buffer (8 bytes; the last one is padded with zeros) to the digest.
LAB_BOTH inline Digest part_of_digest(std::uint64_t key, std::uint64_t i, std::uint64_t word) {
  const std::uint64_t a = keyed(word ^ keyed(key, i), i);
  return {a, keyed(a, word)};
}

// --- The host versions, for the verifier; and what both sides compute.
inline void mask(std::span<std::byte> bytes, std::uint64_t key) {
  for (std::size_t at = 0; at < bytes.size(); at += 8) {
    const std::size_t n = bytes.size() - at < 8 ? bytes.size() - at : 8;
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, n);
    word ^= keyed(key, at / 8);
    std::memcpy(bytes.data() + at, &word, n);
  }
}
inline void add_digest(Digest& digest, std::span<const std::byte> bytes, std::uint64_t key) {
  for (std::size_t at = 0; at < bytes.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, bytes.size() - at < 8 ? bytes.size() - at : 8);
    const Digest part = part_of_digest(key, at / 8, word);
    digest.a += part.a;
    digest.b += part.b;
  }
}
// Each buffer of a case has its own key.
LAB_BOTH inline std::uint64_t key_of_buffer(std::uint64_t key, std::uint64_t buffer) {
  return keyed(key ^ 0x6b65790000000000u, buffer);
}

}  // namespace course::lab
