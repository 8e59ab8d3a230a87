// SPDX-License-Identifier: MIT
// Programs that end in unusual ways: the argument says how.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

__global__ void fill(int* out, volatile int* flag, bool spins, bool splits) {
  const int tid = threadIdx.x;
  while (spins && *flag == 0) continue;
  if (splits) {
    if (tid < 16) __syncthreads();
  }
  out[tid] = tid;
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "";
  const auto is = [&](const char* word) { return std::strcmp(how, word) == 0; };
  if (is("nothing")) return 3;
  int *out, *flag;
  cudaMalloc(&out, 64 * sizeof(int));
  cudaMalloc(&flag, sizeof(int));
  cudaMemset(flag, 0, sizeof(int));
  std::thread other;
  if (is("threads")) other = std::thread([] { std::this_thread::sleep_for(std::chrono::seconds(2)); });
  fill<<<1, 64>>>(out, flag, is("spins"), is("splits"));
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  if (is("crashes")) __builtin_trap();
  if (other.joinable()) other.join();
}
