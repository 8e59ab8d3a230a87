// SPDX-License-Identifier: MIT
// One fault or hint that a checker has found, as text and as data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/checker.hpp"

namespace course::sim {

// A hint deserves attention but is not a fault by itself.
enum class Severity : std::uint8_t { error, hint };

// A position in the source. In a list of positions, the innermost function comes first.
struct SourcePlace {
  std::string file;  // path as the compiler recorded it; "" without -lineinfo
  std::uint32_t line = 0;
  std::string function;
};

struct ThreadId {
  std::uint32_t block[3] = {0, 0, 0};
  std::uint32_t thread[3] = {0, 0, 0};
};

// The kind of an "api-error" that follows from an earlier one.
inline constexpr const char* kConsequence = "consequence";

struct Finding {
  Checker checker = Checker::memcheck;
  Severity severity = Severity::error;
  std::string kind;    // stable identifier: "out-of-bounds", "shared-race", "barrier-divergence" …
  std::string kernel;  // demangled
  std::vector<SourcePlace> where;        // the instruction that caused it
  std::vector<SourcePlace> other_where;  // the other side of a race, for example
  ThreadId thread, other_thread;
  std::string object;        // "s_data[17]", "d_in, element 1000 of 1000"
  std::string message;       // one sentence for a student
  std::uint64_t times = 1;   // how often it was found
  std::uint64_t number = 0;  // in the order in which the process found them
};

// Adds a finding, or counts an equal one (checker, kind, kernel, positions; without positions, the message
// but for its numbers) once more, as an error if one of them is an error. Keeps 64 different ones at most.
void add_finding(std::vector<Finding>& findings, Finding finding);

}  // namespace course::sim
