// SPDX-License-Identifier: MIT
// Accesses outside of allocations. kernels.cuh explains the comments.
#include "sim/checkers/kernels/kernels.cuh"

// EXPECT out-of-bounds
// LAUNCH 1 32
KERNEL(before_the_start) {
  out[threadIdx.x] = in[static_cast<int>(threadIdx.x) - 1];  // FAULT
}

// EXPECT written-input
// LAUNCH 1 64 task
KERNEL(input_restored) {
  volatile int* cell = const_cast<int*>(in) + threadIdx.x;
  const int item = *cell;
  *cell = 0;  // FAULT
  out[threadIdx.x] = item + *cell;
  *cell = item;  // FAULT
}

// EXPECT written-input
// LAUNCH 1 32 task
KERNEL(input_added_to) {
  out[threadIdx.x] = atomicAdd(const_cast<int*>(in) + threadIdx.x, 0);  // FAULT
}

// EXPECT out-of-bounds-shared
// LAUNCH 1 64
KERNEL(shared_one_past) {
  __shared__ int s_data[64];
  s_data[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = s_data[threadIdx.x + (n > 0 ? 1 : 0)];  // FAULT
}

// EXPECT division-by-zero
// LAUNCH 1 32
KERNEL(remainder_by_zero) {
  out[threadIdx.x] = in[threadIdx.x] % static_cast<int>(threadIdx.x % 8);  // FAULT
}

// EXPECT division-by-zero
// LAUNCH 1 32
KERNEL(wide_division_by_zero) {
  out[threadIdx.x] = static_cast<int>(1000ull / (threadIdx.x / 16ull));  // FAULT
}

// EXPECT misaligned
// LAUNCH 1 32
KERNEL(vector_load_misaligned) {
  const int4 v = *reinterpret_cast<const int4*>(in + 1 + 4 * threadIdx.x);  // FAULT
  out[threadIdx.x] = v.x + v.y + v.z + v.w;
}

// The test frees `scratch` before the launch.
// EXPECT use-after-free
// LAUNCH 1 32 free
KERNEL(freed_buffer) {
  out[threadIdx.x] = scratch[threadIdx.x];  // FAULT
}

// An index far outside of all allocations.
// EXPECT out-of-bounds
// LAUNCH 1 32
KERNEL(far_past_the_end) {
  const int* p = in + 7;
  for (int k = 0; k < 3; ++k) p += 10'000'000;
  out[threadIdx.x] = p[threadIdx.x];  // FAULT
}

// A negative index, farther back than the previous buffer.
// EXPECT out-of-bounds
// LAUNCH 1 32
KERNEL(far_before_the_start) {
  out[static_cast<int>(threadIdx.x) - 32] = 1;  // FAULT
}

// An unsigned difference wraps around; the result of a comparison with it is as if it were right.
// EXPECT out-of-bounds
// REASON the position comes from 0 - 3, which is below zero
// LAUNCH 1 32 n 3
KERNEL(before_the_first_row) {
  const auto row = static_cast<unsigned long long>(threadIdx.x), radius = static_cast<unsigned long long>(n);
  const unsigned long long first = row - radius > 0 ? row - radius : 0;
  if (first > 0) out[threadIdx.x] = in[first - 1];  // FAULT
}

// A difference below zero that does not make the position wrong: a mask takes its last bits.
// EXPECT out-of-bounds
// LAUNCH 1 32 n 3
KERNEL(ring_past_the_end) {
  const unsigned slot = (threadIdx.x - static_cast<unsigned>(n)) & 63;
  out[threadIdx.x] = in[slot * 100'000 + (1u << 22)];  // FAULT
}

// Past the end of one array, into the next one.
// EXPECT out-of-bounds-shared uninitialised-shared
// LAUNCH 1 32
KERNEL(into_the_next_shared_array) {
  __shared__ int s_here[32], s_next[32];
  s_here[threadIdx.x + n / 4096] = in[threadIdx.x];  // FAULT
  __syncthreads();
  s_next[threadIdx.x] = s_here[31 - threadIdx.x];  // FAULT
  __syncthreads();
  out[threadIdx.x] = s_next[31 - threadIdx.x];
}

// Before the start of an array, in a loop.
// EXPECT out-of-bounds-shared
// LAUNCH 1 32
KERNEL(before_the_shared_array) {
  __shared__ int s_before[32], s_here[32];
  s_before[threadIdx.x] = s_here[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  int sum = 0;
  for (int k = 0; k < n / 1024; ++k) sum += s_here[threadIdx.x - k] + s_before[threadIdx.x / 2];  // FAULT
  out[threadIdx.x] = sum;
}

__constant__ int c_table[32];

// EXPECT written-constant
// LAUNCH 1 32
KERNEL(constant_written) {
  int* cell = c_table + threadIdx.x;
  asm volatile("" : "+l"(cell));
  *cell = in[threadIdx.x];  // FAULT
  __syncthreads();
  out[threadIdx.x] = c_table[threadIdx.x ^ 1];
}

// What other threads store passes by the constant cache, whose accesses no checker compares with stores.
// EXPECT out-of-bounds
// LAUNCH 1 64
KERNEL(read_as_a_constant) {
  out[threadIdx.x] = in[threadIdx.x];
  int other;
  asm volatile("ld.const.u32 %0, [%1];" : "=r"(other) : "l"(out + (threadIdx.x ^ 32)));  // FAULT
  scratch[threadIdx.x] = other;
}

// EXPECT out-of-bounds
// LAUNCH 1 32
KERNEL(read_as_a_parameter) {
  int item;
  asm volatile("ld.param.u32 %0, [%1];" : "=r"(item) : "l"(in + threadIdx.x));  // FAULT
  out[threadIdx.x] = item;
}

// EXPECT nothing
// LAUNCH 1 32
KERNEL(constants_read) {
  out[threadIdx.x] = c_table[threadIdx.x ^ 1] + c_table[in[0] & 31];
}
