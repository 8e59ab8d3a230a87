// SPDX-License-Identifier: MIT
// Warp votes: stream compaction with __ballot_sync and __popc, __any/__all, __match_any_sync, __activemask.
#include <algorithm>
#include <vector>

#include "check.hpp"

__global__ void compact_warp(const int* in, int n, int* out, int* count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int lane = threadIdx.x & 31;
  const bool keep = i < n && in[i] % 3 == 0;
  const unsigned votes = __ballot_sync(0xffffffffu, keep);
  int base = 0;
  if (lane == 0 && votes != 0) base = atomicAdd(count, __popc(votes));
  base = __shfl_sync(0xffffffffu, base, 0);
  if (keep) out[base + __popc(votes & ((1u << lane) - 1))] = in[i];
}

__global__ void votes(int* out) {
  const int lane = threadIdx.x;
  int flags = 0;
  if (__any_sync(0xffffffffu, lane == 17)) flags |= 1;
  if (__all_sync(0xffffffffu, lane < 32)) flags |= 2;
  if (__all_sync(0xffffffffu, lane < 31)) flags |= 4;
  if (lane % 4 == 1) {
    flags |= int(__popc(__activemask())) << 8;
    flags |= int(__popc(__match_any_sync(0x22222222u, lane / 16))) << 16;
  }
  out[lane] = flags;
}

// A histogram in which the lanes with the same bin elect a leader.
__global__ void match_histogram(const unsigned char* in, int n, int* bins) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned active = __ballot_sync(0xffffffffu, i < n);
  if (i >= n) return;
  const int bin = in[i] & 15;
  const unsigned peers = __match_any_sync(active, bin);
  if ((threadIdx.x & 31) == unsigned(__ffs(int(peers)) - 1)) atomicAdd(&bins[bin], __popc(peers));
}

int main() {
  const int n = 4001;
  std::vector<int> in(n), expected;
  for (int i = 0; i < n; ++i) {
    in[i] = (i * 17) % 911;
    if (in[i] % 3 == 0) expected.push_back(in[i]);
  }
  int *d_in, *d_out, *d_count;
  CHECK(cudaMalloc(&d_in, n * sizeof(int)));
  CHECK(cudaMalloc(&d_out, n * sizeof(int)));
  CHECK(cudaMalloc(&d_count, sizeof(int)));
  CHECK(cudaMemcpy(d_in, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaMemset(d_count, 0, sizeof(int)));
  compact_warp<<<(n + 255) / 256, 256>>>(d_in, n, d_out, d_count);
  int count = 0;
  CHECK(cudaMemcpy(&count, d_count, sizeof(int), cudaMemcpyDeviceToHost));
  EXPECT(count == int(expected.size()));
  std::vector<int> out(count);
  CHECK(cudaMemcpy(out.data(), d_out, count * sizeof(int), cudaMemcpyDeviceToHost));
  std::sort(out.begin(), out.end());
  std::sort(expected.begin(), expected.end());
  EXPECT(out == expected);

  votes<<<1, 32>>>(d_out);
  int flags[32];
  CHECK(cudaMemcpy(flags, d_out, sizeof flags, cudaMemcpyDeviceToHost));
  for (int lane = 0; lane < 32; ++lane) EXPECT(flags[lane] == (lane % 4 == 1 ? 3 | 8 << 8 | 4 << 16 : 3));

  std::vector<unsigned char> bytes(3000);
  int bins[16] = {}, h_bins[16];
  for (int i = 0; i < 3000; ++i) {
    bytes[i] = (unsigned char)(i * i / 7);
    ++bins[bytes[i] & 15];
  }
  unsigned char* d_bytes;
  CHECK(cudaMalloc(&d_bytes, bytes.size()));
  CHECK(cudaMemcpy(d_bytes, bytes.data(), bytes.size(), cudaMemcpyHostToDevice));
  CHECK(cudaMemset(d_out, 0, sizeof h_bins));
  match_histogram<<<12, 256>>>(d_bytes, 3000, d_out);
  CHECK(cudaMemcpy(h_bins, d_out, sizeof h_bins, cudaMemcpyDeviceToHost));
  for (int b = 0; b < 16; ++b) EXPECT(h_bins[b] == bins[b]);
  std::puts("ok");
}
