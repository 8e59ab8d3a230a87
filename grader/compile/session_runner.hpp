// SPDX-License-Identifier: MIT
// Runs cases with lab::Session on a built runner, in a sandbox.
#pragma once

#include <string>

#include "grading/case_runner.hpp"
#include "grading/explain.hpp"
#include "layout.hpp"
#include "sandbox/sandbox.hpp"

namespace course::grader {

constexpr double kSecondsPerCase = 40;  // CPU seconds

constexpr std::uint64_t kHostMemoryWithGpu = std::uint64_t{24} << 30;  // bytes: the driver maps and pins

// The files that a runner sees: its program and the libraries that it needs.
sandbox::View view_for(const Layout& layout, const std::string& executable, lab::DeviceKind device);

// `several_devices`: the lab is for several devices, so on GPUs it uses NCCL.
sandbox::Purpose purpose_of(lab::DeviceKind device, bool several_devices);

// The sandbox that this machine supports for runners; probed once per process.
const sandbox::Machine& isolation_here(const Layout& layout);

// Runs cases of the lab of `context` on `executable`. Tests use it with their own programs.
std::unique_ptr<CaseRunner> session_runner(const Layout& layout, std::string executable,
                                           lab::DeviceKind device, const RunContext& context,
                                           double seconds_per_case = kSecondsPerCase,
                                           const sandbox::Bounds& bounds = {});

// For grading: the runner of each lab that build_runners made.
RunnerFactory session_runners(const Layout& layout, const RunContext& context);

// The same for the solutions. Gives nullptr for labs whose solution has not been built.
RunnerFactory reference_runners(const Layout& layout, const RunContext& context);

}  // namespace course::grader
