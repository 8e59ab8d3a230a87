// SPDX-License-Identifier: MIT
// The faulty kernels of the course's sources (handouts/errata.md), each with the fault that the checkers must
// report, if it is one that they can see. It is a program, too, which runs one of them:
//   ./lab sanitize common/simulator/sim/checkers/kernels/errata.cu 1
#include "program.cuh"

// 1. The guard compares the index within the block with n, so the last block reads past the end.
// EXPECT out-of-bounds
// LAUNCH 4 64 n 200
KERNEL(erratum_1_guard_with_tid) {
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

// 14. Threads past the data have no items, but some of them have nodes of the tree: the last has the root.
// EXPECT nothing
// LAUNCH 1 64 n 50
KERNEL(erratum_14_guard_with_unpadded_n) {
  __shared__ int s_data[64];
  const unsigned k = threadIdx.x, n_items = static_cast<unsigned>(n), padded_n = 64;
  s_data[k] = k < n_items ? in[k] : 0;
  __syncthreads();
  for (unsigned half = 1; half < padded_n; half *= 2) {
    const bool has_nothing_to_do = k >= n_items;
    if (!has_nothing_to_do && (k + 1) % (2 * half) == 0) s_data[k] += s_data[k - half];
    __syncthreads();
  }
  if (k == padded_n - 1) out[0] = s_data[k];
}

// --- The program.

// As the lines LAUNCH say.
constexpr Example kErrata[] = {
    {1, erratum_1_guard_with_tid, 4, 64, 200},   {2, erratum_2_returns_before_barrier, 1, 64, 50},
    {3, erratum_3_partner_past_end, 4, 64, 200}, {4, erratum_4_scan_in_place, 1, 256, 4096},
    {6, erratum_6_down_sweep, 1, 64, 4096},      {14, erratum_14_guard_with_unpadded_n, 1, 64, 50},
};

int main(int argc, char** argv) {
  return run_one(kErrata, argc, argv);
}
