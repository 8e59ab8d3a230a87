// SPDX-License-Identifier: MIT
// A cursor over PTX text: skips white space and comments, takes names, numbers and strings, and words the
// errors. It makes no token objects: the parser asks for what the grammar wants next.
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

// A place in the text, kept for messages about something read earlier.
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
  // `text` must be followed by a NUL byte and outlive the lexer.
  explicit Lexer(const char* text) : begin_(text), at_(text) {}

  // Skips white space and comments; the character after it, NUL at the end of the text.
  char peek() {
    if (is_class(*at_, kBlank) || *at_ == '/') skip_blanks();
    return *at_;
  }
  // The next character as it stands, white space included.
  char here() const { return *at_; }
  char ahead(std::size_t n) const;  // n characters further, NUL from the end on
  bool at_end() { return peek() == '\0'; }

  bool accept(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  // Takes `c` or fails: "expected ',' after the first operand".
  void expect(char c, const char* where);
  // Takes the word if it is next (and not only the beginning of a longer one).
  bool accept_word(std::string_view word);

  // A name, percent sign included; empty when none is next.
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
  // A run of letters, digits, '_', '$' and "::" after a dot: a modifier or a directive. Empty when none.
  std::string_view take_modifier_here();

  // Digits only, no sign; fails when there are none or above `limit`.
  std::uint64_t expect_decimal(const char* what, std::uint64_t limit);
  // A double-quoted string without its quotes, escapes kept as written.
  std::string_view expect_string(const char* what);

  struct Number {
    enum class Kind : std::uint8_t { s64, u64, f64, f32 } kind = Kind::s64;
    std::uint64_t bits = 0;
  };
  // A literal; the cursor stands on a digit, or on a dot before one.
  Number take_number();

  void skip_line();
  // The cursor stands on '{': to behind the '}' that closes it. Returns what is between them.
  std::string_view skip_braces(const char* what);

  Place place() const { return {at_, line_}; }
  Place place_of_next() {
    peek();
    return place();
  }
  std::uint32_t line() const { return line_; }
  // One character on; only where the caller has seen that it is neither NUL nor a line's end.
  void advance() { ++at_; }
  // Back to a place on the same or an earlier line.
  void rewind(Place place) {
    at_ = place.at;
    line_ = place.line;
  }

  // "PTX line 3, column 7: expected X, found Y", Y being what is next.
  [[noreturn]] void fail_expected(const std::string& expected);
  // "PTX line 3, column 7: <text>".
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
