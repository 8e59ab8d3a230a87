// SPDX-License-Identifier: MIT
// See lexer.hpp.
#include "ptx/parser/lexer.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <limits>
#include <system_error>

namespace course::ptx::detail {
namespace {

// The value of a digit in bases up to 16; at least 16 for other characters.
std::uint64_t digit_value(char c) {
  int value = 99;
  if (c >= '0' && c <= '9') value = c - '0';
  if (c >= 'a' && c <= 'f') value = c - 'a' + 10;
  if (c >= 'A' && c <= 'F') value = c - 'A' + 10;
  return static_cast<std::uint64_t>(value);
}

constexpr std::size_t kShownCharacters = 40;

}  // namespace

char Lexer::ahead(std::size_t n) const {
  for (std::size_t i = 0; i < n; ++i) {
    if (at_[i] == '\0') return '\0';
  }
  return at_[n];
}

void Lexer::skip_blanks() {
  while (true) {
    const char c = *at_;
    if (c == '\n') {
      ++line_;
      ++at_;
    } else if (is_class(c, kBlank)) {
      ++at_;
    } else if (c == '/' && at_[1] == '/') {
      while (*at_ != '\n' && *at_ != '\0') ++at_;
    } else if (c == '/' && at_[1] == '*') {
      const Place start = place();
      at_ += 2;
      while (!(*at_ == '*' && at_[1] == '/')) {
        if (*at_ == '\0') fail_at(start, "this comment has no end: expected '*/'");
        if (*at_ == '\n') ++line_;
        ++at_;
      }
      at_ += 2;
    } else {
      return;
    }
  }
}

void Lexer::expect(char c, const char* where) {
  if (!accept(c)) fail_expected(fmt::format("'{}' {}", c, where));
}

bool Lexer::accept_word(std::string_view word) {
  peek();
  if (std::strncmp(at_, word.data(), word.size()) != 0 || is_class(at_[word.size()], kNamePart)) return false;
  at_ += word.size();
  return true;
}

std::string_view Lexer::expect_name(const char* what) {
  const std::string_view name = take_name();
  if (name.empty()) fail_expected(what);
  return name;
}

std::string_view Lexer::take_modifier_here() {
  const char* start = at_;
  while (true) {
    if (is_class(*at_, kNamePart)) {
      ++at_;
    } else if (*at_ == ':' && at_[1] == ':' && is_class(at_[2], kNamePart)) {
      at_ += 2;
    } else {
      return {start, static_cast<std::size_t>(at_ - start)};
    }
  }
}

std::uint64_t Lexer::expect_decimal(const char* what, std::uint64_t limit) {
  if (!is_class(peek(), kDigit)) fail_expected(what);
  const Place start = place();
  std::uint64_t value = 0;
  while (is_class(*at_, kDigit)) {
    const auto digit = static_cast<std::uint64_t>(*at_ - '0');
    if (value > (limit - digit) / 10) fail_at(start, fmt::format("{} above the limit of {}", what, limit));
    value = value * 10 + digit;
    ++at_;
  }
  return value;
}

std::string_view Lexer::expect_string(const char* what) {
  if (peek() != '"') fail_expected(what);
  const Place quote = place();
  const char* start = ++at_;
  while (*at_ != '"') {
    if (*at_ == '\0' || *at_ == '\n') fail_at(quote, "this string has no closing '\"' on its line");
    if (*at_ == '\\' && at_[1] != '\0' && at_[1] != '\n') ++at_;
    ++at_;
  }
  return {start, static_cast<std::size_t>(at_++ - start)};
}

Lexer::Number Lexer::take_number() {
  const Place start = place();
  if (*at_ == '0') {
    switch (at_[1]) {
      case 'x':
      case 'X': at_ += 2; return take_based(16, "hexadecimal digits", start);
      case 'b':
      case 'B': at_ += 2; return take_based(2, "binary digits", start);
      case 'f':
      case 'F': at_ += 2; return take_float_bits(8, Number::Kind::f32, start);
      case 'd':
      case 'D': at_ += 2; return take_float_bits(16, Number::Kind::f64, start);
      default: break;
    }
  }
  const char* scan = at_;
  while (is_class(*scan, kDigit)) ++scan;
  bool real = false;
  if (*scan == '.') {
    real = true;
    ++scan;
    while (is_class(*scan, kDigit)) ++scan;
  }
  if (*scan == 'e' || *scan == 'E') {
    const char* exponent = scan + 1;
    if (*exponent == '+' || *exponent == '-') ++exponent;
    if (is_class(*exponent, kDigit)) {
      real = true;
      scan = exponent;
      while (is_class(*scan, kDigit)) ++scan;
    }
  }
  if (!real) {
    if (*at_ != '0') return take_based(10, "decimal digits", start);
    return take_based(8, "octal digits", start);
  }
  double value = 0;
  const auto [rest, status] = std::from_chars(at_, scan, value);
  if (status == std::errc::result_out_of_range) {
    // As in C, too small a number is zero; too large a number is an error.
    bool small = false;
    for (const char* c = at_; c != scan; ++c) small = small || ((*c == 'e' || *c == 'E') && c[1] == '-');
    if (!small) fail_at(start, "this number is above the largest double");
    value = 0;
  } else if (status != std::errc() || rest != scan) {
    fail_at(start, "this is not a number");
  }
  at_ = scan;
  if (is_class(*at_, kNamePart)) fail_expected("the end of the number");
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return {Number::Kind::f64, bits};
}

Lexer::Number Lexer::take_based(std::uint64_t base, const char* digits, Place start) {
  std::uint64_t value = 0;
  bool any = false;
  for (std::uint64_t digit = 0; (digit = digit_value(*at_)) < base; ++at_, any = true) {
    if (value > (std::numeric_limits<std::uint64_t>::max() - digit) / base) {
      fail_at(start, "this number needs more than 64 bits");
    }
    value = value * base + digit;
  }
  if (!any) fail_expected(digits);
  bool is_unsigned = value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (*at_ == 'U') {
    is_unsigned = true;
    ++at_;
  }
  if (is_class(*at_, kNamePart)) fail_expected(fmt::format("{} only in this number", digits));
  return {is_unsigned ? Number::Kind::u64 : Number::Kind::s64, value};
}

Lexer::Number Lexer::take_float_bits(int digits, Number::Kind kind, Place start) {
  std::uint64_t bits = 0;
  for (int i = 0; i < digits; ++i, ++at_) {
    const std::uint64_t digit = digit_value(*at_);
    if (digit >= 16)
      fail_at(start, fmt::format("expected {} hexadecimal digits after 0{}", digits, start.at[1]));
    bits = bits * 16 + digit;
  }
  if (is_class(*at_, kNamePart)) {
    fail_at(start, fmt::format("expected no more than {} hexadecimal digits after 0{}", digits, start.at[1]));
  }
  return {kind, bits};
}

void Lexer::skip_line() {
  while (*at_ != '\n' && *at_ != '\0') ++at_;
}

std::string_view Lexer::skip_braces(const char* what) {
  const Place open = place();
  const char* start = ++at_;
  for (std::size_t depth = 1;; ++at_) {
    if (is_class(*at_, kBlank | kNamePart)) {
      if (*at_ == '\n') ++line_;
    } else if (*at_ == '{') {
      ++depth;
    } else if (*at_ == '}') {
      if (--depth == 0) break;
    } else if (*at_ == '"') {
      expect_string("a string");
      --at_;
    } else if (*at_ == '/' && (at_[1] == '/' || at_[1] == '*')) {
      skip_blanks();
      --at_;
    } else if (*at_ == '\0') {
      fail_at(open, fmt::format("expected '}}' that closes {}, found the end of the text", what));
    }
  }
  return {start, static_cast<std::size_t>(at_++ - start)};
}

std::string Lexer::describe_next() {
  const char c = peek();
  if (c == '\0') return "the end of the text";
  std::string_view word;
  const char* start = at_;
  if (c == '.') {
    ++at_;
    take_modifier_here();
  } else if (is_class(c, kDigit)) {
    while (is_class(*at_, kNamePart)) ++at_;
  } else {
    take_name_here();
  }
  word = {start, static_cast<std::size_t>(at_ - start)};
  at_ = start;
  if (word.empty()) {
    if (c < ' ' || c > '~') return fmt::format("the byte 0x{:02x}", static_cast<unsigned char>(c));
    return fmt::format("'{}'", c);
  }
  if (word.size() > kShownCharacters) return fmt::format("'{}...'", word.substr(0, kShownCharacters));
  return fmt::format("'{}'", word);
}

void Lexer::fail_expected(const std::string& expected) {
  const std::string found = describe_next();
  fail_at(place(), fmt::format("expected {}, found {}", expected, found));
}

void Lexer::fail_at(Place place, const std::string& text) const {
  const char* line_start = place.at;
  while (line_start != begin_ && line_start[-1] != '\n') --line_start;
  throw SyntaxError{fmt::format("PTX line {}, column {}: {}", place.line, place.at - line_start + 1, text)};
}

}  // namespace course::ptx::detail
