// SPDX-License-Identifier: MIT
// The system-call filter of a student's process (seccomp, through libseccomp). A call that only an attack
// makes ends the process with SIGSYS, which the grader reads as CRASH; one that is merely unknown fails with
// ENOSYS, as on an older kernel.
#pragma once

#include <cstdint>

#include "base/result.hpp"

namespace course::grader::sandbox {

enum class Filter : std::uint8_t {
  none,
  runner,  // on the simulator: threads, memory, files of the view, its channel; no other process, no socket
  gpu_runner,  // the driver's calls as well: what is not known to be hostile is allowed
  compiler,    // processes too, but no socket and nothing that touches other processes or the system
};

// Whether this build has libseccomp.
bool filter_is_built_in();

// From here on, for this process and all that come of it. `program`: the one execve() that a runner's filter
// lets through is of this very pointer; the program that it starts can't know it.
Result<void> load_filter(Filter filter, const char* program);

}  // namespace course::grader::sandbox
