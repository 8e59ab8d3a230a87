// SPDX-License-Identifier: MIT
// Whether decoding an instruction takes all of it into account. The decoder skips what does not change
// results (cache policies, hints), and words that it does not expect.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/ir.hpp"
#include "sim/machine/op_table.hpp"

namespace course::sim {

// The first modifier that is not taken into account, or the opcode if the whole instruction is not; "" if
// nothing is left out.
std::string_view left_out(const ptx::Instruction& instruction, const OpTable& table);

// The instructions that are decoded by functions and not by one row of the op table, with the modifiers
// besides types that these functions take into account, or that change nothing that is modelled (cache
// hints).
const std::map<std::string_view, std::vector<std::string>>& decoded_words();

}  // namespace course::sim
