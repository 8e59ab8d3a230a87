// SPDX-License-Identifier: MIT
// The system-call filter of a sandboxed process (seccomp, through libseccomp). A call that only an attack
// makes ends the process with SIGSYS, which the grader reports as CRASH; in a runner on a GPU it fails with
// EPERM. In a runner on the simulator, unknown calls fail with ENOSYS, as on an older kernel.
#pragma once

#include <array>
#include <cstdint>

#include "base/result.hpp"

namespace course::grader::sandbox {

enum class Filter : std::uint8_t {
  none,
  runner,  // on the simulator: threads, memory, files, its channel; no other process, no socket
  // Allows the driver's calls as well: everything but hostile calls, new processes and network sockets.
  gpu_runner,
  // Network sockets as well, by which NCCL's threads find each other; only in a network of its own.
  nccl_runner,
  compiler,  // processes as well; no network socket, no tracing of processes, no change of the system
};

// The words for them on sandbox_enter's command line.
inline constexpr std::array kFilterNames{"none", "runner", "gpu_runner", "nccl_runner", "compiler"};

// Installs the filter for this process and its descendants. `program`: a runner's filter allows execve() only
// with this very pointer, which the started program does not know.
Result<void> load_filter(Filter filter, const char* program);

}  // namespace course::grader::sandbox
