// SPDX-License-Identifier: MIT
// The constants of the timing model: how long a chip takes for each thing that the counters count. Plain
// data. common/simulator/sim/chips/ holds the values of each chip; calibration/ says how they were measured.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace course::sim {

// Instructions that cost the same.
enum class InstructionKind : std::uint8_t {
  light,      // moves, conversions of integers and addresses, parameters: most are removed by the compiler
  integer,    // also compare, select and logic
  half_rate,  // multiplications of up to 32 bits, shifts, bit fields, permutations of bytes
  floating,   // 32-bit and 16-bit
  special,    // bit counts, conversions to and from floats, approximate functions
  wide,       // 64-bit integers: two or more 32-bit instructions
  wide_multiply,
  divide,  // integer division: a routine of many instructions
  doubles,
  exchange,  // shuffles, votes
  match,     // match, redux
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
  // Per warp instruction, in clocks: how long it occupies one of the four schedulers of a multiprocessor, how
  // long it occupies the unit that executes it, and how long until its result is available.
  std::array<double, kInstructionKinds> issue{0.3, 1, 1, 1, 1, 2.5, 6, 20, 1, 1, 4, 1, 1, 1, 1};
  std::array<double, kInstructionKinds> unit{0, 1, 2, 1, 8, 2.5, 8, 20, 2, 4, 22, 4, 1, 1, 8};
  std::array<double, kInstructionKinds> latency{1, 4.6, 4.3, 4.3, 18, 5, 16, 57, 6.4, 23, 50, 8, 690, 8, 0};
  // Clocks until a loaded value is available, by where it is found: shared memory, L1, L2 or DRAM.
  double shared_latency = 24, near_latency = 38, l2_latency = 270, memory_latency = 690;
  double fetch_latency = 700;    // of a global atomic whose old value is used
  double publish_latency = 300;  // until another block can see a value that a block has written
  double barrier_latency = 12, barrier_latency_per_warp = 1.95;
  double block_latency = 400;        // to start and end a block
  double conflict_latency = 1;       // of each further wavefront of an access to shared memory
  double shared_atomic_latency = 4;  // of each further lane on the same address
  // Rates, shares and costs.
  double near_passes_per_clock = 1;     // wavefronts of shared memory and L1 lines, of a multiprocessor
  double shared_atomics_per_clock = 1;  // wavefronts, of a multiprocessor
  // Sectors that a multiprocessor gets from the L2. On an H200, a block of 1,024 threads with 64 bytes each
  // in flight takes 6.4 us longer for 1 MiB than for 256 KiB (family "in flight"), so it gets 1.94 per clock.
  double near_sectors_per_clock = 2;
  // Passes that take as long as one of a loop with ATOMS.CAST.SPIN: an addition of floats or of 64 bits in
  // shared memory. With 32 warps on an H200, an instruction takes 11 clocks for f32 and 15 for 64 bits if no
  // lanes meet, 58 and 109 on 32 random words, 139 and 170 on one, so 4 is less than measured. An integer
  // addition of 32 bits takes at most 3 with these addresses.
  double loop_passes = 4;
  // Sectors of its own data that the L2 can serve, of the chip. What a sector costs that comes from memory
  // or is written (it also moves between the halves of the L2), and one that is partly written: in sectors.
  double l2_sectors_per_clock = 100;
  double l2_fill_cost = 1.5, partial_cost = 2.5;
  double memory_efficiency = 0.885;      // achievable bandwidth of memory / bandwidth of the data sheet
  double l2_efficiency = 0.95;           // the same for the L2
  double l2_share = 0.6;                 // fraction of the L2 that holds data for all multiprocessors
  double hot_atomics_per_clock = 0.69;   // lanes that one L2 slice handles one after the other
  double atomic_sectors_per_clock = 40;  // global atomics, of the chip
  double blocks_per_clock = 0.85;        // blocks that start, of the chip
  double write_share = 0.95;             // fraction of the written bytes that counts as DRAM traffic
  // Launches, in µs.
  double kernel_us = 1.7;        // an empty kernel, from start to end
  double first_access_us = 0.8;  // the wait for the first data of a kernel that reads from memory
  double submit_us = 4.4;        // that the host needs for a launch
  double gap_us = 0.5;           // between two kernels of a stream
  // Exponent with which overlapping bounds are combined: 1 adds them, a large value takes the greatest
  // (model.cpp).
  double blend = 2;
};

// How long each unit of one multiprocessor is busy: shared memory and L1, the schedulers or the busiest unit
// behind them, atomics in shared memory, the way from the L2. In clocks.
using UnitClocks = std::array<double, 4>;

}  // namespace course::sim
