// SPDX-License-Identifier: MIT
// about: Sorts on the host, kills processes, never ends, traps, reports "finished" and exits.
// screen: copies between host and device
// needs: filter
// expect: split POLICY copy out of the device's memory
// expect: tile_sort CRASH the system call filter
// expect: merge TIME_LIMIT
// expect: digits CRASH trap
// expect: any_key TIME_LIMIT took longer than
#include <algorithm>
#include <vector>

#include "../common/raw.cuh"
#include "protocol/call.hpp"
#include "radix_sort/lab.hpp"

namespace course::radix_sort {
namespace {
__global__ void wait_for_ever(volatile std::uint32_t* d_flag) {
  while (*d_flag != 12345) {
  }
}
__global__ void trap() {
  asm volatile("trap;");
}
}  // namespace

Status run(const lab::Request& request) {
  switch (static_cast<Rung>(request.task)) {
    case Rung::split:
      return dispatch(request, [](const auto& job) {
        std::vector<std::remove_cvref_t<decltype(*job.out.d_keys)>> keys(job.n + 1);
        cudaMemcpy(keys.data(), job.in.d_keys, job.n * sizeof keys[0], cudaMemcpyDeviceToHost);
        std::sort(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(job.n));
        cudaMemcpy(job.out.d_keys, keys.data(), job.n * sizeof keys[0], cudaMemcpyHostToDevice);
        return Status::ok;
      });
    case Rung::tile_sort: {
      constexpr long kKill = 9;
      attack::raw_call(SYS_kill, -1, kKill);
      break;
    }
    case Rung::merge:
      if (request.n == 0) break;  // without a workspace
      wait_for_ever<<<1, 32, 0, request.stream>>>(static_cast<std::uint32_t*>(request.d_workspace));
      break;
    case Rung::digits: trap<<<1, 1, 0, request.stream>>>(); break;
    default: {
      const std::uint32_t finished[] = {static_cast<std::uint32_t>(lab::PacketKind::finished), 0, 0, 0, 0};
      attack::raw_call(SYS_write, lab::kDeviceFd, attack::address_of(finished), sizeof finished);
      for (;;) attack::raw_call(SYS_pause);
    }
  }
  return Status::ok;
}
}  // namespace course::radix_sort
