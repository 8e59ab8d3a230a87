// SPDX-License-Identifier: MIT
// about: Makes the device fail: frees the output, leaks, launches no function, uses too large a block.
// expect: neighboured WRONG_ANSWER outside its buffers
// expect: sequential WRONG_ANSWER
// expect: shuffle WRONG_ANSWER not a kernel of its file
// expect: coarsened WRONG_ANSWER
// expect: single_launch OK
#include "right.cuh"

namespace course::reduction {
namespace {
template <typename Value>
__global__ void free_it(Value* d_out) {
  free(d_out);
}
__global__ void hoard() {
  for (int i = 0; i < 100000; ++i) {
    if (malloc(1 << 20) == nullptr) return;
  }
}
__global__ void nothing() {}
}  // namespace

Status run(const lab::Request& request) {
  return dispatch(request, [&](const auto& job) {
    switch (static_cast<Rung>(request.task)) {
      case Rung::neighboured: free_it<<<1, 1, 0, job.stream>>>(job.d_out); break;
      case Rung::sequential: hoard<<<64, 32, 0, job.stream>>>(); break;
      case Rung::shuffle: {
        void* arguments[] = {nullptr};
        static_cast<void>(cudaLaunchKernel(nullptr, dim3(1), dim3(1), arguments, 0, job.stream));
        break;
      }
      case Rung::coarsened: nothing<<<1, 4096, 0, job.stream>>>(); break;
      default: return hostile::right(job);
    }
    return Status::ok;
  });
}
}  // namespace course::reduction
