// SPDX-License-Identifier: MIT
#include <unistd.h>

#include <cstdio>
#include <string>

#include "cli/commands.hpp"
#include "text.hpp"

namespace course::grader::cli {

int fail(const std::string& text) {
  std::string message = "lab: " + tame(text);
  // A file that the message is written to gets it in one line.
  if (isatty(STDERR_FILENO) != 0) {
    const std::size_t columns = terminal_columns();
    const std::string wrapped = wrap(message, columns);
    if (!has(wrapped, "…")) message = wrapped;  // a path that does not fit stays whole
  }
  std::fputs((message + "\n").c_str(), stderr);
  return kFailed;
}

}  // namespace course::grader::cli
