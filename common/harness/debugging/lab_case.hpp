// SPDX-License-Identifier: MIT
// The main program of a lab's file that is being debugged: one case of one task, in one process. Built as a
// shared library, so that only the student's file has to be compiled.
#pragma once

#include "lab/request.hpp"

namespace course::debug {

// Arguments: LAB TASK, then --case NAME, or --n ITEMS for the example, and --seed NUMBER. Prints whether the
// output is right. Returns the program's exit code: 0 if the task ran, right or wrong, else 2.
int run_lab_case(int argc, char** argv, lab::Status (*run)(const lab::Request&));

}  // namespace course::debug
