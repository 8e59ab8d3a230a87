// SPDX-License-Identifier: MIT
// The lines of source code that an op comes from, and these as text for messages.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/machine/program.hpp"

namespace course::sim {

// The source positions of an op, innermost function first. Empty without line information.
std::vector<SourcePlace> places_of(const Program& program, const MicroOp& op);
std::vector<SourcePlace> places_of(const Program& program, std::uint32_t function, std::uint32_t ptx_index);
// The innermost position in the file of the kernel itself, that is, the line that its author wrote. If the
// kernel is the toolkit's, the innermost one in a file of the author's: a lambda passed to Thrust, for
// example. Default-initialised if `places` is empty.
SourcePlace own_place(const std::vector<SourcePlace>& places);
// The positions as text: "scan.cu:31 (in tile.cuh:7)".
std::string one_line(const std::vector<SourcePlace>& places);
// "kernels/fold.cu:31": relative to the current directory if the file is below it.
std::string file_and_line(const std::string& file, std::uint32_t line);

}  // namespace course::sim
