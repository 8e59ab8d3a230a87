// SPDX-License-Identifier: MIT
// Right or wrong, and if wrong: where first, how many, in what pattern. Integers must be equal. A float may
// differ from the exact value by what the algorithm's error analysis allows for that element, and by no more:
// there is no constant epsilon.
// Source of the error bounds: N. Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed. 2002, ch.
// 3 and 4.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lab/problem.hpp"

namespace course::lab {

// Half the distance from 1 to the next number: what one rounding can cost, relatively. 0 for integers.
double unit_roundoff(DType dtype);

// gamma(k) = k·u / (1 − k·u): what k roundings in a row can cost, relatively; infinity once k·u reaches 1.
double gamma(DType dtype, double k);

// How far a sum may be from the exact one: gamma(depth) · Σ|x|, where depth is the most additions that any
// one item went through: n − 1 in a serial loop, ⌈log2 n⌉ in a balanced tree. Zero when every partial sum is
// exact whatever the order: integer items whose magnitudes add up to no more than 2^(bits of the
// significand).
double sum_error_bound(DType dtype, double depth, double sum_of_magnitudes, bool integer_valued);

// How far a product of n factors may be from the exact one: gamma(n − 1) · |product|, in any order.
double product_error_bound(DType dtype, std::uint64_t n, double product);

// The exact value of one output element, as well as the reference knows it, and how far from it is still
// right. A NaN expects a NaN, an infinity the same infinity. +0 and −0 are equal.
struct Expected {
  long double value = 0;
  double bound = 0;
};

// Element-wise; `got` has spec.count elements. Nothing: all is right.
std::optional<Mismatch> compare_integers(const BufferSpec& spec, std::span<const std::byte> expected,
                                         std::span<const std::byte> got);
std::optional<Mismatch> compare_floats(const BufferSpec& spec, std::span<const Expected> expected,
                                       std::span<const std::byte> got);

// One element in print, with as many digits as tell it from its neighbours: "-7", "0.1", "nan".
std::string print_element(DType dtype, const std::byte* element);

// What the places of the wrong elements (ascending, non-empty) have in common: "every element",
// "every element from 1024 on", "every 32nd element, from 31 on" …; "" when nothing stands out.
std::string describe_pattern(std::span<const std::uint64_t> wrong, std::uint64_t n_total);

// Typed views of raw buffers. T's size must be the dtype's.
template <typename T>
std::span<const T> view(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
}
template <typename T>
std::span<T> view(std::span<std::byte> bytes) {
  return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
}

// Adds up without losing digits: the exact sum of up to 2^40 doubles, rounded once to long double precision
// or better. Neumaier's compensated summation in long double.
class ExactSum {
 public:
  void add(long double x) {
    const long double total = sum_ + x;
    carry_ += (abs_of(sum_) >= abs_of(x)) ? (sum_ - total) + x : (x - total) + sum_;
    sum_ = total;
  }
  long double value() const { return sum_ + carry_; }

 private:
  static long double abs_of(long double x) { return x < 0 ? -x : x; }
  long double sum_ = 0, carry_ = 0;
};

}  // namespace course::lab
