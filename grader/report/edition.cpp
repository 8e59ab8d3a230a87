// SPDX-License-Identifier: MIT
#include "report/edition.hpp"

#include <fmt/format.h>

namespace course::grader {

RunResult for_students(RunResult result) {
  result.for_students = true;
  result.seed = 0;
  for (LabResult& lab : result.labs) {
    for (TaskResult& task : lab.tasks) {
      task.small_input.clear();
      for (CaseRecord& record : task.cases) {
        // An earlier version stored only a text. It may contain values, so it is left out.
        record.message.clear();
        if (record.failure) set_failure(record, lab::without_values(std::move(*record.failure)));
      }
      // Without cases, it is about the student's own file: of a compiler or of the screening.
      if (!task.cases.empty()) task.message = message_of(task);
    }
  }
  return result;
}

std::string seed_text(const RunResult& result) {
  return result.for_students ? "kept back" : fmt::format("{:#x}", result.seed);
}

}  // namespace course::grader
