// SPDX-License-Identifier: MIT
// Blelloch's exclusive scan of one array with the tree in global memory: a launch for each level, so the end
// of a launch takes the place of a barrier, and the array may have as many items as the memory holds.
#include "lessons/lessons.cuh"

namespace course::lessons {
namespace {

constexpr unsigned kThreads = 256;

// Thread t computes the node of pair t. d_out gets the items, and the sums of the pairs.
__global__ void k_leaves(const int* d_in, std::uint64_t n, int* d_out) {
  const std::uint64_t left = 2 * (std::uint64_t{blockIdx.x} * kThreads + threadIdx.x);
  if (left >= n) return;
  const int item = d_in[left];
  d_out[left] = item;
  d_out[left + 1] = item + d_in[left + 1];
}

// Thread t computes node t of a level. Its result is at its last leaf, as is that of its right child.
__global__ void k_up(int* d_tree, std::uint64_t n, std::uint64_t half) {
  const std::uint64_t node = 2 * half * (std::uint64_t{blockIdx.x} * kThreads + threadIdx.x + 1) - 1;
  if (node < n) d_tree[node] += d_tree[node - half];
}

// The same on the way down: the left child gets what comes before its parent, and the right child this and
// the sum of the left child. Nothing comes before the root.
__global__ void k_down(int* d_tree, std::uint64_t n, std::uint64_t half) {
  const std::uint64_t node = 2 * half * (std::uint64_t{blockIdx.x} * kThreads + threadIdx.x + 1) - 1;
  if (node >= n) return;
  const int before = 2 * half == n ? 0 : d_tree[node];
  const int left = d_tree[node - half];
  d_tree[node - half] = before;
  d_tree[node] = before + left;
}

}  // namespace

unsigned scan_by_levels(const int* d_in, std::uint64_t n, int* d_out, CUstream_st* stream) {
  const auto blocks_for = [&](std::uint64_t half) {
    return static_cast<unsigned>((n / (2 * half) + kThreads - 1) / kThreads);
  };
  unsigned n_launches = 1;
  k_leaves<<<blocks_for(1), kThreads, 0, stream>>>(d_in, n, d_out);
  for (std::uint64_t half = 2; half < n; half *= 2, ++n_launches)
    k_up<<<blocks_for(half), kThreads, 0, stream>>>(d_out, n, half);
  for (std::uint64_t half = n / 2; half > 0; half /= 2, ++n_launches)
    k_down<<<blocks_for(half), kThreads, 0, stream>>>(d_out, n, half);
  return n_launches;
}

}  // namespace course::lessons
