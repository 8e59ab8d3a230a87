// SPDX-License-Identifier: MIT
// What becomes of the bits of a register that come from bytes of memory that were never written, while others
// of the same register have been: padding, for example. Each lane has one mask of missing bits.
#pragma once

#include <array>
#include <cstdint>

#include "sim/machine/warp.hpp"

namespace course::sim {

using LaneBits = std::array<std::uint64_t, kLanes>;

// How an op treats missing bits of its sources.
struct BitRule {
  enum How : std::uint8_t {
    uses,     // they change the result in a way that is not followed
    routes,   // moves the bits of the first `data` sources; the others say where to
    logic,    // bit by bit, by the table of lop3
    carries,  // the lowest missing bit changes all bits above it
    halves,   // each 16-bit half by itself
    orders,   // compares integers; the result may be the same whatever the bits are
    equals,
    swaps,  // an atomic that stores source `data` without looking at its bits
  } how = uses;
  std::uint8_t data = 0, table = 0, bits = 64;  // bits: of a source that count
  bool is_signed = false;                       // for `orders`

  std::uint64_t counted() const { return bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1; }
};
BitRule bit_rule(const MicroOp& op);

// What the op's first result would be if the first `n` sources were these. Changes nothing.
LaneBits result_of(Warp& w, const MicroOp& op, const LaneBits* sources, std::uint32_t n);

// The missing bits of the op's result, for each way but uses, equals and swaps. For `orders`, not 0 if the
// result depends on them.
LaneBits missing_after(Warp& w, const MicroOp& op, const BitRule& rule,
                       const std::array<LaneBits, 4>& missing);

}  // namespace course::sim
