// SPDX-License-Identifier: MIT
// Reduction: reduce n items to one value with an associative operator. The lab's API and its operators.
// Read: the operators, Job (what a task gets), Rung (the tasks). points.hpp says what the tasks are worth;
// dispatch.hpp turns a request into a Job. The student's .cu file, the solutions, the CPU side (problem.cpp)
// and the tests include this header, so it includes no large header.
// Invariant: for every operator, op(a, op(b, c)) == op(op(a, b), c) up to rounding, and op(identity, a) == a.
#pragma once

#include <cstdint>
#include <type_traits>

#include "lab/operators.hpp"
#include "lab/request.hpp"

namespace course::reduction {

using lab::not_implemented;
using lab::Status;

// --- Operators. `Value` is the type of partial results and of the final result. The identity stands for
// positions that have no item; `finish` turns the total into the answer. Same code on host and device.

enum class OpId : std::uint32_t { sum, product, min, max, mean };
constexpr std::uint32_t kOpCount = 5;
constexpr const char* name_of(OpId op) {
  constexpr const char* kNames[] = {"sum", "product", "min", "max", "mean"};
  return kNames[static_cast<std::uint32_t>(op)];
}

// lab/operators.hpp defines the operators; here each of them gets `finish`.
template <typename T>
struct Sum : lab::Sum<T> {
  COURSE_HD T finish(T total) const { return total; }
};
template <typename T>
struct Product : lab::Product<T> {
  COURSE_HD T finish(T total) const { return total; }
};
template <typename T>
struct Min : lab::Min<T> {
  COURSE_HD T finish(T total) const { return total; }
};
template <typename T>
struct Max : lab::Max<T> {
  COURSE_HD T finish(T total) const { return total; }
};

// The mean of integers is computed in double, because their sum may not fit the item's type. The mean of no
// items is 0/0, which is NaN.
template <typename T>
struct Mean {
  using Value = std::conditional_t<std::is_integral_v<T>, double, T>;
  std::uint64_t n = 0;
  COURSE_HD Value identity() const { return Value{0}; }
  COURSE_HD Value operator()(Value a, Value b) const { return a + b; }
  COURSE_HD Value finish(Value total) const { return total / static_cast<Value>(n); }
};

// --- What a task gets. All pointers are device memory that the harness owns: do not allocate memory, and
// never write d_in. Floats that are added or multiplied are finite; minima and maxima get NaN and infinities,
// too.
template <typename T, typename Op>
struct Job {
  using Value = typename Op::Value;
  const T* d_in = nullptr;       // n items; aligned to sizeof(T) only
  std::uint64_t n = 0;           // may be 0: the answer is then op.finish(op.identity())
  Value* d_out = nullptr;        // one value: op.finish(x0 op x1 op … op x(n-1))
  Op op{};                       // op(a, b), op.identity(), op.finish(total)
  Value* d_scratch_a = nullptr;  // space for scratch_count partial results each; contents undefined
  Value* d_scratch_b = nullptr;
  std::uint64_t scratch_count = 0;  // at least n / 32 + 1024
  int multiprocessors = 1;          // to use, in some cases fewer than the device has
  CUstream_st* stream = nullptr;    // launch here; no need to synchronise, the harness does
};

// Number of partial results that one scratch array has space for.
constexpr std::uint64_t scratch_count(std::uint64_t n) {
  return n / 32 + 1024;
}

// --- Tasks, in the order of points.hpp, then the rungs of the ladder that only the solutions have.
enum class Rung : std::uint32_t {
  neighboured,
  sequential,
  shuffle,
  coarsened,
  single_launch,
  // only in the solutions:
  reindexed,
  first_add,
  state_of_the_art,
};

Status run(const lab::Request& request);  // the last lines of reduction.cu

}  // namespace course::reduction

#include "reduction/dispatch.hpp"
