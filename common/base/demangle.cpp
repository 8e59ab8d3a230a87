// SPDX-License-Identifier: MIT
// With LAB_HAVE_DEMANGLE_CALLBACK, the demangler of GCC's library passes on its text in pieces, and is left
// as soon as the text is too long. So the text is never stored as a whole. Each node that it prints
// repeatedly, such as a function or a template, has at least two characters of its own, so the number of
// nodes that it visits is at most the length of the text times that of the name.
// One step has no such bound: before it prints a pack expansion (a pattern repeated for each of several
// types), it searches the pattern for the pack, and visits shared parts of it again and again. The number of
// visits at most doubles with each reference to an earlier part.
// Source: Itanium C++ ABI, section 5.1 (mangling); GCC, libiberty/cp-demangle.c.
#include "base/demangle.hpp"

#include <charconv>

#ifdef LAB_HAVE_DEMANGLE_CALLBACK
#include <csetjmp>
#include <cstring>
extern "C" int __gcclibcxx_demangle_callback(const char* mangled,
                                             void (*print)(const char*, std::size_t, void*), void* data);
#else
#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#endif

namespace course {
namespace {

// An upper bound of the references to earlier parts of a mangled name (S_, S0_, T_, fp_ …). Identifiers that
// contain such letters are counted, too.
std::size_t count_of_references(std::string_view mangled) {
  std::size_t n = 0;
  for (std::size_t i = 0; i + 1 < mangled.size(); ++i) {
    const char c = mangled[i], next = mangled[i + 1];
    const bool number = next == '_' || (next >= '0' && next <= '9') || (next >= 'A' && next <= 'Z');
    if (((c == 'S' || c == 'T') && number) || (c == 'f' && (next == 'p' || next == 'L'))) ++n;
  }
  return n;
}

// The same for pack expansions and folds.
std::size_t count_of_expansions(std::string_view mangled) {
  std::size_t n = 0;
  for (const std::string_view code : {"Dp", "sp", "sP", "sZ", "fl", "fr", "fL", "fR"})
    for (std::size_t at = mangled.find(code); at != std::string_view::npos; at = mangled.find(code, at + 1))
      ++n;
  return n;
}

// Demangles a name of at most kLongestMangled characters into `text`. False if it is none, or too long.
bool demangle(const std::string& name, std::string& text);

#ifdef LAB_HAVE_DEMANGLE_CALLBACK
constexpr std::size_t kMaxReferences = kLongestMangled;  // without expansions

struct Printed {
  std::size_t n = 0;
  char text[kLongestDemangled];
  std::jmp_buf too_long;
};

void print(const char* piece, std::size_t n, void* data) {
  Printed& out = *static_cast<Printed*>(data);
  if (n > sizeof out.text - out.n) std::longjmp(out.too_long, 1);  // over frames of C code alone
  std::memcpy(out.text + out.n, piece, n);
  out.n += n;
}

bool fits(const char* name, Printed& out) {
  if (setjmp(out.too_long) != 0) return false;  // NOLINT(cert-err52-cpp): C code cannot pass on an exception
  return __gcclibcxx_demangle_callback(name, &print, &out) == 0;
}

bool demangle(const std::string& name, std::string& text) {
  Printed out;
  if (!fits(name.c_str(), out)) return false;
  text.assign(out.text, out.n);
  return true;
}
#else
#ifdef __wasm__
// The memory of the whole program has a bound, and its end is reported.
constexpr std::size_t kMaxReferences = kLongestMangled;
#else
// The text is stored as a whole, so few references are allowed: 2^10 times the name.
constexpr std::size_t kMaxReferences = 10;
#endif

// LLVM's library writes "(a) == (b)" where GCC's writes "(a)==(b)".
void remove_spaces_around_operators(std::string& text) {
  for (std::size_t at = text.find(") "); at != std::string::npos; at = text.find(") ", at + 1)) {
    const std::size_t end = text.find_first_not_of("=!<>+-*/%&|^", at + 2);
    if (end == std::string::npos || end == at + 2 || text.compare(end, 2, " (") != 0) continue;
    text.erase(end, 1);
    text.erase(at + 1, 1);
  }
}

bool demangle(const std::string& name, std::string& text) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> found(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  if (status != 0 || !found) return false;
  text = found.get();
  remove_spaces_around_operators(text);
  return text.size() <= kLongestDemangled;
}
#endif

// Without the arguments of templates and parameters: "a::f" for "_ZN1a1fI…".
std::string plain_name(const std::string& mangled) {
  const bool nested = mangled.starts_with("_ZN");
  std::size_t at = nested ? 3 : 2;
  for (bool more = true; more && at < mangled.size(); more = nested) {
    std::size_t length = 0;
    const auto [end, error] = std::from_chars(mangled.data() + at, mangled.data() + mangled.size(), length);
    if (error != std::errc()) break;
    if (length > mangled.size()) return mangled;
    at = static_cast<std::size_t>(end - mangled.data()) + length;
  }
  std::string text;
  return demangle(mangled.substr(0, at) + (nested ? "E" : ""), text) ? text : mangled;
}

}  // namespace

std::string demangled(std::string_view mangled) {
  constexpr std::size_t kMaxExpansions = 3, kMaxReferencesInThem = 12;
  std::string name(mangled), text;
  if (!mangled.starts_with("_Z")) return name;  // else a variable `s` would be demangled as the type short
  if (name.size() > kLongestMangled) return name;
  const std::size_t n_references = count_of_references(mangled), n_expansions = count_of_expansions(mangled);
  const bool may_expand =
      n_expansions == 0 || n_references <= (n_expansions > kMaxExpansions ? 0 : kMaxReferencesInThem);
  return may_expand && n_references <= kMaxReferences && demangle(name, text) ? text : plain_name(name);
}

}  // namespace course
