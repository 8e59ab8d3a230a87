// SPDX-License-Identifier: MIT
// What a run of a case, and so a task, can come to.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace course::lab {

enum class Verdict : std::uint8_t {
  ok,
  wrong_answer,
  compile_error,
  policy,
  time_limit,
  memory_limit,
  output_limit,
  crash,
  not_implemented,
  suspect,
  infra,
};

// What a verdict means for a submission; reports choose the colour by it.
enum class Standing : std::uint8_t {
  right,
  wrong,
  unsure,  // a person must decide, or it must be run again
  absent,  // there is nothing to judge
};

struct VerdictRow {
  Verdict verdict;
  std::string_view name;
  Standing standing;
};

// All verdicts, in the order of the enum.
inline constexpr std::array kVerdicts{
    VerdictRow{Verdict::ok, "OK", Standing::right},
    VerdictRow{Verdict::wrong_answer, "WRONG_ANSWER", Standing::wrong},
    VerdictRow{Verdict::compile_error, "COMPILE_ERROR", Standing::wrong},
    VerdictRow{Verdict::policy, "POLICY", Standing::wrong},
    VerdictRow{Verdict::time_limit, "TIME_LIMIT", Standing::wrong},
    VerdictRow{Verdict::memory_limit, "MEMORY_LIMIT", Standing::wrong},
    VerdictRow{Verdict::output_limit, "OUTPUT_LIMIT", Standing::wrong},
    VerdictRow{Verdict::crash, "CRASH", Standing::wrong},
    VerdictRow{Verdict::not_implemented, "NOT_IMPLEMENTED", Standing::absent},
    VerdictRow{Verdict::suspect, "SUSPECT", Standing::unsure},
    VerdictRow{Verdict::infra, "INFRA", Standing::unsure},
};
constexpr const VerdictRow& row_of(Verdict verdict) {
  return kVerdicts[static_cast<std::size_t>(verdict)];
}
static_assert([] {
  std::size_t k = 0;
  for (const VerdictRow& row : kVerdicts)
    if (static_cast<std::size_t>(row.verdict) != k++) return false;
  return true;
}());
constexpr std::string_view name_of(Verdict verdict) {  // "WRONG_ANSWER"
  return row_of(verdict).name;
}

}  // namespace course::lab
