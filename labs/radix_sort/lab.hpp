// SPDX-License-Identifier: MIT
// Radix sort: order n keys (and the values that belong to them) by their bits, a digit at a time. The
// lab's API.
// Read: how keys are ordered, Job (what a task gets), Rung (the tasks). points.hpp beside it says what
// they are worth, dispatch.hpp how a request becomes a Job. Included by the student's .cu, the solutions,
// the CPU side (problem.cpp) and the tests, so it stays light: no heavy header.
// Invariant: every task but `merge` is stable: keys that are equal in the bits that count keep their
// order.
#pragma once

#include <cstdint>
#include <type_traits>

#include "lab/operators.hpp"
#include "lab/request.hpp"

namespace course::radix_sort {

using lab::Status;

// --- What is sorted: keys alone, or pairs of a key and a 32-bit value that moves with it.
enum class OpId : std::uint32_t { keys, pairs };
constexpr const char* name_of(OpId op) {
  return op == OpId::keys ? "keys" : "pairs";
}

// In place of a value's type where there are no values.
struct NoValue {};
template <typename Value>
inline constexpr bool kHasValues = !std::is_same_v<Value, NoValue>;

// --- How keys are ordered. A kernel sees a key as its bits: an unsigned number of the key's size. Unsigned keys are in order
// when their bits are. For the others some bits are flipped first:
//   signed      as numbers: -2 < -1 < 0 < 1
//   floating    as numbers, and where numbers say nothing, by the bits: -NaN < -infinity < … < -0 < +0 < … < +infinity < +NaN
// Descending order is the ascending one with every bit flipped once more; it is stable, too.
enum class KeyKind : std::uint32_t { unsigned_number, signed_number, floating };

// --- Sizes.

// Keys of a tile in the tasks tile_sort and merge: tile i holds the keys i * kTile … ; the last one may hold fewer.
inline constexpr unsigned kTile = 1024;

// n is below this, so that positions and counts fit 30 bits.
inline constexpr std::uint64_t kMaxKeys = std::uint64_t{1} << 30;

// Words that counts (of keys, by digit and tile) may take. 256 digits for every 256 keys, and some.
constexpr std::uint64_t counts_count(std::uint64_t n) {
  return n + 65536;
}

// Words that the given exclusive_scan needs for its sums, for arrays of up to counts_count(n) words.
constexpr std::uint64_t sums_count(std::uint64_t n) {
  return counts_count(n) / 512 + 64;
}

// --- What a task gets. All pointers are device memory that the harness owns; never allocate, never write the inputs.

// n keys and, unless Value is NoValue, the n values that belong to them.
template <typename Bits, typename Value>
struct Items {
  Bits* d_keys = nullptr;
  Value* d_values = nullptr;  // null when Value is NoValue
};

template <typename Bits, typename Value>
struct Job {
  Items<const Bits, const Value> in;  // aligned to the size of a key or value and to no more
  Items<Bits, Value> out;             // the sorted items
  std::uint64_t n = 0;                // keys, below kMaxKeys, which 30-bit counts can hold; may be 0
  // Only bits [begin_bit, end_bit) of a key count, after the flips that its kind asks for; 0 is the least significant.
  // When the two are equal, all keys are: a copy. (Not asked for in task split.)
  unsigned begin_bit = 0;
  unsigned end_bit = 8 * sizeof(Bits);
  KeyKind kind = KeyKind::unsigned_number;  // other kinds: task any_key alone
  bool descending = false;                  // true: task any_key alone
  // Scratch, contents undefined. The same in every task; none needs all of it.
  std::uint32_t* d_e = nullptr;  // n words each: the rows of the one-bit split
  std::uint32_t* d_f = nullptr;
  std::uint32_t* d_t = nullptr;
  std::uint32_t* d_d = nullptr;
  Items<Bits, Value> spare;           // n items
  std::uint32_t* d_counts = nullptr;  // counts_count(n) words
  std::uint32_t* d_sums = nullptr;    // sums_count(n) words
  int multiprocessors = 1;            // of this device, to size a grid by
  CUstream_st* stream = nullptr;      // launch here; no need to synchronise, the harness does
};

// What the first three tasks get: 32-bit unsigned keys alone.
using KeyJob = Job<std::uint32_t, NoValue>;

// What an untouched task returns.
template <typename Bits, typename Value>
Status not_implemented(const Job<Bits, Value>&) {
  return Status::not_implemented;
}

// --- Tasks, in the order of points.hpp, then the rungs of the ladder that only the solutions have.
enum class Rung : std::uint32_t {
  split,
  tile_sort,
  merge,
  digits,
  any_key,
  onesweep,
  // not asked of students:
  merge_path,
  tiles_and_merge,
  counts_first,
  state_of_the_art,
};

Status run(const lab::Request& request);  // the last lines of radix_sort.cu

}  // namespace course::radix_sort

#include "radix_sort/dispatch.hpp"
