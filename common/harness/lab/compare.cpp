// SPDX-License-Identifier: MIT
#include "lab/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "lab/diagnosis.hpp"
#include "lab/differs.hpp"
#include "lab/operators.hpp"
#include "lab/poison.hpp"

namespace course::lab {
namespace {

template <typename T>
T element(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

bool is_filling(const std::byte* at, std::size_t n) {
  return std::all_of(at, at + n, [](std::byte b) { return b == kPoison; });
}

// The element's value. A long double represents every value of these types exactly.
long double number(DType dtype, const std::byte* at) {
  return with_any_type(dtype, [at]<typename T>(T) { return static_cast<long double>(element<T>(at)); });
}

// Whether the element is the poison pattern of another type converted to this one: the result of reading an
// unwritten element and converting it.
bool is_converted_poison(DType dtype, const std::byte* at) {
  if (bytes_of(dtype) < 4 || is_filling(at, bytes_of(dtype))) return false;
  std::byte filling[8];
  std::ranges::fill(filling, kPoison);
  const long double x = number(dtype, at);
  if (x == 0) return false;  // a very small double becomes 0 as a float
  constexpr DType kAll[] = {DType::i32, DType::u32, DType::i64, DType::u64, DType::f32, DType::f64};
  return std::ranges::any_of(kAll, [&](DType other) {
    const long double y = number(other, filling);
    return x == y || (dtype == DType::f32 && x == static_cast<long double>(static_cast<float>(y)));
  });
}

std::string print_expected(DType dtype, const Expected& expected) {
  if (std::isnan(expected.value)) return "nan";
  std::string text = dtype == DType::f32 ? fmt::format("{}", static_cast<float>(expected.value))
                                         : fmt::format("{}", static_cast<double>(expected.value));
  if (expected.bound > 0 && std::isfinite(expected.bound)) text += fmt::format(" ± {:.2g}", expected.bound);
  return text;
}

bool float_is_right(DType dtype, const Expected& expected, double got) {
  if (std::isnan(expected.value) || std::isnan(got)) return std::isnan(expected.value) && std::isnan(got);
  // An exact value outside the type's range must be stored as infinity.
  const double rounded =
      dtype == DType::f32 ? static_cast<float>(expected.value) : static_cast<double>(expected.value);
  if (got == rounded) return true;
  if (std::isinf(rounded) || std::isinf(got)) return false;
  return std::abs(static_cast<long double>(got) - expected.value) <= static_cast<long double>(expected.bound);
}

// The wrong elements of an output, as the facts for the rules below. A rule explains all wrong elements or
// none; a sign (partly_unwritten) describes some of them.
struct Wrong {
  DType dtype;
  std::span<const std::uint64_t> indices;
  std::span<const std::byte> got, expected;  // expected: empty for floats

  const std::byte* at(std::span<const std::byte> bytes, std::uint64_t i) const {
    return bytes.data() + i * bytes_of(dtype);
  }
  template <typename Holds>
  bool all(Holds holds) const {
    return std::ranges::all_of(indices, [&](std::uint64_t i) { return holds(at(got, i)); });
  }
  template <typename Holds>
  bool all_of_pairs(Holds holds) const {
    return !expected.empty() &&
           std::ranges::all_of(indices, [&](std::uint64_t i) { return holds(at(expected, i), at(got, i)); });
  }
};

// A copy of unwritten memory looks the same as an element that was never written.
std::string never_written(const Wrong& w) {
  const bool filling = w.all([&](const std::byte* x) { return is_filling(x, bytes_of(w.dtype)); });
  return text_if(filling || w.all([&](const std::byte* x) { return is_converted_poison(w.dtype, x); }),
                 "{} 0xA5 in every byte, as memory does that was never written{}",
                 w.indices.size() == 1 ? "the element holds" : "these elements hold",
                 filling ? ": nothing was stored there, or a value that was read from such memory"
                         : ", in another type: it was read from such memory");
}

// Pieces at a regular distance are right, and what is between them was never written.
std::string written_in_pieces(const Wrong& w) {
  const std::uint64_t n = w.got.size() / bytes_of(w.dtype), piece = w.indices.front();
  const auto end =
      std::adjacent_find(w.indices.begin(), w.indices.end(), [](auto i, auto j) { return j != i + 1; });
  if (piece == 0 || end == w.indices.end() || never_written(w).empty()) return "";
  std::vector<std::uint64_t> between;
  for (std::uint64_t i = 0; i < n; ++i)
    if (i % (*end + 1) >= piece) between.push_back(i);
  return text_if(
      std::ranges::equal(between, w.indices),
      "of every {} elements only the first {} right; the others hold 0xA5 in every byte, as memory does that "
      "was never written: each thread or block writes too few of them, or the next one begins too far on",
      *end + 1, piece == 1 ? "one is" : fmt::format("{} are", piece));
}

std::string half_written(const Wrong& w) {
  if (bytes_of(w.dtype) != 8 || w.dtype == DType::f64) return "";
  const bool half = w.all_of_pairs([](const std::byte* expected, const std::byte* got) {
    return std::memcmp(expected, got, 4) == 0 && is_filling(got + 4, 4);
  });
  return text_if(half,
                 "only the lower 32 of 64 bits were written (the upper ones hold the harness's filling, the "
                 "byte 0xA5): store a 64-bit value");
}

std::string narrowed(const Wrong& w) {
  if (bytes_of(w.dtype) != 8 || w.dtype == DType::f64) return "";
  const bool narrow = w.all_of_pairs([](const std::byte* expected, const std::byte* got) {
    const auto low = element<std::int32_t>(expected);
    const auto value = element<std::int64_t>(got);
    return value == low || value == static_cast<std::int64_t>(static_cast<std::uint32_t>(low));
  });
  return text_if(
      narrow,
      "the upper 32 bits are lost: the value overflowed a 32-bit variable, and a 64-bit one is needed");
}

std::string went_through_float(const Wrong& w) {
  if (w.dtype != DType::f64) return "";
  const bool narrow = w.all([](const std::byte* x) {
    const auto value = element<double>(x);
    return value != 0 && static_cast<double>(static_cast<float>(value)) == value &&
           value != std::nearbyint(value);
  });
  return text_if(narrow,
                 "the value has the digits of a float only: a double went through a variable of type float");
}

std::string partly_unwritten(const Wrong& w) {
  const auto n = std::ranges::count_if(
      w.indices, [&](std::uint64_t i) { return is_filling(w.at(w.got, i), bytes_of(w.dtype)); });
  return text_if(n != 0 && bytes_of(w.dtype) >= 4 && static_cast<std::size_t>(n) != w.indices.size(),
                 "{} of the wrong elements {} never written (the harness's filling, the byte 0xA5)", n,
                 n == 1 ? "was" : "were");
}

// Rules for the outputs of any lab.
constexpr Rule<Wrong> kRules[] = {
    {"written_in_pieces", written_in_pieces},
    {"never_written",
     [](const Wrong& w) { return written_in_pieces(w).empty() ? never_written(w) : std::string(); }},
    {"half_written", half_written},
    {"narrowed", narrowed},
    {"went_through_float", went_through_float},
    {"partly_unwritten", partly_unwritten, true},
};

// The report on the elements in `wrong`. print_expected(i), print_got(i): element i.
Mismatch describe(const BufferSpec& spec, std::span<const std::uint64_t> wrong, auto print_expected,
                  auto print_got, std::span<const std::byte> expected, std::span<const std::byte> got) {
  constexpr std::uint64_t kNear = 6;
  Mismatch mismatch;
  mismatch.buffer = spec.name;
  mismatch.index = wrong.front();
  mismatch.expected = print_expected(mismatch.index);
  mismatch.got = print_got(mismatch.index);
  for (std::uint64_t i = mismatch.near_begin(); i < std::min(mismatch.near_begin() + kNear, spec.count);
       ++i) {
    mismatch.near_expected.push_back(print_expected(i));
    mismatch.near_got.push_back(print_got(i));
  }
  mismatch.n_wrong = wrong.size();
  mismatch.n_total = spec.count;
  mismatch.pattern = describe_pattern(wrong, spec.count);
  diagnose<Wrong>(mismatch, kRules, {spec.dtype, wrong, got, expected});
  return mismatch;
}

std::optional<Mismatch> compare_bytes(const BufferSpec& spec, std::span<const std::byte> expected,
                                      std::span<const std::byte> got, auto print) {
  if (std::ranges::equal(expected, got)) return std::nullopt;
  const std::size_t size = bytes_of(spec.dtype);
  std::vector<std::uint64_t> wrong;
  for (std::uint64_t i = 0; i < spec.count; ++i)
    if (std::memcmp(expected.data() + i * size, got.data() + i * size, size) != 0) wrong.push_back(i);
  if (wrong.empty()) return std::nullopt;
  return describe(
      spec, wrong, [&](std::uint64_t i) { return print(expected.data() + i * size); },
      [&](std::uint64_t i) { return print(got.data() + i * size); }, expected, got);
}

}  // namespace

double unit_roundoff(DType dtype) {
  switch (dtype) {
    case DType::f32: return 0x1p-24;
    case DType::f64: return 0x1p-53;
    default: return 0;
  }
}

double gamma(DType dtype, double k) {
  const double ku = k * unit_roundoff(dtype);
  return ku < 1 ? ku / (1 - ku) : std::numeric_limits<double>::infinity();
}

double sum_depth(double n) {
  return std::max(0.0, std::min(n - 1, 128 + std::max(2048.0, n / 256)));
}

bool is_error_of_a_chain(long double error, long double of_chain) {
  return error * of_chain > 0 && std::abs(error) <= 2 * std::abs(of_chain) &&
         std::abs(of_chain) <= 2 * std::abs(error);
}

double sum_error_bound(DType dtype, double depth, double sum_of_magnitudes, bool integer_valued) {
  const double exact_up_to = 1 / unit_roundoff(dtype);
  if (integer_valued && sum_of_magnitudes <= exact_up_to) return 0;
  return gamma(dtype, depth) * sum_of_magnitudes;
}

double product_error_bound(DType dtype, std::uint64_t n, double product) {
  return n < 2 ? 0 : gamma(dtype, static_cast<double>(n - 1)) * std::abs(product);
}

std::optional<Mismatch> compare_integers(const BufferSpec& spec, std::span<const std::byte> expected,
                                         std::span<const std::byte> got) {
  return compare_bytes(spec, expected, got,
                       [&](const std::byte* at) { return print_element(spec.dtype, at); });
}

std::optional<Mismatch> compare_maps(const BufferSpec& spec, std::span<const std::byte> expected,
                                     std::span<const std::byte> got) {
  return compare_bytes(spec, expected, got, print_map);
}

std::optional<Mismatch> compare_floats(const BufferSpec& spec, std::span<const Expected> expected,
                                       std::span<const std::byte> got) {
  const std::size_t size = bytes_of(spec.dtype);
  std::vector<std::uint64_t> wrong;
  for (std::uint64_t i = 0; i < spec.count; ++i)
    if (!float_is_right(spec.dtype, expected[i],
                        static_cast<double>(number(spec.dtype, got.data() + i * size))))
      wrong.push_back(i);
  if (wrong.empty()) return std::nullopt;
  return describe(
      spec, wrong, [&](std::uint64_t i) { return print_expected(spec.dtype, expected[i]); },
      [&](std::uint64_t i) { return print_element(spec.dtype, got.data() + i * size); }, {}, got);
}

std::string print_map(const std::byte* at) {
  const auto map = element<AffineMap<std::uint32_t>>(at);
  return fmt::format("{}x+{}", map.scale, map.shift);
}

std::string print_element(DType dtype, const std::byte* at) {
  return with_any_type(dtype, [at]<typename T>(T) -> std::string {
    const auto value = element<T>(at);
    if constexpr (std::is_floating_point_v<T>)
      if (std::isnan(value)) return "nan";
    return fmt::format("{}", value);
  });
}

std::string describe_pattern(std::span<const std::uint64_t> wrong, std::uint64_t n_total) {
  const std::uint64_t first = wrong.front(), last = wrong.back(), count = wrong.size();
  if (n_total == 1) return "";
  if (count == n_total) return "every element";
  if (count == 1)
    return first == 0 ? "the first element alone" : first == n_total - 1 ? "the last element alone" : "";
  if (last - first + 1 == count) {
    if (last == n_total - 1) return fmt::format("every element from {} on", first);
    if (first == 0) return fmt::format("every element up to {}", last);
    return fmt::format("every element from {} to {}", first, last);
  }
  // Are they evenly spaced from the first wrong element to the end of the array?
  const std::uint64_t gap = wrong[1] - first;
  for (std::size_t i = 1; i < wrong.size(); ++i)
    if (wrong[i] - wrong[i - 1] != gap) return "";
  if (count >= 3 && last + gap >= n_total) return fmt::format("one element in {}, from {} on", gap, first);
  return "";
}

bool differs(const std::string& expected, const std::string& got) {
  if (expected == got) return false;
  const double a = std::strtod(expected.c_str(), nullptr), b = std::strtod(got.c_str(), nullptr);
  const bool fraction = (expected + got).find_first_of(".e") != std::string::npos;
  if (!fraction || std::isnan(a) != std::isnan(b) || std::isinf(a) || std::isinf(b)) return true;
  return std::abs(a - b) > 1e-3 * std::max(std::abs(a), std::abs(b));
}

}  // namespace course::lab
