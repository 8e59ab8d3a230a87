// SPDX-License-Identifier: MIT
// The constants that were found by trying, per GPU generation, in one place. Host and device; no heavy header.
// A kernel takes its Tuning as a template argument, the host picks one by the device: with_tuning.
#pragma once

namespace course::device {

// How a pass over tiles is cut: a tile has threads * rows packs of 16 bytes.
struct TileTuning {
  unsigned threads;  // in a block
  unsigned rows;     // packs of a thread
  unsigned blocks;   // at least so many on a multiprocessor: bounds the registers
};

}  // namespace course::device
