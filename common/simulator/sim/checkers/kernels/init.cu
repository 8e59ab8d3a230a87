// SPDX-License-Identifier: MIT
// Reads of uninitialised memory. kernels.cuh explains the comments.
#include "sim/checkers/kernels/kernels.cuh"

// EXPECT uninitialised-shared
// LAUNCH 2 64
KERNEL(shared_never_written) {
  UNUSED;
  __shared__ int s_data[64];
  if (threadIdx.x < 63) s_data[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = s_data[threadIdx.x];  // FAULT
}

// The last block does not fill its tile, and the tree includes the rest.
// EXPECT uninitialised-shared
// LAUNCH 2 64 n 100
KERNEL(tail_not_padded) {
  UNUSED;
  __shared__ int s_data[64];
  const int gid = static_cast<int>(blockIdx.x * 64 + threadIdx.x);
  if (gid < n) s_data[threadIdx.x] = in[gid];
  __syncthreads();
  for (unsigned stride = 32; stride > 0; stride /= 2) {
    if (threadIdx.x < stride) s_data[threadIdx.x] += s_data[threadIdx.x + stride];  // FAULT
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = s_data[0];
}

// Shared memory is not zero-initialised.
// EXPECT uninitialised-shared
// LAUNCH 1 64
KERNEL(shared_histogram_not_cleared) {
  UNUSED;
  __shared__ unsigned s_bins[16];
  atomicAdd(&s_bins[in[threadIdx.x] & 15], 1u);  // FAULT
  __syncthreads();
  if (threadIdx.x < 16) counter[threadIdx.x] = s_bins[threadIdx.x];
}

// EXPECT uninitialised-shared
// LAUNCH 1 32 shared 256
KERNEL(dynamic_shared_never_written) {
  UNUSED;
  extern __shared__ int s_buffer[];
  s_buffer[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = s_buffer[threadIdx.x + 1];  // FAULT
}

// `s` is also the mangled name of a type.
// EXPECT uninitialised-shared
// LAUNCH 1 32 shared 256
KERNEL(dynamic_shared_with_a_short_name) {
  UNUSED;
  extern __shared__ int s[];
  s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x + 1];  // FAULT
}

// EXPECT uninitialised-global
// LAUNCH 2 64
KERNEL(global_never_written) {
  UNUSED;
  const unsigned gid = blockIdx.x * 64 + threadIdx.x;
  out[gid] = scratch[gid];  // FAULT
}

// Atomic sums without a memset before them.
// EXPECT uninitialised-global
// LAUNCH 2 64
KERNEL(global_histogram_not_cleared) {
  UNUSED;
  atomicAdd(&scratch[in[threadIdx.x] & 15], 1);  // FAULT
}

// Reads one element after the initialised part of the allocation.
// EXPECT uninitialised-global
// LAUNCH 1 64
KERNEL(reads_one_past_what_was_filled) {
  UNUSED;
  scratch[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = scratch[threadIdx.x + 1];  // FAULT
}

// EXPECT uninitialised-local
// LAUNCH 1 32
KERNEL(local_never_written) {
  UNUSED;
  volatile int stack[16];
  for (int k = 0; k < (in[threadIdx.x] & 7); ++k) stack[k] = k;
  out[threadIdx.x] = stack[8 + (in[threadIdx.x] & 7)];  // FAULT
}

// The value is copied and selected before it is used.
// EXPECT uninitialised-shared
// LAUNCH 1 64
KERNEL(selected_value_never_written) {
  UNUSED;
  __shared__ int s_data[64];
  if (threadIdx.x < 32) s_data[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  const int above = s_data[threadIdx.x ^ 32];  // FAULT
  out[threadIdx.x] = threadIdx.x >= 16 ? above : 0;
}

// EXPECT uninitialised-global
// LAUNCH 1 64
KERNEL(old_value_used_after_a_store) {
  UNUSED;
  int* const mine = scratch + threadIdx.x;
  const int old = *mine;  // FAULT
  *mine = 1;
  out[threadIdx.x] = old;
}

// Three of the four elements of a vector are written.
// EXPECT uninitialised-shared
// LAUNCH 1 32
KERNEL(vector_element_never_written) {
  UNUSED;
  __shared__ int4 s_data[32];
  s_data[threadIdx.x].x = s_data[threadIdx.x].y = s_data[threadIdx.x].z = in[threadIdx.x];
  __syncwarp();
  const int4 other = s_data[threadIdx.x ^ 1];  // FAULT
  out[threadIdx.x] = other.x + other.y + other.z + other.w;
}

// EXPECT uninitialised-local
// LAUNCH 1 32
KERNEL(one_byte_of_a_vector_written) {
  UNUSED;
  alignas(16) volatile unsigned char bytes[16];
  bytes[in[threadIdx.x] & 3] = 1;
  const auto words = __cvta_generic_to_local(const_cast<unsigned char*>(bytes));
  unsigned a, b, c, d;
  asm volatile("ld.local.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
               : "l"(words));  // FAULT
  out[threadIdx.x] = static_cast<int>(b ^ c ^ d) + static_cast<int>(a & 1);
}

// A structure is copied with its padding, which is not used.
// EXPECT nothing
// LAUNCH 1 32
KERNEL(padding_is_copied) {
  UNUSED;
  __shared__ int4 s_data[32], s_copy[32];
  s_data[threadIdx.x].x = s_data[threadIdx.x].y = s_data[threadIdx.x].z = in[threadIdx.x];
  __syncwarp();
  s_copy[threadIdx.x] = s_data[threadIdx.x ^ 1];
  __syncwarp();
  reinterpret_cast<int4*>(scratch)[threadIdx.x] = s_copy[threadIdx.x ^ 1];
  __syncwarp();
  out[threadIdx.x] = scratch[threadIdx.x * 4] + scratch[threadIdx.x * 4 + 2];
}

// EXPECT uninitialised-global
// LAUNCH 1 32
KERNEL(copied_padding_is_read) {
  UNUSED;
  __shared__ int4 s_data[32];
  s_data[threadIdx.x].x = s_data[threadIdx.x].y = s_data[threadIdx.x].z = in[threadIdx.x];
  __syncwarp();
  reinterpret_cast<int4*>(scratch)[threadIdx.x] = s_data[threadIdx.x ^ 1];
  __syncwarp();
  out[threadIdx.x] = scratch[(threadIdx.x ^ 1) * 4 + 3];  // FAULT
}

// EXPECT uninitialised-shared
// LAUNCH 1 32
KERNEL(asynchronous_copy_of_one_word_in_four) {
  UNUSED;
  __shared__ int4 s_data[32];
  scratch[threadIdx.x * 4] = in[threadIdx.x];
  __syncwarp();
  asm volatile(
      "cp.async.cg.shared.global [%0], [%1], 16;" ::"l"(__cvta_generic_to_shared(&s_data[threadIdx.x])),
      "l"(scratch + (threadIdx.x ^ 1) * 4)
      : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncwarp();
  out[threadIdx.x] = s_data[threadIdx.x].x + s_data[threadIdx.x ^ 1].w;  // FAULT
}
