// SPDX-License-Identifier: MIT
// The simulated device as a process of its own, with memory, counters and checkers. The student's host code
// runs in another process, which can only send requests to this one (host_link.hpp).
//   simulated_device CODE PROGRAM [course]
// It reads the kernels from the file CODE, and for messages the lines and functions of host code from the
// student's program, which is never run here. "course": the program is not a student's.
// Serves cases of the verifier (descriptor 3); the student's process is at descriptor 4.
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <string_view>

#include "cudart/runtime/runtime.hpp"
#include "remote/device/host_link.hpp"
#include "runner/run_case.hpp"

int main(int argc, char** argv) {
  using namespace course;
  const bool of_the_course = argc == 4 && std::string_view(argv[3]) == "course";
  if (argc != 3 && !of_the_course) {
    std::fputs("simulated_device CODE PROGRAM: the grader starts it; try ./lab grade\n", stderr);
    return 2;
  }
  // Other processes of the same user must not be able to read or change the memory of this process.
  if (prctl(PR_SET_DUMPABLE, 0) != 0) return 1;
  const lab::Device device(lab::Simulator{&simSetMode, &simSetSchedule, &simResetReport, &simReport,
                                          &simNameBuffer, &simConfine, &simForgetWrites, &simEmptyHeap},
                           nullptr);
  cudart::Runtime& runtime = cudart::runtime();
  remote::HostLink link(
      lab::kHostFd, argv[1], argv[2], static_cast<std::uint32_t>(runtime.n_devices()),
      [&](std::uint32_t ordinal) -> sim::Device& {
        cudart::Context& context = runtime.context(static_cast<int>(ordinal));
        const std::lock_guard guard(context.lock);
        return context.device();
      },
      of_the_course);
  if (!link.wait_until_ready()) return lab::kExitHostLost;
  // Messages shorten paths below the current folder, which no reader of a report knows.
  if (chdir("/") != 0) return 1;
  return lab::serve_cases(device, link);
}
