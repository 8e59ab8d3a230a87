// SPDX-License-Identifier: MIT
// Associative operators with an identity, for the labs that reduce or scan. The same code runs on host and
// device. This header includes only small headers.
// Invariant: op(a, op(b, c)) == op(op(a, b), c), up to rounding for floats, and op(identity, a) == a == op(a,
// identity), but for a NaN in Min and Max. All but Affine are also commutative. Value: the type of the
// operands.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#ifdef __CUDACC__
#define COURSE_HD __host__ __device__
#else
#define COURSE_HD
#endif

namespace course::lab {

// Integers wrap modulo 2^bits, like unsigned arithmetic, so every order of combining gives the same bits.
template <typename T>
COURSE_HD constexpr T wrapping_add(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
  } else {
    return a + b;
  }
}
template <typename T>
COURSE_HD constexpr T wrapping_multiply(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
  } else {
    return a * b;
  }
}

template <typename T>
struct Sum {
  using Value = T;
  COURSE_HD Value identity() const { return T{0}; }
  COURSE_HD Value operator()(Value a, Value b) const { return wrapping_add(a, b); }
};

template <typename T>
struct Product {
  using Value = T;
  COURSE_HD Value identity() const { return T{1}; }
  COURSE_HD Value operator()(Value a, Value b) const { return wrapping_multiply(a, b); }
};

// Floats: NaNs are skipped, as by fmin and fmax. Without any number (no item, or only NaNs) the result is the
// identity, ±infinity.
template <typename T>
struct Min {
  using Value = T;
  static constexpr T kIdentity =
      std::is_floating_point_v<T> ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
  COURSE_HD Value identity() const { return kIdentity; }
  COURSE_HD Value operator()(Value a, Value b) const {
    if constexpr (std::is_same_v<T, float>) {
      return fminf(a, b);
    } else if constexpr (std::is_same_v<T, double>) {
      return fmin(a, b);
    } else {
      return b < a ? b : a;
    }
  }
};

template <typename T>
struct Max {
  using Value = T;
  static constexpr T kIdentity =
      std::is_floating_point_v<T> ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
  COURSE_HD Value identity() const { return kIdentity; }
  COURSE_HD Value operator()(Value a, Value b) const {
    if constexpr (std::is_same_v<T, float>) {
      return fmaxf(a, b);
    } else if constexpr (std::is_same_v<T, double>) {
      return fmax(a, b);
    } else {
      return a < b ? b : a;
    }
  }
};

// The map x -> scale * x + shift, modulo 2^bits of T (an unsigned integer). Aligned so that one access loads
// or stores all of it.
template <typename T>
struct alignas(2 * sizeof(T)) AffineMap {
  T scale, shift;
  friend COURSE_HD constexpr bool operator==(const AffineMap& a, const AffineMap& b) {
    return a.scale == b.scale && a.shift == b.shift;
  }
};

// The name in all labs of the only operator for which op(a, b) is not op(b, a).
inline constexpr const char* kNotCommutative = "affine";
// Applies a first, then b: associative, but NOT commutative. A scan of maps composes, for every i, the first
// i of them. This is how a linear recurrence x[i] = scale[i] * x[i-1] + shift[i] is computed in parallel.
// Source: G. Blelloch, "Prefix Sums and Their Applications", 1990, section 1.4.
template <typename T>
struct Affine {
  static_assert(std::is_unsigned_v<T>);
  using Value = AffineMap<T>;
  COURSE_HD Value identity() const { return {T{1}, T{0}}; }
  COURSE_HD Value operator()(Value a, Value b) const {
    return {static_cast<T>(a.scale * b.scale), static_cast<T>(a.shift * b.scale + b.shift)};
  }
};

}  // namespace course::lab
