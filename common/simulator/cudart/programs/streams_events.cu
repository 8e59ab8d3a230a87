// SPDX-License-Identifier: MIT
// Streams with pinned memory, events for ordering and for timing, host callbacks, priorities, a captured
// graph.
#include <vector>

#include "check.hpp"

__global__ void work(float* data, int n, float add) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = data[i] * 2 + add;
}

void count_call(void* counter) {
  ++*static_cast<int*>(counter);
}

int main() {
  const int n_streams = 4, chunk = 1 << 12, n = n_streams * chunk;
  float *h, *d;
  CHECK(cudaMallocHost(&h, n * sizeof(float)));
  CHECK(cudaMalloc(&d, n * sizeof(float)));
  for (int i = 0; i < n; ++i) h[i] = float(i % 100);

  int least = 0, greatest = 0, calls = 0;
  CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  cudaStream_t streams[n_streams];
  cudaEvent_t start, stop, half;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  CHECK(cudaEventCreateWithFlags(&half, cudaEventDisableTiming));
  for (int s = 0; s < n_streams; ++s) {
    CHECK(cudaStreamCreateWithPriority(&streams[s], cudaStreamNonBlocking, s % 2 != 0 ? greatest : least));
  }
  CHECK(cudaEventRecord(start));
  for (int s = 0; s < n_streams; ++s) {
    float* part = d + s * chunk;
    CHECK(cudaMemcpyAsync(part, h + s * chunk, chunk * sizeof(float), cudaMemcpyHostToDevice, streams[s]));
    work<<<chunk / 256, 256, 0, streams[s]>>>(part, chunk, 1);
    CHECK(cudaGetLastError());
    CHECK(cudaLaunchHostFunc(streams[s], count_call, &calls));
    CHECK(cudaEventRecord(half, streams[s]));
    CHECK(cudaStreamWaitEvent(streams[(s + 1) % n_streams], half, 0));
    work<<<chunk / 128, 128, 0, streams[s]>>>(part, chunk, 3);
    CHECK(cudaMemcpyAsync(h + s * chunk, part, chunk * sizeof(float), cudaMemcpyDeviceToHost, streams[s]));
  }
  for (cudaStream_t stream : streams) CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaEventRecord(stop));
  CHECK(cudaEventSynchronize(stop));
  float ms = -1;
  CHECK(cudaEventElapsedTime(&ms, start, stop));
  EXPECT(ms > 0 && ms < 10000);
  EXPECT(calls == n_streams);
  EXPECT(cudaEventElapsedTime(&ms, half, stop) == cudaErrorInvalidResourceHandle);
  EXPECT(cudaGetLastError() == cudaErrorInvalidResourceHandle);
  for (int i = 0; i < n; ++i) EXPECT(h[i] == ((i % 100) * 2 + 1) * 2 + 3);

  cudaGraph_t graph;
  cudaGraphExec_t executable;
  CHECK(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeGlobal));
  CHECK(cudaMemsetAsync(d, 0, chunk * sizeof(float), streams[0]));
  for (int step = 0; step < 5; ++step) work<<<chunk / 256, 256, 0, streams[0]>>>(d, chunk, 1);
  CHECK(cudaMemcpyAsync(h, d, chunk * sizeof(float), cudaMemcpyDeviceToHost, streams[0]));
  CHECK(cudaStreamEndCapture(streams[0], &graph));
  CHECK(cudaGraphInstantiate(&executable, graph, 0));
  h[0] = -1;
  for (int round = 0; round < 3; ++round) CHECK(cudaGraphLaunch(executable, streams[0]));
  CHECK(cudaStreamSynchronize(streams[0]));
  for (int i = 0; i < chunk; ++i) EXPECT(h[i] == 31);
  CHECK(cudaGraphExecDestroy(executable));
  CHECK(cudaGraphDestroy(graph));

  float* pooled;
  CHECK(cudaMallocAsync(&pooled, chunk * sizeof(float), streams[1]));
  CHECK(cudaMemcpyAsync(pooled, d, chunk * sizeof(float), cudaMemcpyDeviceToDevice, streams[1]));
  CHECK(cudaMemcpyAsync(h + chunk, pooled, chunk * sizeof(float), cudaMemcpyDeviceToHost, streams[1]));
  CHECK(cudaFreeAsync(pooled, streams[1]));
  CHECK(cudaStreamSynchronize(streams[1]));
  EXPECT(h[chunk] == 31 && h[2 * chunk - 1] == 31);
  for (cudaStream_t stream : streams) CHECK(cudaStreamDestroy(stream));
  CHECK(cudaFreeHost(h));
  CHECK(cudaFree(d));
  std::puts("ok");
}
