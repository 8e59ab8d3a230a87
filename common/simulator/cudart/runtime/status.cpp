// SPDX-License-Identifier: MIT
#include "cudart/runtime/status.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>

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

}  // namespace

const char* error_name(int code) {
  const ErrorEntry* entry = find_error(code);
  return entry != nullptr ? entry->name : kUnrecognized;
}

const char* error_string(int code) {
  const ErrorEntry* entry = find_error(code);
  return entry != nullptr ? entry->text : kUnrecognized;
}

void silence(bool quiet) {
  silenced.store(quiet, std::memory_order_relaxed);
}

void say(std::string_view text) {
  if (silenced.load(std::memory_order_relaxed)) return;
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  std::string out;
  while (true) {
    const std::size_t end = text.find('\n');
    out += "simulator: ";
    out += text.substr(0, end);
    out += '\n';
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  std::fwrite(out.data(), 1, out.size(), stderr);
}

}  // namespace course::cudart
