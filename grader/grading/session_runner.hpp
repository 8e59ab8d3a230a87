// SPDX-License-Identifier: MIT
// Runs cases with lab::Session on a built runner, in a sandbox.
#pragma once

#include <string>

#include "grading/case_runner.hpp"
#include "grading/run_context.hpp"
#include "layout.hpp"
#include "sandbox/sandbox.hpp"

namespace course::grader {

constexpr double kSecondsPerCase = 40;  // CPU seconds

// The sandbox that this machine supports for runners; probed once per process.
const sandbox::Machine& isolation_here(const Layout& layout);

// Runs cases of the lab of `context` on `executable`. Tests use it with their own programs.
std::unique_ptr<CaseRunner> session_runner(const Layout& layout, std::string executable,
                                           lab::DeviceKind device, const RunContext& context,
                                           double seconds_per_case = kSecondsPerCase,
                                           const sandbox::Bounds& bounds = {});

// For grading: the runner of each lab that build_runners made.
RunnerFactory session_runners(const Layout& layout, const RunContext& context);

}  // namespace course::grader
