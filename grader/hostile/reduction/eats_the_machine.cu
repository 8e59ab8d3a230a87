// SPDX-License-Identifier: MIT
// about: Takes all memory of host and device, fills the disk, prints without end from a kernel.
// needs: cgroup
// screen: cudaMalloc
// expect: neighboured MEMORY_LIMIT lack of memory
// expect: sequential MEMORY_LIMIT more memory than there is
// expect: shuffle MEMORY_LIMIT ran out of device memory
// expect: coarsened OUTPUT_LIMIT wrote more to a file
// expect: single_launch OUTPUT_LIMIT printed too much
#include <cstdio>
#include <vector>

#include "raw.cuh"
#include "right.cuh"

namespace course::reduction {
namespace {
__global__ void flood() {
  for (int i = 0; i < 10000; ++i)
    printf("thread %u says it for the %dth time, and once more, and again\n", threadIdx.x, i);
}
}  // namespace

Status run(const lab::Request& request) {
  using hostile::raw_call;
  switch (static_cast<Rung>(request.task)) {
    case Rung::neighboured: {
      static std::vector<std::vector<char>> kept;
      for (;;) kept.emplace_back(64u << 20, 'x');
    }
    case Rung::sequential: {
      volatile std::size_t too_much = std::size_t{1} << 60;
      std::vector<char> impossible(too_much);
      return impossible.empty() ? Status::ok : Status::unsupported;
    }
    case Rung::shuffle: {
      void* d_memory = nullptr;
      while (cudaMalloc(&d_memory, std::size_t{1} << 33) == cudaSuccess) continue;
      return Status::ok;
    }
    case Rung::coarsened: {
      constexpr long kHere = -100, kWriteCreate = 0101;
      const long fd = raw_call(SYS_openat, kHere, hostile::address_of("/tmp/flood"), kWriteCreate, 0600);
      static const std::vector<char> chunk(1u << 20, 'x');
      for (;;) raw_call(SYS_write, fd, hostile::address_of(chunk.data()), static_cast<long>(chunk.size()));
    }
    default: flood<<<1, 64, 0, request.stream>>>(); return Status::ok;
  }
}
}  // namespace course::reduction
