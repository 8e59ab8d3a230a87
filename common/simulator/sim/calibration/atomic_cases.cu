// SPDX-License-Identifier: MIT
// Atomics in global and in shared memory, by the number and the distance of addresses.
#include "sim/calibration/cases.hpp"

namespace course::calibration {
namespace {

// Lane i of warp w accesses address (i·a + w·b) mod addresses, with a distance of `stride` words.
__global__ void global_add(unsigned* d_to, unsigned addresses, unsigned stride, unsigned rounds,
                           unsigned spread) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned at = spread != 0 ? i * 2654435761u >> 7 : i / 32 * 2654435761u >> 7;
  for (unsigned k = 0; k < rounds; ++k) {
    atomicAdd(d_to + at % addresses * stride, 1u);
    at += 40503u;
  }
}

// Each atomic depends on the old value of the one before.
__global__ void global_fetch(unsigned* d_to, unsigned addresses, unsigned stride, unsigned rounds) {
  unsigned at = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u >> 7;
  for (unsigned k = 0; k < rounds; ++k) at += 40503u + (atomicAdd(d_to + at % addresses * stride, 1u) >> 31);
  if (at == 0x9e3779b9u) *d_to = at;
}

__global__ void shared_add(unsigned* d_to, unsigned addresses, unsigned stride, unsigned rounds) {
  __shared__ unsigned cells[8192];
  for (unsigned k = threadIdx.x; k < 8192; k += blockDim.x) cells[k] = 0;
  __syncthreads();
  unsigned at = threadIdx.x;
  for (unsigned k = 0; k < rounds; ++k) {
    atomicAdd(&cells[at % addresses * stride], 1u);
    at += 32;
  }
  __syncthreads();
  if (cells[threadIdx.x] == 0x9e3779b9u) *d_to = 1;
}

__global__ void shared_add_anywhere(unsigned* d_to, unsigned addresses, unsigned rounds) {
  __shared__ unsigned cells[8192];
  for (unsigned k = threadIdx.x; k < 8192; k += blockDim.x) cells[k] = 0;
  __syncthreads();
  unsigned at = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u;
  for (unsigned k = 0; k < rounds; ++k) {
    atomicAdd(&cells[(at >> 9) & (addresses - 1)], 1u);
    at = at * 1664525u + 1013904223u;
  }
  __syncthreads();
  if (cells[threadIdx.x] == 0x9e3779b9u) *d_to = 1;
}

}  // namespace

std::vector<Case> atomic_cases(const Memory& m) {
  std::vector<Case> cases;
  unsigned* to = m.d_to;
  const unsigned sms = static_cast<unsigned>(m.multiprocessors);
  for (const unsigned addresses : {1u, 2u, 4u, 16u, 64u, 256u, 1024u, 4096u, 65536u, 1u << 20})
    for (const unsigned stride : {1u, 8u, 32u}) {
      if (std::size_t{addresses} * stride * 4 > Memory::kToBytes) continue;
      cases.push_back({"global atomics",
                       {{"addresses", addresses}, {"stride", stride}, {"warp_wide", 0}},
                       [=] { global_add<<<1024, 256>>>(to, addresses, stride, 1, 1); },
                       {}});
      if (stride == 1) {
        cases.push_back({"global atomics",
                         {{"addresses", addresses}, {"stride", stride}, {"warp_wide", 1}},
                         [=] { global_add<<<1024, 256>>>(to, addresses, stride, 1, 0); },
                         {}});
        cases.push_back({"global atomics",
                         {{"addresses", addresses}, {"stride", stride}, {"warp_wide", 0}, {"rounds", 4}},
                         [=] { global_add<<<1024, 256>>>(to, addresses, stride, 4, 1); },
                         {}});
        cases.push_back({"global fetch",
                         {{"addresses", addresses}, {"stride", stride}},
                         [=] { global_fetch<<<512, 256>>>(to, addresses, stride, 4); },
                         {}});
      }
    }
  for (const unsigned addresses : {1u, 2u, 4u, 8u, 16u, 32u, 1024u})
    for (const unsigned warps : {1u, 8u, 32u})
      cases.push_back({"shared atomics",
                       {{"addresses", addresses}, {"stride", 1}, {"warps", warps}},
                       [=] { shared_add<<<sms, warps * 32>>>(to, addresses, 1, 256); },
                       {}});
  for (const unsigned stride : {2u, 8u, 32u})  // bank conflicts without address conflicts
    cases.push_back({"shared atomics",
                     {{"addresses", 32}, {"stride", stride}, {"warps", 32}},
                     [=] { shared_add<<<sms, 1024>>>(to, 32, stride, 256); },
                     {}});
  for (const unsigned addresses : {8u, 64u, 256u, 4096u})
    cases.push_back({"shared atomics anywhere",
                     {{"addresses", addresses}},
                     [=] { shared_add_anywhere<<<sms * 2, 512>>>(to, addresses, 256); },
                     {}});
  return cases;
}

}  // namespace course::calibration
