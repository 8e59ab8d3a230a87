// SPDX-License-Identifier: MIT
// Scan: combine every prefix of a row with an associative operator. The lab's API and its operators.
// Read: the operators, Job (what a task gets), max_row_length, Rung (the tasks). points.hpp says what the
// tasks are worth; dispatch.hpp turns a request into a Job. The student's .cu file, the solutions, the CPU
// side (problem.cpp) and the tests include this header, so it includes no large header.
// Invariant: for every operator, op(a, op(b, c)) == op(op(a, b), c) up to rounding, and op(identity, a) == a
// == op(a, identity); op(a, b) == op(b, a) for all of them except Affine.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lab/operators.hpp"
#include "lab/request.hpp"

namespace course::scan {

using lab::not_implemented;
using lab::Status;

// --- Operators: lab/operators.hpp defines them. Items, partial results and results all have the type
// Op::Value. Same code on host and device.

enum class OpId : std::uint32_t { sum, min, max, affine };
constexpr std::uint32_t kOpCount = 4;
constexpr const char* name_of(OpId op) {
  constexpr const char* kNames[] = {"sum", "min", "max", "affine"};
  return kNames[static_cast<std::uint32_t>(op)];
}

using lab::Affine;
using lab::Max;
using lab::Min;
using lab::Sum;

// An affine map is one 8-byte element: scale in the low half, shift in the high half.
static_assert(sizeof(lab::AffineMap<std::uint32_t>) == lab::bytes_of(lab::DType::u64));

// --- What is computed. The n items are divided into rows of row_length items; the last row may be shorter.
// Each row is scanned on its own. Result p of a row x is
//   inclusive: x[0] op x[1] op … op x[p]            (p + 1 items)
//   exclusive: identity op x[0] op … op x[p - 1]    (p items; result 0 is the identity)
// The items are combined in this order, because Affine is not commutative.
enum class Kind : std::uint32_t { exclusive, inclusive };
constexpr const char* name_of(Kind kind) {
  return kind == Kind::exclusive ? "exclusive" : "inclusive";
}

// --- What a task gets. All pointers are device memory that the harness owns: do not allocate memory, and
// never write d_in or d_heads. A Job may be passed to a kernel by value. Floats that are added are finite;
// minima and maxima get NaN and infinities, too, but a row or segment starts with a number.
template <typename Op_>
struct Job {
  using Op = Op_;
  using Value = typename Op::Value;
  const Value* d_in = nullptr;            // n items; aligned to lab::bytes_of(the item type) only
  const std::uint8_t* d_heads = nullptr;  // task "segmented": n flags, 1 where a segment starts, else 0
  std::uint64_t n = 0;                    // number of items; may be 0: then there is nothing to do
  std::uint32_t row_length = 1;           // items in a row, 1 … max_row_length(rung); may be more than n
  std::uint64_t n_rows = 0;               // ⌈n / row_length⌉
  Value* d_out = nullptr;                 // n results, in the items' order; 256-byte aligned
  Op op{};                                // op(a, b), op.identity()
  Kind kind = Kind::exclusive;
  // n Values; contents undefined. For kernels that work in global memory.
  Value* d_scratch = nullptr;
  CUstream_st* stream = nullptr;  // launch here; no need to synchronise, the harness does
};

constexpr std::uint64_t rows_of(std::uint64_t n, std::uint32_t row_length) {
  return n / row_length + (n % row_length != 0);
}

// --- Tasks, in the order of points.hpp, then the rungs of the ladder that only the solutions have.
enum class Rung : std::uint32_t {
  global_rounds,
  hillis_steele,
  blelloch,
  kogge_stone,
  coarsened,
  segmented,
  // only in the solutions:
  brute_force,
  compact,
  conflict_free,
  block_scan,
  state_of_the_art,
};

// The longest row that a rung must handle: as many items as its threads or its shared memory can hold.
// The lab on hierarchical scans handles arrays of any length as one row.
constexpr std::uint32_t kWarpRow = 32;       // one item for each lane of a warp
constexpr std::uint32_t kThreadRow = 1024;   // one item for each thread of a block
constexpr std::uint32_t kPairRow = 2048;     // two items for each thread of a block
constexpr std::uint32_t kSharedRow = 4096;   // a block's shared memory; with 8-byte items, 32 of its 48 KB
constexpr std::uint32_t kAnyRow = 1u << 31;  // no limit
constexpr std::uint32_t max_row_length(Rung rung) {
  switch (rung) {
    case Rung::kogge_stone: return kWarpRow;
    case Rung::hillis_steele:
    case Rung::blelloch:
    case Rung::block_scan: return kThreadRow;
    case Rung::compact:
    case Rung::conflict_free: return kPairRow;
    case Rung::coarsened:
    case Rung::segmented:
    case Rung::state_of_the_art: return kSharedRow;
    case Rung::brute_force:
    case Rung::global_rounds: return kAnyRow;
  }
  return 0;
}

Status run(const lab::Request& request);  // the last lines of scan.cu

}  // namespace course::scan

#include "scan/dispatch.hpp"
