// SPDX-License-Identifier: MIT
// A cursor over PTX text: skips white space and comments, reads names, numbers and strings, and creates error
// messages. It creates no token objects: the parser calls the function for what the grammar expects next.
// Invariant: `at_` never passes the NUL that ends the text; between calls it may stand on white space.
// Source: PTX ISA, chapter 4, "Syntax".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace course::ptx::detail {

// Thrown inside the parser and turned into an Error by parse(); never leaves this folder.
struct SyntaxError {
  std::string text;
};

// A position in the text, kept for messages about something read earlier.
struct Place {
  const char* at = nullptr;
  std::uint32_t line = 0;
};

enum CharClass : std::uint8_t { kNameStart = 1, kNamePart = 2, kDigit = 4, kBlank = 8 };

constexpr std::array<std::uint8_t, 256> make_char_classes() {
  std::array<std::uint8_t, 256> table{};
  for (std::size_t c = 'a'; c <= 'z'; ++c) table[c] = kNameStart | kNamePart;
  for (std::size_t c = 'A'; c <= 'Z'; ++c) table[c] = kNameStart | kNamePart;
  for (std::size_t c = '0'; c <= '9'; ++c) table[c] = kNamePart | kDigit;
  table['_'] = table['$'] = kNameStart | kNamePart;
  table['%'] = kNameStart;
  for (const char c : {' ', '\t', '\r', '\n', '\v', '\f'}) table[static_cast<unsigned char>(c)] = kBlank;
  return table;
}
inline constexpr std::array<std::uint8_t, 256> kCharClasses = make_char_classes();

inline bool is_class(char c, std::uint8_t classes) {
  return (kCharClasses[static_cast<unsigned char>(c)] & classes) != 0;
}

class Lexer {
 public:
  // `text` must end with a NUL byte and outlive the lexer.
  explicit Lexer(const char* text) : begin_(text), at_(text) {}

  // Skips white space and comments and returns the character after them, NUL at the end of the text.
  char peek() {
    if (is_class(*at_, kBlank) || *at_ == '/') skip_blanks();
    return *at_;
  }
  // The next character, including white space.
  char here() const { return *at_; }
  char ahead(std::size_t n) const;  // the character n positions further, NUL at the end
  bool at_end() { return peek() == '\0'; }

  bool accept(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  // Reads `c`, or fails with "expected 'c' <where>".
  void expect(char c, const char* where);
  // Reads the word if it is next (and not only the beginning of a longer one).
  bool accept_word(std::string_view word);

  // Reads a name, including a percent sign; empty if there is none.
  std::string_view take_name() {
    peek();
    return take_name_here();
  }
  std::string_view take_name_here() {
    const char* start = at_;
    if (!is_class(*at_, kNameStart)) return {};
    ++at_;
    while (is_class(*at_, kNamePart)) ++at_;
    return {start, static_cast<std::size_t>(at_ - start)};
  }
  std::string_view expect_name(const char* what);
  // Reads letters, digits, '_', '$' and "::" after a dot: a modifier or a directive. Empty if there is none.
  std::string_view take_modifier_here();

  // Reads digits without a sign; fails if there are none or the number exceeds `limit`.
  std::uint64_t expect_decimal(const char* what, std::uint64_t limit);
  // Reads a double-quoted string; returns it without quotes, with escapes as written.
  std::string_view expect_string(const char* what);

  struct Number {
    enum class Kind : std::uint8_t { s64, u64, f64, f32 } kind = Kind::s64;
    std::uint64_t bits = 0;
  };
  // Reads a literal. The cursor must be at a digit, or at a dot before a digit.
  Number take_number();

  void skip_line();
  // Skips a block in braces and returns its contents. The cursor must be at '{'.
  std::string_view skip_braces(const char* what);

  Place place() const { return {at_, line_}; }
  Place place_of_next() {
    peek();
    return place();
  }
  std::uint32_t line() const { return line_; }
  // Advances by one character, which must be neither NUL nor a line end.
  void advance() { ++at_; }
  // Returns to a position on the same or an earlier line.
  void rewind(Place place) {
    at_ = place.at;
    line_ = place.line;
  }

  // Fails with "PTX line 3, column 7: expected X, found Y", where Y is the next token.
  [[noreturn]] void fail_expected(const std::string& expected);
  // Fails with "PTX line 3, column 7: <text>".
  [[noreturn]] void fail_at(Place place, const std::string& text) const;

 private:
  void skip_blanks();
  Number take_based(std::uint64_t base, const char* digits, Place start);
  Number take_float_bits(int digits, Number::Kind kind, Place start);
  std::string describe_next();

  const char* begin_;
  const char* at_;
  std::uint32_t line_ = 1;
};

}  // namespace course::ptx::detail
