// SPDX-License-Identifier: MIT
// The positions in the program's source at which host code calls the runtime, or executes an instruction that
// faults. Source lines need debug information in the program (-g1 is enough). In optimised host code, the
// line of an inlined call is that of the inlined function; if this one is in a header of the system, that of
// the author's code before it.
#pragma once

#include <vector>

#include "sim/finding.hpp"

namespace course::cudart {

// Addresses of instructions, the innermost call first.
using CallStack = std::vector<const void*>;
// This thread's innermost calls, at most 64, beginning with the first one outside of this library.
CallStack call_stack();
// Begins with the instruction `code`. Its callers follow in a handler of the signal that it has raised.
CallStack call_stack_from(const void* code);

// The source line of a host instruction; empty without debug information.
std::vector<sim::SourcePlace> place_of_code(const void* code);
// The innermost line of the program's author: not of the toolkit's and the system's headers, nor of the
// functions that nvcc generates for a kernel. Empty if there is none, for example without debug information.
std::vector<sim::SourcePlace> place_of(const CallStack& calls);
// "FILE:LINE", or "" if there is none.
std::string text_of(const std::vector<sim::SourcePlace>& place);

}  // namespace course::cudart
