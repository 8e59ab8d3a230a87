// SPDX-License-Identifier: MIT
// What the checkers do to 32 lanes at once, in loops that vectorise. A cell is one 32-bit word of shadow memory and stands for
// 4 bytes of memory; an access of `words` words a lane by 32 adjacent lanes covers 32 · words adjacent cells.
#pragma once

#include <cstdint>

#include "sim/warp.hpp"

namespace course::sim::lanes {

// at[i] = base + add, lane by lane. Returns whether lane i + 1 starts `step` bytes after lane i everywhere.
bool add(std::uint64_t* at, const std::uint64_t* base, std::uint64_t add, std::uint64_t step);
bool add(std::uint64_t* at, const std::uint32_t* base, std::uint32_t add, std::uint64_t window,
         std::uint64_t step);

// Are all 32 · words cells below `bound`?
bool all_below(const std::uint32_t* cells, std::uint32_t words, std::uint32_t bound);

// Do lane 0's cells hold `first`, lane 1's `first + 1` …?
bool all_counting(const std::uint32_t* cells, std::uint32_t words, std::uint32_t first);
void set_counting(std::uint32_t* cells, std::uint32_t words, std::uint32_t first);

// Are all 32 words equal to `value`?
bool all_equal(const std::uint32_t* words, std::uint32_t value);

}  // namespace course::sim::lanes
