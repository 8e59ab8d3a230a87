// SPDX-License-Identifier: MIT
// Runs a bench program that holds a student's code: shut in as for a grade, with one folder to write its
// results in.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "layout.hpp"
#include "process.hpp"
#include "verifier/session.hpp"

namespace course::grader {

// What the program wrote to the file that it was given with --json. `libraries`: the folder with its
// libcudart.
Result<std::string> run_shut_in(const Layout& layout, std::vector<std::string> command,
                                lab::DeviceKind device, const std::string& libraries, ProcessOptions how);

}  // namespace course::grader
