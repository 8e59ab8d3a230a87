// SPDX-License-Identifier: MIT
// How the results of an op depend on the values of its operands: a property of its row in the op table, for
// the observers that follow values (value_tracker.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "sim/machine/program.hpp"

namespace course::sim {

struct FlowRule {
  // What becomes of single bits.
  enum How : std::uint8_t {
    uses,     // they change the result in a way that is not followed
    routes,   // moves the bits of the first `data` sources; the others say where to
    logic,    // bit by bit, by the table of lop3
    carries,  // each bit changes those above it
    halves,   // each 16-bit half by itself
    orders,   // compares integers; the result may be the same whatever the bits are
    equals,
    swaps,  // an atomic that stores source `data` without looking at its bits
  } how = uses;
  // Which 32-bit words of the sources the words of a 64-bit result contain, or a word of a 64-bit source.
  enum Words : std::uint8_t { all, packs, high_word, low_word, both_words } words = all;
  std::uint8_t data = 0, table = 0, bits = 64;  // bits: of a source that count
  bool is_signed = false;                       // for `orders`
  bool selects = false;                         // one of the first two sources, by the third
  bool carry_in = false, carry_out = false;

  std::uint64_t counted() const { return bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1; }
};

// Of the row with this key.
FlowRule flow_rule(std::string_view key);

using LaneBits = std::array<std::uint64_t, 32>;

// What the op's first result would be if the first `n` sources were these. Changes nothing.
LaneBits result_of(Warp& w, const MicroOp& op, const LaneBits* sources, std::uint32_t n);

// The lanes whose values a shuffle gives to each lane.
LaneBits lanes_read(Warp& w, const MicroOp& shuffle);

}  // namespace course::sim
