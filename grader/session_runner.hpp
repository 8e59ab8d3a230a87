// SPDX-License-Identifier: MIT
// Cases run for real: lab::Session on a built runner, in a sandbox.
#pragma once

#include <string>

#include "case_runner.hpp"
#include "explain.hpp"
#include "layout.hpp"
#include "sandbox/sandbox.hpp"

namespace course::grader {

constexpr double kSecondsPerCase = 20;

// How far runners are shut in on this machine; tried once per process.
const sandbox::Machine& isolation_here(const Layout& layout);

// A runner of `executable`; tests use it on runners of their own making.
std::unique_ptr<CaseRunner> session_runner(const Layout& layout, std::string executable,
                                           lab::DeviceKind device, const RunContext& context,
                                           double seconds_per_case = kSecondsPerCase,
                                           const sandbox::Bounds& bounds = {});

// For grading labs: the runner of each lab in the build folder.
RunnerFactory session_runners(const Layout& layout, const RunContext& context);

}  // namespace course::grader
