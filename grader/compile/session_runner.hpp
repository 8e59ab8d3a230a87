// SPDX-License-Identifier: MIT
// Cases run for real: lab::Session on a built runner, in a sandbox.
#pragma once

#include <string>

#include "grading/case_runner.hpp"
#include "grading/explain.hpp"
#include "layout.hpp"
#include "sandbox/sandbox.hpp"

namespace course::grader {

constexpr double kSecondsPerCase = 40;  // of the processor

constexpr std::uint64_t kHostMemoryWithGpu = std::uint64_t{24} << 30;  // bytes: the driver maps and pins

// What a runner sees: the program, the libraries that it is to find, and nothing else of ours.
sandbox::View view_for(const Layout& layout, const std::string& executable, lab::DeviceKind device);

// How far runners are shut in on this machine; tried once per process.
const sandbox::Machine& isolation_here(const Layout& layout);

// A runner of `executable`; tests use it on runners of their own making.
std::unique_ptr<CaseRunner> session_runner(const Layout& layout, std::string executable,
                                           lab::DeviceKind device, const RunContext& context,
                                           double seconds_per_case = kSecondsPerCase,
                                           const sandbox::Bounds& bounds = {});

// For grading labs: the runner of each lab in the build folder.
RunnerFactory session_runners(const Layout& layout, const RunContext& context);

// The same of the solutions that are built; nullptr for the others.
RunnerFactory reference_runners(const Layout& layout, const RunContext& context);

}  // namespace course::grader
