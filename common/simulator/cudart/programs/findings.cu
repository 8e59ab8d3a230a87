// SPDX-License-Identifier: MIT
// For environment_test.py: makes the mistake that its argument selects. The program itself never fails.
#include <cooperative_groups.h>
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda/atomic>

__global__ void add_up(const int* in, int* out) {
  *out += in[threadIdx.x];
}
__global__ void keep_heap(int* out) {
  int* mine = static_cast<int*>(malloc(16));
  mine[0] = 1;
  out[threadIdx.x] = mine[0];
}
__global__ void several_lines(const int* in, int* out) {
  out[0] = in[0];
  out[1] = in[1];
  out[2] = in[2];
}
__global__ void fill(int* out) {
  out[threadIdx.x] = 1;
}

__global__ void wait_for_all(int* out) {
  out[threadIdx.x] = 1;
  cooperative_groups::this_grid().sync();
}

// Lost updates: eight warps change a word with a load and a store.
__global__ void add_once(int* out) {
  const cuda::atomic_ref<int, cuda::thread_scope_device> total(out[blockIdx.x]);
  if (threadIdx.x % 32 == 0) total = total + 1 + static_cast<int>(threadIdx.x);
}
__global__ void most(int* out) {
  __shared__ volatile int s_most;
  if (threadIdx.x == 0) s_most = 0;
  __syncthreads();
  const int mine = static_cast<int>(256 - threadIdx.x);
  if (threadIdx.x % 32 == 0 && mine > s_most) s_most = mine;
  __syncthreads();
  if (threadIdx.x == 0) *out = s_most;
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  const auto is = [&](const char* word) { return std::strcmp(what, word) == 0; };
  const bool is_child = is("forks") && fork() == 0;
  int *in = nullptr, *out = nullptr, *lost = nullptr;
  cudaMalloc(&in, 256);
  cudaMalloc(&out, 256);
  cudaMemset(in, 0, 256);
  if (!is("copy")) cudaMemset(out, 0, 256);
  if (is("race") || is("abort") || is("leaves") || is("divides") || is_child) add_up<<<1, 64>>>(in, out);
  if (is("leaves") || is_child) cudaDeviceSynchronize(), _exit(0);
  if (is("divides")) std::raise(SIGFPE);
  while (is("forks") && wait(nullptr) > 0) continue;
  if (is("lines")) {
    cudaMalloc(&lost, 12);
    several_lines<<<1, 1>>>(lost, out);
    cudaFree(lost);
  }
  if (is("event")) {  // an event of device 0 for a stream of device 1: then nothing orders the copy
    int* there = nullptr;
    cudaStream_t of_0, of_1;
    cudaEvent_t event;
    cudaStreamCreateWithFlags(&of_0, cudaStreamNonBlocking);
    cudaEventCreate(&event);
    cudaSetDevice(1);
    cudaMalloc(&there, 256);
    cudaStreamCreateWithFlags(&of_1, cudaStreamNonBlocking);
    fill<<<1, 64, 0, of_1>>>(there);
    cudaEventRecord(event, of_1);
    cudaStreamWaitEvent(of_0, event, 0);
    cudaSetDevice(0);
    cudaMemcpyPeerAsync(in, 0, there, 1, 256, of_0);
    cudaDeviceSynchronize();
    cudaSetDevice(1);
    cudaDeviceSynchronize();
    cudaFree(there);
    cudaSetDevice(0);
  }
  for (int round = 0; is("rounds") && round < 6; ++round) fill<<<1, 2048 + round>>>(out);
  if (is("capture")) {
    cudaStream_t stream;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    cudaStreamCreate(&stream);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    cudaMalloc(&lost, 256);
    fill<<<1, 64, 0, stream>>>(out);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&executable, graph, 0);
    for (int k = 0; k < 2; ++k) cudaGraphLaunch(executable, stream);
    cudaStreamDestroy(stream);
  }
  if (is("total")) add_once<<<4, 256>>>(out);
  if (is("most")) most<<<1, 256>>>(out);
  if (is("together")) {
    void* arguments[] = {&out};
    cudaLaunchCooperativeKernel(reinterpret_cast<void*>(add_once), 2, 32, arguments);
  }
  if (is("heap")) keep_heap<<<1, 2>>>(out);
  if (is("clean") || is("forks")) fill<<<1, 64>>>(out);
  if (is("leak")) cudaMalloc(&lost, 100);
  if (is("reset")) cudaMalloc(&lost, 100), cudaDeviceReset(), std::exit(0);
  if (is("fault")) fill<<<1, 64>>>(nullptr), cudaDeviceSynchronize(), cudaDeviceReset(), std::exit(0);
  if (is("abort")) std::abort();
  if (is("launch")) fill<<<1, 4096>>>(out);
  if (is("grid")) wait_for_all<<<2, 32>>>(out), cudaDeviceSynchronize(), cudaDeviceReset(), std::exit(0);
  int back[64];
  cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost);
  if (is("middle")) cudaFree(out + 4);
  cudaFree(in);
  cudaFree(out);
  if (is("twice")) cudaFree(out);
  return is("code") ? 3 : 0;
}
