// SPDX-License-Identifier: MIT
// The interface between grading and running cases: the grader uses lab::Session, tests use a script.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "lab/problem.hpp"
#include "verifier/outcome.hpp"
#include "verifier/request.hpp"

namespace course::grader {

class CaseRunner {
 public:
  virtual ~CaseRunner() = default;
  virtual lab::Outcome run(const lab::Problem& problem, const lab::Task& task, const lab::Case& c,
                           std::uint64_t seed, const lab::Measure& measure) = 0;
};

// Starts a runner for one lab and one device; called once per worker, lab and device.
using RunnerFactory =
    std::function<std::unique_ptr<CaseRunner>(const lab::Problem& problem, lab::DeviceKind device)>;

}  // namespace course::grader
