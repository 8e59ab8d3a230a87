// SPDX-License-Identifier: MIT
// about: Counts on the host, ends with success, never ends, forks; the first task is right and must pass.
// screen: copies between host and device
// needs: filter
// expect: global_atomics OK
// expect: private_counts POLICY copy out of the device's memory
// expect: shared_counts CRASH ended the program
// expect: sort_reduce TIME_LIMIT took longer than
// expect: combined CRASH the system call filter
#include <cstdlib>
#include <vector>

#include "../common/raw.cuh"
#include "right.cuh"

namespace course::histogram {
Status run(const lab::Request& request) {
  switch (static_cast<Rung>(request.task)) {
    case Rung::private_counts:
      return dispatch(request, [](const auto& job) {
        std::vector<std::remove_cvref_t<decltype(*job.d_in)>> samples(job.n + 1);
        cudaMemcpy(samples.data(), job.d_in, job.n * sizeof samples[0], cudaMemcpyDeviceToHost);
        return hostile::right(job);
      });
    case Rung::shared_counts: std::exit(0);
    case Rung::sort_reduce:
      for (volatile bool forever = true; forever;) {
      }
      break;
    case Rung::combined:
      for (;;) attack::raw_call(SYS_fork);
    default: break;
  }
  return dispatch(request, [](const auto& job) { return hostile::right(job); });
}
}  // namespace course::histogram
