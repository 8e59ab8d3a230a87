// SPDX-License-Identifier: MIT
// Runs a bench program that contains a student's code, in the same sandbox as for a grade, with one folder
// for its results.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "layout.hpp"
#include "process.hpp"
#include "verifier/session.hpp"

namespace course::grader {

// Returns what the program wrote to the file that --json names. `libraries`: the folders with its libcudart
// and, if it is of a lab for several devices, its libnccl, separated by colons.
// An Error if the program could not be started, took too long or failed.
Result<std::string> run_sandboxed(const Layout& layout, std::vector<std::string> command,
                                  lab::DeviceKind device, const std::string& libraries, ProcessOptions how,
                                  bool several_devices = false);

}  // namespace course::grader
