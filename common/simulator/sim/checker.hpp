// SPDX-License-Identifier: MIT
// One row for each checker: its name, the mode bit that enables it, and how its findings are shown. Data
// only, without code of the simulator, so that programs that read its reports can include this file.
// checkers/checker_set.cpp creates the checkers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace course::sim {

enum class Checker : std::uint8_t { memcheck, racecheck, initcheck, synccheck, leakcheck, execution };

struct CheckerRow {
  Checker checker;
  const char* name;    // in reports, and in SIM_MODE if it has a mode bit
  std::uint32_t mode;  // the bit of Mode that enables it; 0: it has none of its own
  const char* label;   // printed before its findings in messages to students; "": nothing
  int rank;            // findings of a lower rank are shown first
};

// The ranks put first what corrupts memory or ends the run, then what makes its result depend on timing.
inline constexpr std::array kCheckers{
    CheckerRow{Checker::memcheck, "memcheck", 0, "memory access", 0},
    CheckerRow{Checker::racecheck, "racecheck", 4, "race", 4},
    CheckerRow{Checker::initcheck, "initcheck", 8, "uninitialised read", 5},
    CheckerRow{Checker::synccheck, "synccheck", 16, "synchronisation", 2},
    CheckerRow{Checker::leakcheck, "leakcheck", 0, "", 6},
    CheckerRow{Checker::execution, "execution", 0, "", 1},
};

constexpr const CheckerRow& row_of(Checker checker) {
  return kCheckers[static_cast<std::size_t>(checker)];
}
constexpr const char* name_of(Checker checker) {
  return row_of(checker).name;
}

// Each row is at the index of its enumerator, and no two rows share a bit.
constexpr bool rows_are_in_order() {
  std::uint32_t modes = 0;
  for (std::size_t k = 0; k < kCheckers.size(); ++k) {
    if (kCheckers[k].checker != static_cast<Checker>(k) || (modes & kCheckers[k].mode) != 0) return false;
    modes |= kCheckers[k].mode;
  }
  return true;
}
static_assert(rows_are_in_order());

// The mode bits of all checkers that observe kernels.
inline constexpr std::uint32_t kCheckersOfKernels = [] {
  std::uint32_t bits = 0;
  for (const CheckerRow& row : kCheckers) bits |= row.mode;
  return bits;
}();

// Checkers may make a kernel this many times slower. A limit of the device's processor time is this many
// times higher while one of them is on, so that no case has to be run again without checkers.
inline constexpr double kSlowdownByCheckers = 4;
// When a checker has found an error, waiting for the end is hardly worth it: a race can be why there is none.
// Then the limit is the one without checkers, divided by this.
inline constexpr double kShareAfterError = 4;

}  // namespace course::sim
