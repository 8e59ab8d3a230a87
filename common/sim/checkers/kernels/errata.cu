// SPDX-License-Identifier: MIT
// The faulty kernels of the course's sources (handouts/errata.md), each with the fault that the checkers must
// report.
#include "sim/checkers/kernels/kernels.cuh"

// 1. The guard compares the index within the block with n, so the last block reads past the end.
// EXPECT out-of-bounds
// LAUNCH 4 64 n 200
KERNEL(erratum_1_guard_with_tid) {
  UNUSED;
  const unsigned tid = threadIdx.x;
  int* data = out + blockIdx.x * 64;
  if (tid >= static_cast<unsigned>(n)) return;
  for (unsigned stride = 1; stride < 64; stride *= 2) {
    if (tid % (2 * stride) == 0) data[tid] += data[tid + stride];  // FAULT
    __syncthreads();
  }
}

// 2. Off by one, and a return before the barrier at which the rest of the block waits.
// EXPECT exit-before-barrier
// LAUNCH 1 64 n 50
KERNEL(erratum_2_returns_before_barrier) {
  UNUSED;
  const unsigned tid = threadIdx.x, idx = blockIdx.x * 64 + tid;
  int* data = out + blockIdx.x * 64;
  if (idx > static_cast<unsigned>(n)) return;  // OTHER
  for (unsigned stride = 1; stride < 32; stride *= 2) {
    const unsigned index = 2 * stride * tid;
    if (index + stride < 50) data[index] += data[index + stride];
    __syncthreads();  // FAULT
  }
}

// 3. The partner of an item inside the data may be outside.
// EXPECT out-of-bounds
// LAUNCH 4 64 n 200
KERNEL(erratum_3_partner_past_end) {
  UNUSED;
  const unsigned tid = threadIdx.x, idx = blockIdx.x * 64 + tid;
  int* data = out + blockIdx.x * 64;
  for (unsigned stride = 1; stride < 64; stride *= 2) {
    if (tid % (2 * stride) == 0 && idx < static_cast<unsigned>(n)) data[tid] += data[tid + stride];  // FAULT
    __syncthreads();
  }
}

// 4. Hillis-Steele in place with one barrier per round.
// EXPECT shared-race
// LAUNCH 1 256
KERNEL(erratum_4_scan_in_place) {
  UNUSED;
  __shared__ int s_data[256];
  const unsigned tid = threadIdx.x;
  s_data[tid] = in[tid];
  __syncthreads();
  for (unsigned d = 1; d < 256; d *= 2) {
    if (tid >= d) s_data[tid] += s_data[tid - d];  // FAULT OTHER
    __syncthreads();
  }
  out[tid] = s_data[tid];
}

// 6. The condition of the down-sweep treats k as the right child, its body as the left one.
// EXPECT out-of-bounds-shared
// LAUNCH 1 64
KERNEL(erratum_6_down_sweep) {
  UNUSED;
  __shared__ int s_data[64];
  const unsigned k = threadIdx.x;
  s_data[k] = in[k];
  __syncthreads();
  for (unsigned half = 32; half > 0; half /= 2) {
    if ((k + 1) % (2 * half) == 0) {
      const int left = s_data[k];
      s_data[k] = s_data[k + half];  // FAULT
      s_data[k + half] += left;
    }
    __syncthreads();
  }
  out[k] = s_data[k];
}
