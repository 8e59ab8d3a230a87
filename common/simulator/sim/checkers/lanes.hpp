// SPDX-License-Identifier: MIT
// Operations of the checkers on many lanes at once, in loops that the compiler vectorises. A cell is one
// 32-bit word of shadow memory and stands for 4 bytes of memory. Adjacent lanes that access `words` words
// each have adjacent cells.
#pragma once

#include <cstdint>

#include "sim/machine/warp.hpp"

namespace course::sim::lanes {

// The pattern of the addresses of the active lanes.
struct Shape {
  bool in_step;                // each is `step` bytes after that of the previous lane
  bool same;                   // all are equal
  bool close;                  // they differ in the low 32 bits only
  std::uint64_t below, above;  // how far the lowest and the highest one are from the first
};

// `base`: the address registers, by lane. `active`: all ones for each active lane, else 0. `first`: the first
// active lane.
Shape shape_of(const std::uint64_t* base, std::uint64_t step, const std::uint32_t* active, int first);
Shape shape_of(const std::uint32_t* base, std::uint32_t step, const std::uint32_t* active, int first);

// Whether the cells contain `first` for the first lane, `first + 1` for the next one and so on, `words` cells
// per lane.
bool all_counting(const std::uint32_t* cells, std::uint32_t n, std::uint32_t words, std::uint32_t first);
void set_counting(std::uint32_t* cells, std::uint32_t n, std::uint32_t words, std::uint32_t first);

// Checks the cells of adjacent lanes all at once. If all of them, for writes and for reads, are below
// `bound`, which is the usual case, stores `mine` for the first lane, `mine + 1` for the next and so on in
// `written` if `writes`, otherwise in `read`.
struct Found {
  bool written_below, read_below;  // all cells for writes, all cells for reads
  bool read_counting;              // the cells for reads count up by lane from their first value
  bool done;                       // the cells have been stored
};
Found meet(std::uint32_t* written, std::uint32_t* read, std::uint32_t n, std::uint32_t words,
           std::uint32_t bound, std::uint32_t mine, bool writes);

// Whether all 32 words equal `value`.
bool all_equal(const std::uint32_t* words, std::uint32_t value);

}  // namespace course::sim::lanes
