// SPDX-License-Identifier: MIT
// The constants that were found by trying, per GPU generation, in one place. A kernel takes its Tuning as a template argument;
// the host picks one by the device: with_tuning. solutions/tune made them: its README.md says how.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace course::device {

// How a pass over tiles is cut: a tile has kThreads * kRows packs of 16 bytes.
template <unsigned kThreads_, unsigned kRows_, unsigned kBlocks_>
struct TileTuning {
  static constexpr unsigned kThreads = kThreads_;  // in a block
  static constexpr unsigned kRows = kRows_;        // packs of a thread
  static constexpr unsigned kBlocks =
      kBlocks_;  // that fit a multiprocessor at once: bounds registers and shared memory
};

// GPU generations that have constants of their own; what is none of them gets those of `other`, which every GPU since sm_75 holds.
enum class Generation { sm_80, sm_90, other };
// That of the current device.
[[maybe_unused]] static Generation generation() {
  int device = 0, major = 0, minor = 0;
  static_cast<void>(cudaGetDevice(&device));
  static_cast<void>(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  static_cast<void>(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
  if (major == 9) return Generation::sm_90;
  return major == 8 && minor == 0 ? Generation::sm_80 : Generation::other;
}

// A lab's constants: one tuning a generation. Measured: sm_90, on an H200. sm_80 and other: the same shape, as far as the
// multiprocessor's shared memory goes.
struct ScanInWaves {
  using Sm80 = TileTuning<256, 8, 2>;
  using Sm90 = TileTuning<256, 8, 2>;
  using Other = TileTuning<256, 4, 2>;
};
struct CompactionInWaves {
  using Sm80 = TileTuning<256, 8, 2>;
  using Sm90 = TileTuning<256, 8, 2>;
  using Other = TileTuning<256, 4, 2>;
};

// Calls f(tuning) with the tuning for this device: a constant, its type says all.
template <typename Tunings, typename F>
auto with_tuning(F f) {
  switch (generation()) {
    case Generation::sm_80: return f(typename Tunings::Sm80{});
    case Generation::sm_90: return f(typename Tunings::Sm90{});
    default: return f(typename Tunings::Other{});
  }
}

// Blocks that work through n_tiles in waves: all that run at the same time, but no more than a block has threads, each of which
// asks one other block (WaveLedger).
template <typename Tuning>
unsigned blocks_in_a_wave(std::uint64_t n_tiles, int multiprocessors) {
  std::uint64_t n_blocks = std::uint64_t{Tuning::kBlocks} * static_cast<unsigned>(multiprocessors);
  if (n_blocks > Tuning::kThreads) n_blocks = Tuning::kThreads;
  return static_cast<unsigned>(n_blocks < n_tiles ? n_blocks : n_tiles);
}

}  // namespace course::device
