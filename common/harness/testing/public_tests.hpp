// SPDX-License-Identifier: MIT
// A lab's public tests: one GoogleTest per task and case, executed in a runner process and judged like in the
// grader; and what the cases and baselines of every lab must do, for which no kernel runs.
// labs/<lab>/<lab>_test.cpp calls run_public_tests from main and adds its own tests.
//
//   RUNNER         the runner to test; default: runner_<lab> beside the test
//   LAB_DEVICE     sim or gpu; default: sim
//   LAB_SEED       the inputs' seed; default: 1
//   LAB_UNWRITTEN  skip: a task that is not implemented is skipped; otherwise it fails
//   LAB_EVERY      4: only the first of each four cases of a task
//   LAB_RUNGS      1: RUNNER is a solution: also the further rungs, which only solutions have
#pragma once

#include "lab/problem.hpp"
#include "verifier/session.hpp"

namespace course::lab {

// Registers the tests, runs all tests of the program, and returns main's result: not 0 if no test ran.
int run_public_tests(int argc, char** argv, const Problem& problem);

// The device and the session options of these tests, for further tests of a lab.
DeviceKind device_for_tests();
SessionOptions session_options_for_tests(const Manifest& manifest, DeviceKind device);

}  // namespace course::lab
