// SPDX-License-Identifier: MIT
// Constants that were found by measuring, per compute capability, in one place. A kernel takes its tuning as
// a template argument; the host chooses one for the device with with_tuning.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "device/launch.hpp"

namespace course::device {

// The shape of a tile: kThreads * kRows vectors of 16 bytes.
template <unsigned kThreads_, unsigned kRows_, unsigned kBlocks_>
struct TileTuning {
  static constexpr unsigned kThreads = kThreads_;  // per block
  static constexpr unsigned kRows = kRows_;        // vectors per thread
  static constexpr unsigned kBlocks =
      kBlocks_;  // per multiprocessor at once: limits registers and shared memory
};

// A ring of tiles of that shape in shared memory.
template <typename Tile, unsigned kLag_, unsigned kSlots_>
struct RingTuning : Tile {
  static constexpr unsigned kLag = kLag_;      // steps between the arrival of a tile and its results
  static constexpr unsigned kSlots = kSlots_;  // tiles in the ring: kLag and those that are being loaded
};

// A lab's constants: one row per compute capability (80 is sm_80). The row of 90 had the lowest geometric
// mean of times at 2^20, 2^24 and 2^28 items on an H200, of all shapes tried. A GPU without a row uses Other,
// which fits every GPU since sm_75. The row of 80 is not measured: it is that of 90, as far as the
// multiprocessor's shared memory allows.
template <unsigned kCapability_, typename Tuning_>
struct Row {
  static constexpr unsigned kCapability = kCapability_;
  using Tuning = Tuning_;
};
template <typename... Rows>
struct Table {};

struct ScanInWaves {
  using Measured = Table<Row<80, RingTuning<TileTuning<256, 3, 2>, 3, 6>>,
                         Row<90, RingTuning<TileTuning<256, 4, 2>, 3, 6>>>;
  using Other = RingTuning<TileTuning<256, 2, 1>, 3, 6>;
};
struct CompactionInWaves {
  using Measured = Table<Row<80, RingTuning<TileTuning<256, 3, 2>, 4, 6>>,
                         Row<90, RingTuning<TileTuning<256, 4, 2>, 4, 6>>>;
  using Other = RingTuning<TileTuning<256, 2, 1>, 4, 6>;
};

// The compute capability of the current device.
[[maybe_unused]] static unsigned capability() {
  return static_cast<unsigned>(10 * attribute(cudaDevAttrComputeCapabilityMajor) +
                               attribute(cudaDevAttrComputeCapabilityMinor));
}

template <typename Other, typename F>
auto with_row(Table<>, F f) {
  return f(Other{});
}
template <typename Other, typename First, typename... Rest, typename F>
auto with_row(Table<First, Rest...>, F f) {
  return capability() == First::kCapability ? f(typename First::Tuning{})
                                            : with_row<Other>(Table<Rest...>{}, f);
}
// Calls f(tuning) with the tuning for this device. Its type holds all constants.
template <typename Tunings, typename F>
auto with_tuning(F f) {
  return with_row<typename Tunings::Other>(typename Tunings::Measured{}, f);
}

// Number of blocks that process n_tiles in waves: as many as run at the same time, but at most as many as a
// block has threads, because each thread reads the total of one other block's tile (WaveTotals).
template <typename Tuning>
unsigned blocks_in_a_wave(std::uint64_t n_tiles, int multiprocessors) {
  std::uint64_t n_blocks = std::uint64_t{Tuning::kBlocks} * static_cast<unsigned>(multiprocessors);
  if (n_blocks > Tuning::kThreads) n_blocks = Tuning::kThreads;
  return static_cast<unsigned>(n_blocks < n_tiles ? n_blocks : n_tiles);
}

}  // namespace course::device
