// SPDX-License-Identifier: MIT
// Runs a lab's kernels once, on the simulator in this process, and records everything that a page needs to
// step through the run in both directions: the source lines that each warp executed, the accesses, the
// values stored and the elements from which they were computed, findings, counters, and the outputs beside
// the expected ones. The host code does not run here: its launches and fills have been recorded
// (recorder.cpp). Compiled for the host and, from the same source, to WebAssembly.
// Invariant: the answer depends on the request alone. It contains no address, no time and nothing of the
// host.
#pragma once

#include <string>
#include <string_view>

namespace course::grader::play {

// `request` and the answer are JSON, described in README.md. Never throws: an answer with "error" says why
// there is no run.
std::string play(std::string_view request);

}  // namespace course::grader::play
