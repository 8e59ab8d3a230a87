// SPDX-License-Identifier: MIT
// The player on the host: answers each line of standard input, a request, with a line.
#include <cstdio>
#include <iostream>
#include <string>

#include "play/player.hpp"

int main() {
  for (std::string line; std::getline(std::cin, line);) std::puts(course::grader::play::play(line).c_str());
}
