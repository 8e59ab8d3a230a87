// SPDX-License-Identifier: MIT
// A lab's file with a wrong kernel: it leaves out the last item, and stores nothing for a single one.
#include <cstdint>

#include "lab/request.hpp"

namespace course::reduction {

__global__ void sum(const int* d_in, std::uint64_t n, int* d_out) {
  const unsigned tid = threadIdx.x;
  if (n == 1) return;
  if (tid == 2) d_out[0] = -1;
  __syncthreads();
  int total = 0;
  for (std::uint64_t i = 0; i + 1 < n; ++i) total += d_in[i];
  if (tid == 1) d_out[0] = total;
}

lab::Status run(const lab::Request& request) {
  sum<<<1, 32, 0, request.stream>>>(static_cast<const int*>(request.inputs[0].data), request.n,
                                    static_cast<int*>(request.outputs[0].data));
  return lab::Status::ok;
}

}  // namespace course::reduction
