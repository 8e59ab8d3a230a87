// SPDX-License-Identifier: MIT
// The darkroom: runs one stage of ./lab photo. A stage calls tasks of its lab, and each
// call is a case of that lab with the photo's numbers as its items: it runs in the lab's runner, and the
// lab's own check judges it.
#pragma once

#include <functional>
#include <string>

#include "lab/photo.hpp"
#include "verifier/outcome.hpp"

namespace course::grader {

struct DevelopedStage {
  const lab::PhotoStage* stage = nullptr;
  std::string task;  // that was called last
  // Of the first call that was not right; NOT_IMPLEMENTED if a call found no task that is written.
  lab::Verdict verdict = lab::Verdict::ok;
  std::string message;                        // why; "" if ok
  double processor_seconds = 0, time_us = 0;  // of the runner; of the kernels, 0 if unknown
  lab::Photo shown;                           // the photo after the stage, or what it found

  bool is_written() const { return verdict != lab::Verdict::not_implemented; }
};

using RunCase =
    std::function<lab::Outcome(const lab::Problem& problem, const lab::Task& task, const lab::Case& c)>;

// Develops the photo by one stage. A stage whose kernel gave nothing leaves it as it is.
DevelopedStage develop(const lab::PhotoStage& stage, lab::Photo& photo, const RunCase& run_case);

}  // namespace course::grader
