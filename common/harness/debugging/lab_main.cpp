// SPDX-License-Identifier: MIT
// Linked with a student's object by debug.py. Compiled with -DCOURSE_LAB=<lab>.
#include "debugging/lab_case.hpp"

namespace course::COURSE_LAB {
lab::Status run(const lab::Request& request);
}

int main(int argc, char** argv) {
  return course::debug::run_lab_case(argc, argv, course::COURSE_LAB::run);
}
