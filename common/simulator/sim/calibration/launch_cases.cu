// SPDX-License-Identifier: MIT
// Kernels that do nothing or almost nothing: consecutive launches, few and many blocks.
#include "sim/calibration/cases.hpp"

namespace course::calibration {
namespace {

__global__ void empty() {}

__global__ void touch(unsigned* d_to) {
  d_to[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}

}  // namespace

std::vector<Case> launch_cases(const Memory& memory) {
  std::vector<Case> cases;
  for (const unsigned launches : {1u, 2u, 3u, 4u, 6u, 8u, 12u, 16u, 24u, 32u})
    cases.push_back({"launches",
                     {{"launches", launches}},
                     [=] {
                       for (unsigned k = 0; k < launches; ++k) empty<<<1, 32>>>();
                     },
                     {}});
  // Each kernel depends on the one before and takes so long that the host submits ahead of it.
  for (const unsigned launches : {1u, 2u, 4u, 8u, 16u, 32u})
    cases.push_back({"dependent launches",
                     {{"launches", launches}},
                     [=, to = memory.d_to] {
                       for (unsigned k = 0; k < launches; ++k) touch<<<2048, 256>>>(to);
                     },
                     {}});
  for (const unsigned threads : {32u, 128u, 256u, 512u, 1024u})
    for (const unsigned blocks : {132u, 1056u, 4096u, 16384u, 65536u})
      cases.push_back(
          {"blocks", {{"blocks", blocks}, {"threads", threads}}, [=] { empty<<<blocks, threads>>>(); }, {}});
  return cases;
}

}  // namespace course::calibration
