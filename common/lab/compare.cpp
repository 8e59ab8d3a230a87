// SPDX-License-Identifier: MIT
#include "lab/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "lab/protocol.hpp"

namespace course::lab {
namespace {

template <typename T>
T element(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

double float_element(DType dtype, const std::byte* at) {
  return dtype == DType::f32 ? static_cast<double>(element<float>(at)) : element<double>(at);
}

bool is_poison(DType dtype, const std::byte* at) {
  return std::all_of(at, at + bytes_of(dtype), [](std::byte b) { return b == protocol::kPoison; });
}

std::string print_expected(DType dtype, const Expected& expected) {
  if (std::isnan(expected.value)) return "nan";
  std::string text = dtype == DType::f32 ? fmt::format("{}", static_cast<float>(expected.value))
                                         : fmt::format("{}", static_cast<double>(expected.value));
  if (expected.bound > 0 && std::isfinite(expected.bound)) text += fmt::format(" ± {:.2g}", expected.bound);
  return text;
}

bool float_is_right(DType dtype, const Expected& expected, double got) {
  if (std::isnan(expected.value)) return std::isnan(got);
  if (std::isnan(got)) return false;
  // An exact value beyond the type's range must come out as its infinity.
  const double rounded =
      dtype == DType::f32 ? static_cast<float>(expected.value) : static_cast<double>(expected.value);
  if (got == rounded) return true;
  if (std::isinf(rounded) || std::isinf(got)) return false;
  return std::abs(static_cast<long double>(got) - expected.value) <= static_cast<long double>(expected.bound);
}

// The report on the elements in `wrong`, whose first one was expected to be `expected`.
Mismatch describe(const BufferSpec& spec, std::span<const std::uint64_t> wrong, std::string expected,
                  std::span<const std::byte> got) {
  const std::size_t size = bytes_of(spec.dtype);
  const auto at = [&](std::uint64_t index) { return got.data() + index * size; };
  Mismatch mismatch;
  mismatch.buffer = spec.name;
  mismatch.index = wrong.front();
  mismatch.expected = std::move(expected);
  mismatch.got = print_element(spec.dtype, at(wrong.front()));
  mismatch.n_wrong = wrong.size();
  mismatch.n_total = spec.count;
  mismatch.pattern = describe_pattern(wrong, spec.count);
  const auto never_written =
      std::count_if(wrong.begin(), wrong.end(), [&](auto i) { return is_poison(spec.dtype, at(i)); });
  if (static_cast<std::size_t>(never_written) == wrong.size()) {
    mismatch.hint = wrong.size() == 1 ? "the element was never written" : "these elements were never written";
    mismatch.hint += " (it holds the harness's filling, the byte 0xA5)";
    if (wrong.size() > 1) mismatch.hint.replace(mismatch.hint.find("it holds"), 8, "they hold");
  }
  return mismatch;
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
  if (std::equal(expected.begin(), expected.end(), got.begin(), got.end())) return std::nullopt;
  const std::size_t size = bytes_of(spec.dtype);
  std::vector<std::uint64_t> wrong;
  for (std::uint64_t i = 0; i < spec.count; ++i) {
    if (std::memcmp(expected.data() + i * size, got.data() + i * size, size) != 0) wrong.push_back(i);
  }
  if (wrong.empty()) return std::nullopt;
  return describe(spec, wrong, print_element(spec.dtype, expected.data() + wrong.front() * size), got);
}

std::optional<Mismatch> compare_floats(const BufferSpec& spec, std::span<const Expected> expected,
                                       std::span<const std::byte> got) {
  const std::size_t size = bytes_of(spec.dtype);
  std::vector<std::uint64_t> wrong;
  for (std::uint64_t i = 0; i < spec.count; ++i) {
    if (!float_is_right(spec.dtype, expected[i], float_element(spec.dtype, got.data() + i * size)))
      wrong.push_back(i);
  }
  if (wrong.empty()) return std::nullopt;
  return describe(spec, wrong, print_expected(spec.dtype, expected[wrong.front()]), got);
}

std::string print_element(DType dtype, const std::byte* at) {
  switch (dtype) {
    case DType::u8: return fmt::format("{}", element<std::uint8_t>(at));
    case DType::i32: return fmt::format("{}", element<std::int32_t>(at));
    case DType::u32: return fmt::format("{}", element<std::uint32_t>(at));
    case DType::i64: return fmt::format("{}", element<std::int64_t>(at));
    case DType::u64: return fmt::format("{}", element<std::uint64_t>(at));
    case DType::f32: {
      const auto value = element<float>(at);
      return std::isnan(value) ? "nan" : fmt::format("{}", value);
    }
    case DType::f64: {
      const auto value = element<double>(at);
      return std::isnan(value) ? "nan" : fmt::format("{}", value);
    }
  }
  return "?";
}

std::string describe_pattern(std::span<const std::uint64_t> wrong, std::uint64_t n_total) {
  const std::uint64_t first = wrong.front(), last = wrong.back(), count = wrong.size();
  if (n_total == 1) return "";
  if (count == n_total) return "every element";
  if (count == 1) {
    if (first == 0) return "the first element alone";
    return first == n_total - 1 ? "the last element alone" : "";
  }
  if (last - first + 1 == count) {
    if (last == n_total - 1) return fmt::format("every element from {} on", first);
    if (first == 0) return fmt::format("every element up to {}", last);
    return fmt::format("every element from {} to {}", first, last);
  }
  // Evenly spaced from the first wrong one to the array's end?
  const std::uint64_t gap = wrong[1] - first;
  for (std::size_t i = 1; i < wrong.size(); ++i) {
    if (wrong[i] - wrong[i - 1] != gap) return "";
  }
  if (count >= 3 && last + gap >= n_total) return fmt::format("one element in {}, from {} on", gap, first);
  return "";
}

}  // namespace course::lab
