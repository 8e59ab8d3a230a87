// SPDX-License-Identifier: MIT
// Loads and stores of a kernel's code that together may be one change of a word, as in s_counts[b]++.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "sim/machine/program.hpp"

namespace course::sim::race {

// Whether the store comes after the load, without starting a loop again, and writes what it reads.
bool comes_back_to(const Program& program, const MicroOp& load, const MicroOp& store);
// The same, addressed by the same register.
bool are_of_one_change(const Program& program, const MicroOp& load, const MicroOp& store);
bool changes_what_it_reads(const Program& program, const MicroOp& store);

bool is_in_loop(const Program& program, const MicroOp& op);

// The strong loads and stores, by number, that may together be one change of a word; and whether the stored
// value is computed from the loaded one.
using Changes = std::map<std::pair<std::uint32_t, std::uint32_t>, bool>;
Changes changes_of(const Program& program);

}  // namespace course::sim::race
