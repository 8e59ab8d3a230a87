// SPDX-License-Identifier: MIT
// Compares outputs with expected values and reports the first difference, the number of differences and their
// pattern. Integers must be equal. A float may differ from the exact value by the error that the analysis of
// the algorithm allows for that element; there is no constant epsilon.
// Source of the error bounds: N. Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed. 2002,
// chapters 3 and 4.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "lab/problem.hpp"

namespace course::lab {

// The unit roundoff u: the largest relative error of one rounding. 0 for integers.
double unit_roundoff(DType dtype);

// gamma(k) = k·u / (1 − k·u): a bound of the relative error of k roundings in sequence; infinity if k·u ≥ 1.
double gamma(DType dtype, double k);

// The largest number of additions that an item takes part in, if n of them are added in a reasonable order:
// up to 128 in its thread and in a tree of its block, then the blocks' results one after another. Those are
// up to 2,048, or one for 256 items if that is more.
double sum_depth(double n);

// The error bound of a sum: gamma(depth) · Σ|x|, where depth is the largest number of additions that any item
// takes part in: n − 1 in a serial loop, ⌈log2 n⌉ in a balanced tree. Zero if every partial sum is exact in
// any order: integer items whose magnitudes sum to at most 2^(bits of the significand).
double sum_error_bound(DType dtype, double depth, double sum_of_magnitudes, bool integer_valued);

// The error bound of a product of n factors: gamma(n − 1) · |product|, in any order.
double product_error_bound(DType dtype, std::uint64_t n, double product);

// Whether the errors of a sum and of adding its items one by one are alike: of the same sign, and neither
// more than twice as large as the other.
bool is_error_of_a_chain(long double error, long double of_chain);

// The exact value of one output element, as far as the reference can compute it, and the largest error that
// is accepted. If NaN is expected, only NaN is right; if an infinity, only the same infinity. +0 and −0 are
// equal.
struct Expected {
  long double value = 0;
  double bound = 0;
};

// Compare element by element; `got` has spec.count elements. std::nullopt: all elements are right.
std::optional<Mismatch> compare_integers(const BufferSpec& spec, std::span<const std::byte> expected,
                                         std::span<const std::byte> got);
// The same for affine maps of 32-bit numbers (lab/operators.hpp), which print_map() prints.
std::optional<Mismatch> compare_maps(const BufferSpec& spec, std::span<const std::byte> expected,
                                     std::span<const std::byte> got);
std::optional<Mismatch> compare_floats(const BufferSpec& spec, std::span<const Expected> expected,
                                       std::span<const std::byte> got);

// One element as text, with enough digits to distinguish it from its neighbours: "-7", "0.1", "nan".
std::string print_element(DType dtype, const std::byte* element);
// An affine map of 32-bit numbers: "3x+1", as print() in lab/print.hpp prints it.
std::string print_map(const std::byte* element);

// The pattern of the indices of the wrong elements (ascending, not empty): "every element", "every element
// from 1024 on", "one element in 32, from 31 on", …; "" if there is none.
std::string describe_pattern(std::span<const std::uint64_t> wrong, std::uint64_t n_total);

// A nearly exact sum: Neumaier's compensated summation in long double. With its unit roundoff u (2^-64, or
// less), the error is at most about u · |sum| + (n · u)² · Σ|x|: for up to 2^37 items of one sign, less than
// that of rounding the exact sum to double.
class ExactSum {
 public:
  void add(long double x) {
    const long double total = sum_ + x;
    carry_ += (std::abs(sum_) >= std::abs(x)) ? (sum_ - total) + x : (x - total) + sum_;
    sum_ = total;
    ++n_;
    const auto item = static_cast<double>(x);
    magnitudes_ += std::abs(item);
    whole_ = whole_ && item == std::floor(item);
  }
  long double value() const { return sum_ + carry_; }
  // What a sum of these floats or doubles may be, in any reasonable order.
  Expected expected(DType dtype) const {
    return {value(), sum_error_bound(dtype, sum_depth(n_), magnitudes_, whole_)};
  }

 private:
  long double sum_ = 0, carry_ = 0;
  double n_ = 0, magnitudes_ = 0;  // items, Σ|x|
  bool whole_ = true;              // every item is an integer
};

}  // namespace course::lab
