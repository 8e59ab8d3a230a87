// SPDX-License-Identifier: MIT
// Checks a student's object before any of its code runs: does it only use names, sections and device code
// that a lab's code may use? The rules are in rules.cpp (device code: sim/observation/subset.hpp), and for
// people in handouts/rules.md.
// Screening is not a security boundary: handwritten machine code can evade it. It tells honest students early
// and clearly what is not allowed, and makes cheating less convenient. The sandbox and the process boundary
// do not depend on it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "screen/object_file.hpp"

namespace course::grader::screen {

// One thing that is not allowed.
struct Objection {
  std::string what;    // "cudaMemcpy", "CUB or Thrust"
  std::string why;     // a clause: "copies between host and device"
  std::string anchor;  // of handouts/rules.md
  // A name in no table: perhaps one that the file forgot to define.
  bool unknown_import = false;
};

// The objections, the most important first: size, libraries, imports, definitions, constructors, device code,
// sections. `lab` is the lab's id.
std::vector<Objection> objections(const ObjectFile& object, std::string_view lab,
                                  bool several_devices = false);

// The message for the student; "" when there is no objection.
std::string message_of(const std::vector<Objection>& objections);

struct Screened {
  std::string message;  // for the student; "" when the object may run
  // At most unknown names were found. They may be undefined, which the linker reports better.
  bool may_be_linked = true;
};
// Screens the object file at `path`. An Error if it cannot be read as an object file; compilers never produce
// such a file.
Result<Screened> screen_object(const std::string& path, std::string_view lab, bool several_devices = false);

}  // namespace course::grader::screen
