// SPDX-License-Identifier: MIT
// The constants of the timing model: how long a chip takes for each thing that the counters count. Data;
// common/sim/chips/ holds it for each chip, calibration/ says how it was found.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace course::sim {

// Instructions that cost alike.
enum class InstructionKind : std::uint8_t {
  light,      // moves, address spaces, parameters: the compiler makes most of them vanish
  integer,    // also compare, select, logic and shifts
  half_rate,  // 32-bit multiplications and shifts
  floating,   // 32-bit and 16-bit
  special,    // bit counts, conversions to and from floats, approximations
  wide,       // 64-bit integer: two or more 32-bit ones
  wide_multiply,
  divide,  // integer division, a routine
  doubles,
  exchange,  // shuffles, votes
  match,     // match.any, redux
  memory,
  fence,
  control,
  barrier,
};
inline constexpr std::size_t kInstructionKinds = 15;
inline constexpr std::array<const char*, kInstructionKinds> kInstructionNames{
    "light",   "integer",  "half_rate", "floating", "special", "wide",    "wide_multiply", "divide",
    "doubles", "exchange", "match",     "memory",   "fence",   "control", "barrier"};

struct Timing {
  // Clocks of one of a multiprocessor's four schedulers that a warp instruction takes up, those that the unit which executes it
  // takes, and those until its result is there.
  std::array<double, kInstructionKinds> issue{0.3, 1, 1, 1, 1, 2.5, 6, 20, 1, 1, 4, 1, 1, 1, 1};
  std::array<double, kInstructionKinds> unit{0, 1, 2, 1, 8, 2.5, 8, 20, 2, 4, 22, 4, 1, 1, 8};
  std::array<double, kInstructionKinds> latency{1, 4.6, 4.3, 4.3, 18, 5, 16, 57, 6.4, 23, 50, 8, 690, 8, 0};
  // Clocks until a load's value is there, from the nearest place that has it.
  double shared_latency = 24, near_latency = 38, l2_latency = 270, memory_latency = 690;
  double fetch_latency = 700;    // a global atomic whose old value is used
  double publish_latency = 300;  // until another block can see what one has written
  double barrier_latency = 12, barrier_latency_per_warp = 1.95;
  double block_latency = 400;        // a block's start and end
  double conflict_latency = 1;       // each further pass of an access to shared memory
  double shared_atomic_latency = 4;  // each lane that waits for others at its address
  // Rates.
  double near_passes_per_clock = 1;     // of a multiprocessor's shared memory and first-level cache
  double shared_atomics_per_clock = 1;  // passes, of a multiprocessor
  double l2_sectors_per_clock = 100;    // of the chip
  double partial_cost = 2.5;            // of a sector that is stored in part, in whole ones
  double l2_share = 0.6;                // of its size that holds data for all multiprocessors
  double hot_atomics_per_clock =
      0.69;  // lanes that a slice of the second-level cache does one after the other
  double atomic_sectors_per_clock = 40;  // global atomics, of the chip
  double blocks_per_clock = 0.85;        // that start, of the chip
  double write_share = 0.95;             // of written bytes that hold up the memory
  // Launches, µs.
  double kernel_us = 1.7;  // an empty kernel, from start to end
  double submit_us = 4.4;  // the host needs for a launch
  double gap_us = 0.5;     // between two kernels of a stream
  double blend = 2;        // how much of the lesser bounds adds to the greatest: 1 all, many nothing
};

}  // namespace course::sim
