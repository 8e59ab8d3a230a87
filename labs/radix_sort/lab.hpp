// SPDX-License-Identifier: MIT
// Radix sort: sort n keys (and their values) by the keys' bits, one digit at a time. The lab's API.
// Read: how keys are ordered, Job (what a task gets), Rung (the tasks). points.hpp says what the tasks are
// worth; dispatch.hpp turns a request into a Job. The student's .cu file, the solutions, the CPU side
// (problem.cpp) and the tests include this header, so it includes no large header.
// Invariant: every task except `merge` is stable: keys that are equal in the sorted bits keep their order.
#pragma once

#include <cstdint>
#include <type_traits>

#include "lab/operators.hpp"
#include "lab/request.hpp"

namespace course::radix_sort {

using lab::not_implemented;
using lab::Status;

// --- What is sorted: keys alone, or pairs of a key and a 32-bit value that moves with it.
enum class OpId : std::uint32_t { keys, pairs };
constexpr const char* name_of(OpId op) {
  return op == OpId::keys ? "keys" : "pairs";
}

// The value's type if there are no values.
struct NoValue {};
template <typename Value>
inline constexpr bool kHasValues = !std::is_same_v<Value, NoValue>;

// --- How keys are ordered. A kernel sees a key as its bits: an unsigned number of the key's size. Unsigned
// keys are in order if their bits are. For the other kinds, some bits are flipped first:
//   signed      as numbers: -2 < -1 < 0 < 1
//   floating    as numbers, then by the bits: -NaN < -infinity < … < -0 < +0 < … < +infinity < +NaN
// Descending order is ascending order with every bit flipped once more; it is stable, too.
enum class KeyKind : std::uint32_t { unsigned_number, signed_number, floating };

// --- Sizes.

// Keys per tile in the tasks tile_sort and merge: tile i holds the keys from i * kTile on; the last one may
// hold fewer.
inline constexpr unsigned kTile = 1024;

// n is below this, so positions and counts fit into 30 bits.
inline constexpr std::uint64_t kMaxKeys = std::uint64_t{1} << 30;

// Number of words for counts (of keys, by digit and tile): 256 digits for every 256 keys, and some more.
constexpr std::uint64_t counts_count(std::uint64_t n) {
  return n + 65536;
}

// Number of words that the given exclusive_scan needs for its sums, for arrays of up to counts_count(n)
// words.
constexpr std::uint64_t sums_count(std::uint64_t n) {
  return counts_count(n) / 512 + 64;
}

// --- What a task gets. All pointers are device memory that the harness owns: do not allocate memory, and
// never write the inputs.

// n keys and, unless Value is NoValue, their n values.
template <typename Bits, typename Value>
struct Items {
  Bits* d_keys = nullptr;
  Value* d_values = nullptr;  // null if Value is NoValue
};

template <typename Bits, typename Value>
struct Job {
  Items<const Bits, const Value> in;  // aligned to the size of a key or value only
  Items<Bits, Value> out;             // the sorted items; aligned to 256 bytes
  std::uint64_t n = 0;                // number of keys, below kMaxKeys; may be 0
  // Only the bits [begin_bit, end_bit) of a key are sorted, after the flips for its kind; 0 is the least
  // significant bit. If both are equal, all keys are equal, and the result is a copy. (Task split does not
  // need this case.)
  unsigned begin_bit = 0;
  unsigned end_bit = 8 * sizeof(Bits);
  KeyKind kind = KeyKind::unsigned_number;  // other kinds: only in task any_key
  bool descending = false;                  // true: only in task any_key
  // Scratch memory, contents undefined. It is the same in every task; no task needs all of it.
  std::uint32_t* d_e = nullptr;  // n words each: the rows of the one-bit split
  std::uint32_t* d_f = nullptr;
  std::uint32_t* d_t = nullptr;
  std::uint32_t* d_d = nullptr;
  Items<Bits, Value> spare;           // n items
  std::uint32_t* d_counts = nullptr;  // counts_count(n) words
  std::uint32_t* d_sums = nullptr;    // sums_count(n) words
  int multiprocessors = 1;            // to use, in some cases fewer than the device has
  CUstream_st* stream = nullptr;      // launch here; no need to synchronise, the harness does
};

// The first three tasks get 32-bit unsigned keys without values.
using KeyJob = Job<std::uint32_t, NoValue>;

// --- Tasks, in the order of points.hpp, then the rungs of the ladder that only the solutions have.
enum class Rung : std::uint32_t {
  split,
  tile_sort,
  merge,
  digits,
  any_key,
  onesweep,
  // only in the solutions:
  merge_path,
  counts_first,
  state_of_the_art,
};

Status run(const lab::Request& request);  // the last lines of radix_sort.cu

}  // namespace course::radix_sort

#include "radix_sort/dispatch.hpp"
