// SPDX-License-Identifier: MIT
// Which products the assembler contracts: a·b + c with one rounding instead of two. nvcc leaves this to ptxas
// where it writes mul and add or sub without a rounding modifier (its default, -fmad=true), except where it
// writes fma itself. Private to this folder.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/ir.hpp"

namespace course::sim {

struct Contraction {
  std::int32_t product = -1;  // the instruction that multiplies, or -1: none
  std::size_t operand = 0;    // of the sum, 1 or 2, which the product replaces
  bool negated = false;       // a neg stands between the two
};

struct Contractions {
  std::vector<Contraction> into;   // by instruction: the product that is contracted into this sum
  std::vector<bool> contracted;    // by instruction: this product is contracted into a sum …
  std::vector<bool> vanishes;      // … and into all sums that use it, so it is not computed by itself
  std::vector<bool> written_once;  // by register: one instruction writes it
};

// Follows ptxas 13.0 for sm_90. Nothing is contracted in a module that was compiled with -G.
Contractions contractions_of(const ptx::Module& module, const ptx::Function& f);

}  // namespace course::sim
