// SPDX-License-Identifier: MIT
#pragma once

#include "lab/request.hpp"

namespace course::grader::play {

// What the last lines of a lab's file define.
using Run = lab::Status(const lab::Request&);

}  // namespace course::grader::play

// Writes to standard output, as JSON for records.py, what `run` asks of the device for all lengths up to 64
// items, once for each name that the program is to have. Ends the process.
extern "C" void playRecord(const char* lab_id, course::grader::play::Run* run, int n_names, char** names);
