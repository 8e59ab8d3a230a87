// SPDX-License-Identifier: MIT
// Inclusive scans of rows in shared memory, one thread per item. A table says for each step of a network
// which position each thread adds to its own, so all networks have the same code and only the steps differ.
#include "lessons/lessons.cuh"

namespace course::lessons {
namespace {

// With two arrays, a thread may read in a step what another one writes in this step, as in Kogge–Stone's
// network. The other networks never do this, and scan in place.
template <unsigned kSteps, bool kTwoArrays>
__global__ void __launch_bounds__(kRow)
    k_scan_rows(const int* d_in, const short* d_sources, unsigned n_rows, int* d_out) {
  __shared__ int s_items[kTwoArrays ? 2 : 1][kRow];
  const unsigned tid = threadIdx.x;
  int sources[kSteps];  // of this thread, for all rows
#pragma unroll
  for (unsigned step = 0; step < kSteps; ++step) sources[step] = d_sources[step * kRow + tid];
  for (unsigned row = blockIdx.x; row < n_rows; row += gridDim.x) {
    int sum = d_in[std::uint64_t{row} * kRow + tid];
    s_items[0][tid] = sum;
    __syncthreads();  // all items are stored before the first step reads them
#pragma unroll
    for (unsigned step = 0; step < kSteps; ++step) {
      const unsigned from = kTwoArrays ? step % 2 : 0, to = kTwoArrays ? 1 - from : 0;
      const bool adds = sources[step] >= 0;
      if (adds) sum += s_items[from][sources[step]];
      if (adds || kTwoArrays) s_items[to][tid] = sum;
      __syncthreads();  // a step's accesses come before those of the next step, or of the next row
    }
    d_out[std::uint64_t{row} * kRow + tid] = sum;
  }
}

}  // namespace

void scan_rows(unsigned n_steps, bool two_arrays, const int* d_in, const short* d_sources, unsigned n_rows,
               int* d_out, unsigned n_blocks, CUstream_st* stream) {
  const auto kernel = n_steps > kLogRow ? k_scan_rows<2 * kLogRow - 2, false>
                      : two_arrays      ? k_scan_rows<kLogRow, true>
                                        : k_scan_rows<kLogRow, false>;
  kernel<<<n_blocks, kRow, 0, stream>>>(d_in, d_sources, n_rows, d_out);
}

}  // namespace course::lessons
