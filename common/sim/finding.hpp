// SPDX-License-Identifier: MIT
// One fault that a checker proved, in words and in parts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/checker.hpp"

namespace course::sim {

// A hint is worth a look but is no fault: it never makes a result depend on luck.
enum class Severity : std::uint8_t { error, hint };

// A place in the source, innermost first when stacked.
struct SourcePlace {
  std::string file;  // path as the compiler recorded it; "" when built without -lineinfo
  std::uint32_t line = 0;
  std::string function;
};

struct ThreadId {
  std::uint32_t block[3] = {0, 0, 0};
  std::uint32_t thread[3] = {0, 0, 0};
};

struct Finding {
  Checker checker = Checker::memcheck;
  Severity severity = Severity::error;
  std::string kind;    // stable, for machines: "out-of-bounds-read", "shared-race", "barrier-divergence" …
  std::string kernel;  // demangled
  std::vector<SourcePlace> where;        // of the instruction that tripped it
  std::vector<SourcePlace> other_where;  // the other side of a race, where the memory was freed …
  ThreadId thread, other_thread;
  std::string object;       // "s_data[17]", "d_in, element 1000 of 1000"
  std::string message;      // one sentence for a student
  std::uint64_t times = 1;  // how often this same finding came up
};

// Adds a finding, or counts it once more when an equal one (checker, kind, kernel, places) is there.
void add_finding(std::vector<Finding>& findings, Finding finding);

}  // namespace course::sim
