// SPDX-License-Identifier: MIT
#include <cstdio>

#include "cli/commands.hpp"
#include "text.hpp"

namespace course::grader::cli {

int fail(const std::string& text) {
  std::fputs(("lab: " + tame(text) + "\n").c_str(), stderr);
  return kFailed;
}

}  // namespace course::grader::cli
