// SPDX-License-Identifier: MIT
// Looks at a student's object before anything of it runs: does it use just what a lab's code may use? What
// may be used stands in rules.cpp, for people in handouts/rules.md.
// Screening is no wall: whoever writes machine code by hand gets past it. It tells honest people early and
// clearly what does not count, and takes the convenient tools from the others; the sandbox and the process
// boundary hold without it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "screen/object_file.hpp"

namespace course::grader::screen {

// One thing that is not allowed.
struct Objection {
  std::string what;             // "cudaMemcpy", "a constructor"
  std::string why;              // a clause: "copies between host and device"
  std::string anchor;           // of handouts/rules.md
  bool unknown_import = false;  // a name that nothing is known of: perhaps one that the file forgot to define
};

// In the order in which a reader cares; `lab` is the id.
std::vector<Objection> objections(const ObjectFile& object, std::string_view lab);

// For a student; "" when there is no objection.
std::string message_of(const std::vector<Objection>& objections);

struct Screened {
  std::string message;  // for a student; "" when it may run
  bool may_be_linked =
      true;  // nothing in it is against linking: at most names are missing, and the linker says so better
};
// An error when it is no object file that can be read, which no compiler makes.
Result<Screened> screen_object(const std::string& path, std::string_view lab);

}  // namespace course::grader::screen
