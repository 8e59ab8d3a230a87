// SPDX-License-Identifier: MIT
#include "cudart/runtime/status.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace course::cudart {
namespace {

struct ErrorEntry {
  int code;
  const char* name;
  const char* text;
};

// In ascending order of codes.
constexpr auto kErrors = std::to_array<ErrorEntry>({
#define X(code, name, text) {code, #name, text},
#include "cudart/error_table.inc"
#undef X
});

const ErrorEntry* find_error(int code) {
  const auto* entry = std::lower_bound(kErrors.begin(), kErrors.end(), code,
                                       [](const ErrorEntry& e, int wanted) { return e.code < wanted; });
  return entry != kErrors.end() && entry->code == code ? entry : nullptr;
}

constexpr const char* kUnrecognized = "unrecognized error code";
std::atomic<bool> silenced{false};
constexpr std::string_view kPrefix = "simulator: ";

// The columns to write for: COLUMNS, else those of a terminal; otherwise lines stay whole, for grep and logs.
std::size_t columns() {
  constexpr std::size_t kFewest = 40;
  const char* wanted = std::getenv("COLUMNS");
  winsize size{};
  std::size_t n = wanted != nullptr ? std::strtoul(wanted, nullptr, 10) : 0;
  if (n == 0 && isatty(STDERR_FILENO) != 0 && ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0) n = size.ws_col;
  return n == 0 ? std::string_view::npos : std::max(n, kFewest);
}

// Adds a line, in as many lines as it takes; those after the first are indented by two more.
void add_line(std::string& out, std::string_view line, std::size_t width) {
  const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
  std::size_t used = kPrefix.size() + indent;
  out += kPrefix;
  out += line.substr(0, indent);
  line.remove_prefix(indent);
  while (!line.empty()) {
    const std::string_view word = line.substr(0, line.find(' '));
    const auto n = static_cast<std::size_t>(std::count_if(  // the first bytes of characters
        word.begin(), word.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
    const bool is_first = out.back() == ' ';
    if (!is_first && used + 1 + n > width) {
      out += '\n';
      out += kPrefix;
      out.append(indent + 2, ' ');
      used = kPrefix.size() + indent + 2;
    } else if (!is_first) {
      out += ' ';
      ++used;
    }
    out += word;
    used += n;
    line.remove_prefix(std::min(word.size() + 1, line.size()));
  }
  out += '\n';
}

}  // namespace

const char* error_name(int code) {
  const ErrorEntry* entry = find_error(code);
  return entry != nullptr ? entry->name : kUnrecognized;
}

const char* error_string(int code) {
  const ErrorEntry* entry = find_error(code);
  return entry != nullptr ? entry->text : kUnrecognized;
}

std::string name_of_call(std::string_view function) {
  for (const std::string_view suffix : {"_ptsz", "_ptds", "_v2", "_v3"})
    if (function.ends_with(suffix)) function.remove_suffix(suffix.size());
  return std::string(function);
}

void silence(bool quiet) {
  silenced.store(quiet, std::memory_order_relaxed);
}

namespace {

// In lines of `width` columns.
std::string lines_of(std::string_view text, std::size_t width) {
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  std::string out;
  while (true) {
    const std::size_t end = text.find('\n');
    add_line(out, text.substr(0, end), width);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return out;
}

void print(const std::string& lines) {
  if (!silenced.load(std::memory_order_relaxed)) std::fwrite(lines.data(), 1, lines.size(), stderr);
}

}  // namespace

void say(std::string_view text) {
  print(lines_of(text, columns()));
}

void say_briefly(std::string_view text) {
  constexpr std::size_t kColumns = 100;
  constexpr int kLines = 4;
  const std::size_t width = std::min(columns(), kColumns);
  const std::string more = " … more with -v\n";
  std::string out = lines_of(text, width);
  std::size_t last = 0, end = 0;
  for (int k = 0; k < kLines && end < out.size(); ++k) end = out.find('\n', last = end) + 1;
  if (end < out.size()) {
    out.resize(std::min(end - 1, last + width - more.size()));
    out.resize(out.rfind(' '));
    out += more;
  }
  print(out);
}

}  // namespace course::cudart
