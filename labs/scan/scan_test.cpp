// SPDX-License-Identifier: MIT
#include "lab/testing/public_tests.hpp"

namespace course::scan {
const lab::Problem& problem();
}

int main(int argc, char** argv) {
  return course::lab::run_public_tests(argc, argv, course::scan::problem());
}
