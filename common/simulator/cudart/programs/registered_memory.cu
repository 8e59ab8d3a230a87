// SPDX-License-Identifier: MIT
// Host memory that the program allocated and then registered: kernels read and write it in place.
#include <algorithm>
#include <cstdlib>
#include <vector>

#include "check.hpp"

__global__ void twice(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2 * in[i];
}

__global__ void count(int* total) {
  atomicAdd(total, 1);
}

int main() {
  const int n = 5000;
  std::vector<int> in(n), out(n);
  for (int i = 0; i < n; ++i) in[i] = i - 99;
  void* place = nullptr;
  EXPECT(cudaHostGetDevicePointer(&place, in.data(), 0) == cudaErrorInvalidValue);
  EXPECT(cudaHostUnregister(in.data()) == cudaErrorHostMemoryNotRegistered);
  EXPECT(cudaHostRegister(nullptr, 16, cudaHostRegisterDefault) == cudaErrorInvalidValue);
  EXPECT(cudaHostRegister(in.data(), 0, cudaHostRegisterDefault) == cudaErrorInvalidValue);
  CHECK(cudaHostRegister(in.data(), n * sizeof(int), cudaHostRegisterDefault));
  CHECK(cudaHostRegister(out.data(), n * sizeof(int), cudaHostRegisterMapped));
  EXPECT(cudaHostRegister(in.data(), n * sizeof(int), cudaHostRegisterDefault) ==
         cudaErrorHostMemoryAlreadyRegistered);
  cudaGetLastError();

  int *d_in = nullptr, *d_out = nullptr;
  CHECK(cudaHostGetDevicePointer((void**)&d_in, in.data(), 0));
  CHECK(cudaHostGetDevicePointer((void**)&d_out, out.data(), 0));
  twice<<<(n + 255) / 256, 256>>>(d_in, d_out, n);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) EXPECT(out[i] == 2 * in[i]);

  // Kernels can also use the host's addresses.
  int can = 0;
  CHECK(cudaDeviceGetAttribute(&can, cudaDevAttrCanUseHostPointerForRegisteredMem, 0));
  EXPECT(can == 1);
  std::fill(out.begin(), out.end(), 0);
  twice<<<(n + 255) / 256, 256>>>(in.data(), out.data(), n);
  count<<<10, 64>>>(&out[7]);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) EXPECT(out[i] == 2 * in[i] + (i == 7 ? 640 : 0));

  // Copies treat it as host memory.
  int* d = nullptr;
  CHECK(cudaMalloc(&d, n * sizeof(int)));
  CHECK(cudaMemcpyAsync(d, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpyAsync(out.data(), d, n * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaDeviceSynchronize());
  EXPECT(out == in);
  cudaPointerAttributes about{};
  CHECK(cudaPointerGetAttributes(&about, in.data()));
  EXPECT(about.type == cudaMemoryTypeHost);

  out[0] = 0;
  count<<<10, 64>>>(d_out);
  CHECK(cudaDeviceSynchronize());
  EXPECT(out[0] == 640);

  CHECK(cudaFree(d));
  CHECK(cudaHostUnregister(in.data()));
  CHECK(cudaHostUnregister(out.data()));
  EXPECT(cudaHostUnregister(out.data()) == cudaErrorHostMemoryNotRegistered);
  CHECK(cudaHostRegister(out.data(), n * sizeof(int), cudaHostRegisterPortable));
  CHECK(cudaHostUnregister(out.data()));
  std::puts("ok");
  return 0;
}
