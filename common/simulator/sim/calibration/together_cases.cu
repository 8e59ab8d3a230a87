// SPDX-License-Identifier: MIT
// Threads that wait for each other: barriers, shared memory, chains of blocks, the last blocks of a grid.
#include "sim/calibration/cases.hpp"

namespace course::calibration {
namespace {

__global__ void barriers(unsigned rounds) {
  for (unsigned k = 0; k < rounds; ++k) __syncthreads();
}

// Reads with a stride of `stride` words between lanes, four at a time.
__global__ void shared_reads(unsigned* d_to, unsigned stride, unsigned rounds) {
  __shared__ unsigned cells[4096];
  for (unsigned k = threadIdx.x; k < 4096; k += blockDim.x) cells[k] = k;
  __syncthreads();
  unsigned at = threadIdx.x % 32 * stride, sum = 0;
  for (unsigned k = 0; k < rounds; ++k) {
    unsigned value[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) value[j] = cells[(at + 32 * j) & 4095];
#pragma unroll
    for (int j = 0; j < 4; ++j) sum += value[j];
    at += 128;
  }
  if (sum == 0x9e3779b9u) *d_to = sum;
}

// Each read determines the address of the next one.
__global__ void shared_chain(unsigned* d_to, unsigned length) {
  __shared__ unsigned cells[1024];
  for (unsigned k = threadIdx.x; k < 1024; k += blockDim.x) cells[k] = (k + 32) % 1024;
  __syncthreads();
  unsigned at = threadIdx.x;
  for (unsigned k = 0; k < length; ++k) at = cells[at];
  if (at == 0x9e3779b9u) *d_to = at;
}

// A tree in shared memory with one barrier per level, as in classic reductions.
__global__ void tree(const unsigned* d_from, unsigned* d_to) {
  __shared__ unsigned cells[1024];
  const unsigned t = threadIdx.x;
  cells[t] = d_from[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half) cells[t] += cells[t + half];
    __syncthreads();
  }
  if (t == 0) d_to[blockIdx.x] = cells[0];
}

// Block k waits for block k − 1: for a flag, or for a flag that is written after a value.
__global__ void block_chain(volatile unsigned* d_flags, bool with_value) {
  if (threadIdx.x == 0) {
    const unsigned k = blockIdx.x;
    if (k > 0)
      while (d_flags[2 * k - 2] == 0) {
      }
    if (with_value) {
      d_flags[2 * k + 1] = k > 0 ? d_flags[2 * k - 1] + 1 : 1;
      __threadfence();
    }
    d_flags[2 * k] = 1;
  }
  __syncthreads();
}

// The same work in every block, to measure how long the last blocks run alone.
__global__ void steady(unsigned* d_to, unsigned rounds) {
  unsigned value = threadIdx.x;
  for (unsigned k = 0; k < rounds; ++k) value = value * 1664525u + 1013904223u;
  if (value == 0x9e3779b9u) *d_to = value;
}

// Memory accesses and arithmetic alternate, separated by barriers, in few blocks.
__global__ void phases(const unsigned* d_from, unsigned* d_to, unsigned n_phases, unsigned rounds) {
  __shared__ unsigned cells[1024];
  unsigned value = 0;
  for (unsigned p = 0; p < n_phases; ++p) {
    value += d_from[(p * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x];
    for (unsigned k = 0; k < rounds; ++k) value = value * 1664525u + 1013904223u;
    cells[threadIdx.x] = value;
    __syncthreads();
    value += cells[blockDim.x - 1 - threadIdx.x];
    __syncthreads();
  }
  d_to[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

}  // namespace

std::vector<Case> together_cases(const Memory& m) {
  std::vector<Case> cases;
  const unsigned sms = static_cast<unsigned>(m.multiprocessors);
  unsigned* to = m.d_to;
  const unsigned* from = m.d_from;
  const auto cold = [m] { m.flush(); };
  for (const unsigned threads : {32u, 128u, 256u, 512u, 1024u})
    for (const unsigned blocks : {1u, 2048u / threads})
      cases.push_back({"barriers",
                       {{"threads", threads}, {"blocks_each", blocks}},
                       [=] { barriers<<<sms * std::min(blocks, 32u), threads>>>(256); },
                       {}});
  for (const unsigned stride : {0u, 1u, 2u, 4u, 8u, 16u, 32u})
    cases.push_back(
        {"shared reads", {{"stride", stride}}, [=] { shared_reads<<<sms, 1024>>>(to, stride, 64); }, {}});
  for (const unsigned length : {256u, 1024u})
    cases.push_back({"shared chain", {{"length", length}}, [=] { shared_chain<<<1, 32>>>(to, length); }, {}});
  for (const unsigned threads : {64u, 256u, 1024u})
    for (const unsigned words : {1u << 16, 1u << 20, 1u << 22})
      cases.push_back({"tree",
                       {{"threads", threads}, {"words", words}},
                       [=] { tree<<<words / threads, threads>>>(from, to); },
                       cold});
  for (const unsigned blocks : {64u, 256u, 1024u, 4096u})
    for (const unsigned threads : {32u, 256u})
      for (const bool with_value : {false, true})
        cases.push_back({"block chain",
                         {{"blocks", blocks}, {"threads", threads}, {"with_value", with_value}},
                         [=] { block_chain<<<blocks, threads>>>(to, with_value); },
                         [=] { must(cudaMemset(to, 0, 8 * blocks + 8), "cudaMemset"); }});
  for (const unsigned blocks :
       {1u, sms / 2, sms, sms + 1, 2 * sms, 8 * sms, 8 * sms + 1, 12 * sms, 16 * sms, 64 * sms})
    cases.push_back({"tail", {{"blocks", blocks}}, [=] { steady<<<blocks, 256>>>(to, 2048); }, {}});
  for (const unsigned blocks : {8u, sms, 4 * sms})
    for (const unsigned rounds : {0u, 64u})
      cases.push_back({"phases",
                       {{"blocks", blocks}, {"rounds", rounds}},
                       [=] { phases<<<blocks, 512>>>(from, to, 16, rounds); },
                       cold});
  return cases;
}

}  // namespace course::calibration
