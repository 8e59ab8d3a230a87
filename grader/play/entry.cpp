// SPDX-License-Identifier: MIT
// The player's C interface, for JavaScript.
#include <string>

#include "play/player.hpp"

// Returns the answer, NUL-terminated; it is valid until the next call.
extern "C" const char* play(const char* request) {
  static std::string answer;
  answer = course::grader::play::play(request);
  return answer.c_str();
}
