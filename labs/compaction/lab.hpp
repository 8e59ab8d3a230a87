// SPDX-License-Identifier: MIT
// Stream compaction: copy the items that a predicate keeps to consecutive positions, in their order. The
// lab's API and its predicates.
// Read: the predicates, Job (what a task gets), Rung (the tasks). points.hpp says what the tasks are worth;
// dispatch.hpp turns a request into a Job. The student's .cu file, the solutions, the CPU side (problem.cpp)
// and the tests include this header, so it includes no large header.
// Invariant: d_out[0 … count) are the kept items in the order of d_in, bit for bit; d_out[count … n) does not
// change.
#pragma once

#include <cstdint>

#include "lab/operators.hpp"
#include "lab/request.hpp"

namespace course::compaction {

using lab::not_implemented;
using lab::Status;

// A position in an array, or a number of items. 64 bits, because arrays may have more than 2^32 items.
using Index = std::uint64_t;

// --- Predicates: keep(item) is true for an item that is kept. Same code on host and device. A kernel only
// calls keep(item).

enum class KeepId : std::uint32_t { is_positive, is_even, nonzero, less_than };
constexpr std::uint32_t kKeepCount = 4;
constexpr const char* name_of(KeepId keep) {
  constexpr const char* kNames[] = {"is_positive", "is_even", "nonzero", "less_than"};
  return kNames[static_cast<std::uint32_t>(keep)];
}

// A NaN is not positive and not less than anything. It is not zero either, so nonzero keeps it. -0 is zero.
template <typename T>
struct IsPositive {
  COURSE_HD bool operator()(T item) const { return item > T{0}; }
};
template <typename T>  // integers
struct IsEven {
  COURSE_HD bool operator()(T item) const { return (item & 1) == 0; }
};
template <typename T>
struct Nonzero {
  COURSE_HD bool operator()(T item) const { return item != T{0}; }
};
template <typename T>
struct LessThan {
  T threshold;
  COURSE_HD bool operator()(T item) const { return item < threshold; }
};

// --- What a task gets. All pointers are device memory that the harness owns: do not allocate memory, and
// never write d_in.
template <typename T, typename Keep>
struct Job {
  const T* d_in = nullptr;   // n items; aligned to sizeof(T) only
  std::uint64_t n = 0;       // may be 0: then count is 0, and nothing else is written
  T* d_out = nullptr;        // space for n items; aligned to 256 bytes; write only the first *d_count
  Index* d_count = nullptr;  // one number: how many items are kept
  Keep keep{};               // keep(item) is true for an item that is kept

  // Workspace, contents undefined. Each task may use it as it likes.
  Index* d_positions = nullptr;      // space for n numbers; aligned to 256 bytes
  std::uint32_t* d_flags = nullptr;  // space for n flags; aligned to 8 bytes
  Index* d_spare =
      nullptr;  // space for spare_count numbers: per block or tile, for all levels; aligned to 8 bytes
  std::uint64_t spare_count = 0;  // at least n / 16 + 1024
  int multiprocessors = 1;        // to use, in some cases fewer than the device has
  CUstream_st* stream = nullptr;  // launch here; no need to synchronise, the harness does
};

// How many numbers d_spare has space for.
constexpr std::uint64_t spare_count(std::uint64_t n) {
  return n / 16 + 1024;
}

// --- Tasks, in the order of points.hpp, then the rungs of the ladder that only the solutions have.
enum class Rung : std::uint32_t {
  three_kernels,
  fused,
  warp_aggregated,
  single_pass,
  // only in the solutions:
  packed,
  state_of_the_art,
};

Status run(const lab::Request& request);  // the last lines of compaction.cu

}  // namespace course::compaction

#include "compaction/dispatch.hpp"
