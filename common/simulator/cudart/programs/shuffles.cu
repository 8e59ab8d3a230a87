// SPDX-License-Identifier: MIT
// Every shuffle and warp reduction, for 32- and 64-bit types and for parts of a warp; warp-level scan and
// bitonic sort.
#include <algorithm>

#include "check.hpp"

constexpr unsigned kAll = 0xffffffffu;

__global__ void all_shuffles(int* out, double* doubles) {
  const int lane = threadIdx.x;
  out[0 * 32 + lane] = __shfl_sync(kAll, lane * 10, (lane + 5) % 32);
  out[1 * 32 + lane] = __shfl_up_sync(kAll, lane, 3);
  out[2 * 32 + lane] = __shfl_down_sync(kAll, lane, 4, 16);
  out[3 * 32 + lane] = __shfl_xor_sync(kAll, lane, 9);
  out[4 * 32 + lane] = __reduce_add_sync(kAll, lane);
  out[5 * 32 + lane] = int(__reduce_max_sync(kAll, unsigned((lane * 7) % 32)));
  out[6 * 32 + lane] = int(__reduce_xor_sync(kAll, unsigned(lane * lane)));
  int scanned = lane + 1;
  for (int d = 1; d < 32; d *= 2) {
    const int below = __shfl_up_sync(kAll, scanned, d);
    if (lane >= d) scanned += below;
  }
  out[7 * 32 + lane] = scanned;
  doubles[lane] = __shfl_xor_sync(kAll, lane * 0.25, 1);
  long long wide = (long long)lane << 40;
  doubles[32 + lane] = double(__shfl_down_sync(kAll, wide, 1) >> 40);
  if (lane < 16) doubles[64 + lane] = __shfl_sync(0xffffu, float(lane), 15 - lane);
}

__global__ void bitonic(int* data) {
  const int lane = threadIdx.x;
  int mine = data[lane];
  for (int size = 2; size <= 32; size *= 2) {
    for (int stride = size / 2; stride > 0; stride /= 2) {
      const int other = __shfl_xor_sync(kAll, mine, stride);
      const bool ascending = (lane & size) == 0, lower = (lane & stride) == 0;
      mine = ascending == lower ? min(mine, other) : max(mine, other);
    }
  }
  data[lane] = mine;
}

int main() {
  int *out, h[8 * 32];
  double *doubles, hd[80];
  CHECK(cudaMalloc(&out, sizeof h));
  CHECK(cudaMalloc(&doubles, sizeof hd));
  all_shuffles<<<1, 32>>>(out, doubles);
  CHECK(cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(hd, doubles, sizeof hd, cudaMemcpyDeviceToHost));
  int exclusive = 0;
  for (int i = 0; i < 32; ++i) exclusive ^= i * i;
  for (int l = 0; l < 32; ++l) {
    EXPECT(h[l] == (l + 5) % 32 * 10);
    EXPECT(h[32 + l] == (l < 3 ? l : l - 3));
    EXPECT(h[64 + l] == (l % 16 < 12 ? l + 4 : l));
    EXPECT(h[96 + l] == (l ^ 9));
    EXPECT(h[128 + l] == 496 && h[160 + l] == 31 && h[192 + l] == exclusive);
    EXPECT(h[224 + l] == (l + 1) * (l + 2) / 2);
    EXPECT(hd[l] == (l ^ 1) * 0.25);
    EXPECT(hd[32 + l] == (l < 31 ? l + 1 : 31));
  }
  for (int l = 0; l < 16; ++l) EXPECT(hd[64 + l] == 15 - l);

  int values[32];
  for (int i = 0; i < 32; ++i) values[i] = (i * 37 + 11) % 64 - 20;
  CHECK(cudaMemcpy(out, values, sizeof values, cudaMemcpyHostToDevice));
  bitonic<<<1, 32>>>(out);
  CHECK(cudaMemcpy(h, out, sizeof values, cudaMemcpyDeviceToHost));
  std::sort(values, values + 32);
  for (int i = 0; i < 32; ++i) EXPECT(h[i] == values[i]);
  std::puts("ok");
}
