// SPDX-License-Identifier: MIT
// Hierarchical scan: the prefixes of an array of any length, tile by tile. The lab's API and its operators.
// Read: the operators, Job (what a task gets), the sizes, Rung (the tasks). points.hpp says what the tasks
// are worth; dispatch.hpp turns a request into a Job. The student's .cu file, the solutions, the CPU side
// (problem.cpp) and the tests include this header, so it includes no large header.
// Invariant: op(a, op(b, c)) == op(op(a, b), c) up to rounding, and op(identity, a) == a == op(a, identity).
// An operator need not be commutative, so keep the operands in order.
#pragma once

#include <cstdint>

#include "lab/operators.hpp"
#include "lab/request.hpp"
#include "lab/scan_kinds.hpp"

namespace course::hierarchical_scan {

using lab::Affine;
using lab::AffineMap;
using lab::Max;
using lab::not_implemented;
using lab::Status;
using lab::Sum;

// --- Operators: lab/operators.hpp defines them. Affine combines maps x -> scale * x + shift of 32-bit
// numbers: first a, then b. It is not commutative. A map is an item of 8 bytes (DType::u64): scale, then
// shift.
using OpId = lab::ScanOp;

// inclusive: d_out[i] = x0 op x1 op … op xi. exclusive: without xi itself, so d_out[0] is the identity.
using Kind = lab::ScanKind;

// --- What a task gets. All pointers are device memory that the harness owns: do not allocate memory, and
// never write d_in. Floats that are added are finite; maxima get NaN and infinities, too, but item 0 is not
// NaN.
template <typename Op_>
struct Job {
  using Op = Op_;
  using Value = typename Op::Value;
  const Value* d_in = nullptr;  // n items; aligned to sizeof(Value) only
  std::uint64_t n = 0;          // may be 0: then there is nothing to do
  Value* d_out = nullptr;       // n results; aligned like d_in; the two arrays never overlap
  Kind kind = Kind::inclusive;
  Op op{};                           // op(a, b), op.identity()
  Value* d_sums = nullptr;           // space for sums_count Values; aligned to 256 bytes; contents undefined
  std::uint64_t sums_count = 0;      // n / 16 + 1024
  std::uint32_t* d_flags = nullptr;  // space for flags_count words; aligned to 256 bytes; contents undefined
  std::uint64_t flags_count = 0;     // n / 32 + 1024
  int multiprocessors = 1;           // to use, in some cases fewer than the device has
  CUstream_st* stream = nullptr;     // launch here; no need to synchronise, the harness does
};

// --- Sizes. Numbers of items and tiles are 64 bits wide: 2^31 items are 8 GiB, and devices have more memory.

// Space for the sums of all levels, and for two values per tile, if a tile has at least 32 items.
constexpr std::uint64_t sums_count(std::uint64_t n) {
  return n / 16 + 1024;
}
constexpr std::uint64_t flags_count(std::uint64_t n) {
  return n / 32 + 1024;
}

// Items that one block scans.
inline constexpr std::uint32_t kTile = 2048;

// The most items that task two_levels takes: as many tiles as a tile has items. It must refuse more with
// Status::unsupported.
inline constexpr std::uint64_t kTwoLevelItems = std::uint64_t{kTile} * kTile;

// --- Tasks, in the order of points.hpp, then the rungs of the ladder that only the solutions have.
enum class Rung : std::uint32_t {
  two_levels,
  recursive,
  reduce_then_scan,
  chained,
  look_back,
  // only in the solutions:
  one_word,
  warp_look_back,
  state_of_the_art,
};

Status run(const lab::Request& request);  // the last lines of hierarchical_scan.cu

}  // namespace course::hierarchical_scan

#include "hierarchical_scan/dispatch.hpp"
