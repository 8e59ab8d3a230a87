// SPDX-License-Identifier: MIT
// What the checkers do to many lanes at once, in loops that vectorise. A cell is one 32-bit word of shadow memory and stands
// for 4 bytes of memory; lanes that access neighbouring places, `words` words each, have neighbouring cells.
#pragma once

#include <cstdint>

#include "sim/machine/warp.hpp"

namespace course::sim::lanes {

// How the addresses of the active lanes lie.
struct Shape {
  bool in_step;  // each `step` bytes after the one of the lane before
  bool same;     // all alike
  bool close;    // they differ in the low 32 bits only
};

// Of what registers hold. `active`: all ones for the active lanes, of which `first` is the first.
Shape shape_of(const std::uint64_t* base, std::uint64_t step, const std::uint32_t* active, int first);
Shape shape_of(const std::uint32_t* base, std::uint32_t step, const std::uint32_t* active, int first);

// Do the first lane's `words` cells hold `first`, the next lane's `first + 1` …?
bool all_counting(const std::uint32_t* cells, std::uint32_t n, std::uint32_t words, std::uint32_t first);
void set_counting(std::uint32_t* cells, std::uint32_t n, std::uint32_t words, std::uint32_t first);

// A run of lanes looks at its cells, all at once. Where those for writes and for reads are below `bound`, it leaves its own
// (counting from `mine`) in one of them: the usual case.
struct Found {
  bool written_below, read_below;  // all of them
  bool read_counting;              // as above, from the first
  bool done;
};
Found meet(std::uint32_t* written, std::uint32_t* read, std::uint32_t n, std::uint32_t words,
           std::uint32_t bound, std::uint32_t mine, bool writes);

// 32 cells, of which those of the active lanes count: where each for writes is below `bound` or `own_written` + its lane, and each for
// reads below it or `own_read` + its lane, leaves `mine` + lane in those of `written` or of `read`.
bool meet_with_gaps(std::uint32_t* written, std::uint32_t* read, const std::uint32_t* active,
                    std::uint32_t bound, std::uint32_t own_written, std::uint32_t own_read,
                    std::uint32_t mine, bool writes);

// Are all 32 words equal to `value`?
bool all_equal(const std::uint32_t* words, std::uint32_t value);

}  // namespace course::sim::lanes
