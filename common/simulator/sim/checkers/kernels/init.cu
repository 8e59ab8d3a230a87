// SPDX-License-Identifier: MIT
// Reads of uninitialised memory. kernels.cuh explains the comments.
#include "sim/checkers/kernels/kernels.cuh"

// EXPECT uninitialised-shared
// LAUNCH 2 64
KERNEL(shared_never_written) {
  __shared__ int s_data[64];
  if (threadIdx.x < 63) s_data[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = s_data[threadIdx.x];  // FAULT
}

// Shared memory is not zero-initialised.
// EXPECT uninitialised-shared
// LAUNCH 1 64
KERNEL(shared_histogram_not_cleared) {
  __shared__ unsigned s_bins[16];
  atomicAdd(&s_bins[in[threadIdx.x] & 15], 1u);  // FAULT
  __syncthreads();
  if (threadIdx.x < 16) counter[threadIdx.x] = s_bins[threadIdx.x];
}

// `s` is also the mangled name of a type.
// EXPECT uninitialised-shared
// LAUNCH 1 32 shared 256
KERNEL(dynamic_shared_with_a_short_name) {
  extern __shared__ int s[];
  s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x + 1];  // FAULT
}

// EXPECT uninitialised-global
// LAUNCH 2 64
KERNEL(global_never_written) {
  const unsigned gid = blockIdx.x * 64 + threadIdx.x;
  out[gid] = scratch[gid];  // FAULT
}

// Atomic sums without a memset before them.
// EXPECT uninitialised-global
// LAUNCH 2 64
KERNEL(global_histogram_not_cleared) {
  atomicAdd(&scratch[in[threadIdx.x] & 15], 1);  // FAULT
}

// EXPECT uninitialised-local
// LAUNCH 1 32
KERNEL(local_never_written) {
  volatile int stack[16];
  for (int k = 0; k < (in[threadIdx.x] & 7); ++k) stack[k] = k;
  out[threadIdx.x] = stack[8 + (in[threadIdx.x] & 7)];  // FAULT
}

// The value is copied and selected before it is used.
// EXPECT uninitialised-shared
// LAUNCH 1 64
KERNEL(selected_value_never_written) {
  __shared__ int s_data[64];
  if (threadIdx.x < 32) s_data[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  const int above = s_data[threadIdx.x ^ 32];  // FAULT
  out[threadIdx.x] = threadIdx.x >= 16 ? above : 0;
}

// EXPECT uninitialised-global
// LAUNCH 1 64
KERNEL(old_value_used_after_a_store) {
  int* const mine = scratch + threadIdx.x;
  const int old = *mine;  // FAULT
  *mine = 1;
  out[threadIdx.x] = old;
}

// Three of the four elements of a vector are written.
// EXPECT uninitialised-shared
// LAUNCH 1 32
KERNEL(vector_element_never_written) {
  __shared__ int4 s_data[32];
  s_data[threadIdx.x].x = s_data[threadIdx.x].y = s_data[threadIdx.x].z = in[threadIdx.x];
  __syncwarp();
  const int4 other = s_data[threadIdx.x ^ 1];  // FAULT
  out[threadIdx.x] = other.x + other.y + other.z + other.w;
}

// EXPECT uninitialised-local
// LAUNCH 1 32
KERNEL(one_byte_of_a_vector_written) {
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

// Only the first byte of the word has been cleared.
// EXPECT uninitialised-global
// LAUNCH 1 32
KERNEL(one_byte_of_a_counter_cleared) {
  if (threadIdx.x == 0) *reinterpret_cast<unsigned char*>(scratch) = 0;
  __syncwarp();
  atomicAdd(scratch, 1);  // FAULT
}

// EXPECT uninitialised-global
// LAUNCH 1 32
KERNEL(one_byte_of_a_counter_cleared_before_a_swap) {
  int* const mine = scratch + threadIdx.x;
  *reinterpret_cast<unsigned char*>(mine) = 0;
  int seen = *reinterpret_cast<volatile int*>(mine), old;  // FAULT
  do {
    old = seen;
    seen = atomicCAS(mine, old, old + 1);
  } while (seen != old);
}

// EXPECT uninitialised-shared
// LAUNCH 1 32
KERNEL(compares_a_word_written_in_part) {
  __shared__ int s_data[32];
  reinterpret_cast<unsigned char*>(s_data)[4 * threadIdx.x] = 1;
  __syncwarp();
  const int other = reinterpret_cast<volatile int*>(s_data)[threadIdx.x ^ 1];  // FAULT
  out[threadIdx.x] = other == 5 ? 1 : 0;
}

// EXPECT uninitialised-shared
// LAUNCH 1 32
KERNEL(stores_a_sum_with_a_word_written_in_part) {
  __shared__ int s_data[32];
  reinterpret_cast<short*>(s_data)[2 * threadIdx.x] = 1;
  __syncwarp();
  const int other = reinterpret_cast<volatile int*>(s_data)[threadIdx.x ^ 1];  // FAULT
  out[threadIdx.x] = other + in[threadIdx.x];
}

// EXPECT uninitialised-local
// LAUNCH 1 32
KERNEL(index_from_a_word_written_in_part) {
  alignas(8) volatile unsigned char bytes[8];
  bytes[in[threadIdx.x] & 1] = 1;
  const unsigned word = reinterpret_cast<volatile unsigned*>(bytes)[0];  // FAULT
  if (threadIdx.x == 0) out[word & 0xfff] = 1;
}

// The missing bytes go through shared memory and another lane.
// EXPECT uninitialised-shared
// LAUNCH 1 32
KERNEL(shuffled_bytes_never_written) {
  __shared__ int s_data[32], s_copy[32];
  reinterpret_cast<short*>(s_data)[2 * threadIdx.x] = 1;
  __syncwarp();
  s_copy[threadIdx.x] = reinterpret_cast<volatile int*>(s_data)[threadIdx.x ^ 1];
  __syncwarp();
  const int copied = reinterpret_cast<volatile int*>(s_copy)[threadIdx.x ^ 3];  // FAULT
  const int other = __shfl_xor_sync(~0u, copied, 1);
  out[threadIdx.x] = other > 0 ? 1 : 2;
}

// Three of four bytes are a structure's members, which are taken out of the word by shifts and masks.
// EXPECT nothing
// LAUNCH 1 32
KERNEL(members_of_a_padded_word) {
  __shared__ unsigned s_data[32], s_copy[32];
  auto* const bytes = reinterpret_cast<unsigned char*>(s_data);
  for (unsigned k = 0; k < 3; ++k)
    bytes[4 * threadIdx.x + k] = static_cast<unsigned char>(in[threadIdx.x] + k);
  __syncwarp();
  const unsigned word = reinterpret_cast<volatile unsigned*>(s_data)[threadIdx.x ^ 1];
  const unsigned other = __shfl_down_sync(~0u, word, 1);
  reinterpret_cast<volatile unsigned*>(s_copy)[threadIdx.x] = other;
  __syncwarp();
  const unsigned copied = reinterpret_cast<volatile unsigned*>(s_copy)[threadIdx.x ^ 1];
  unsigned field, permuted, both;
  asm volatile("bfe.u32 %0, %1, 8, 8;" : "=r"(field) : "r"(copied));
  asm volatile("prmt.b32 %0, %1, %2, 0x4210;" : "=r"(permuted) : "r"(copied), "r"(0));
  asm volatile("lop3.b32 %0, %1, %2, %3, 0xea;" : "=r"(both) : "r"(copied), "r"(0xffffffu), "r"(7u));
  const auto low = static_cast<unsigned short>(copied);
  out[threadIdx.x] =
      static_cast<int>(field + permuted + both + low + (copied << 8) / 3 + (copied >> 16 & 0xff));
}

// Only the upper half decides the order. Compilers replace x >> 16 == 0 by such a comparison.
// EXPECT nothing
// LAUNCH 1 32
KERNEL(order_of_the_upper_half) {
  __shared__ unsigned s_data[32];
  reinterpret_cast<short*>(s_data)[2 * threadIdx.x + 1] = static_cast<short>(in[threadIdx.x] % 3);
  __syncwarp();
  const unsigned other = reinterpret_cast<volatile unsigned*>(s_data)[threadIdx.x ^ 1];
  out[threadIdx.x] = (other < 0x10000u ? 1 : 0) + (static_cast<int>(other) < 0 ? 2 : 0);
}

// Each thread sets one byte by swaps of the whole word, as the library does for small atomic types.
// EXPECT nothing
// LAUNCH 1 32
KERNEL(swaps_around_one_byte) {
  auto* const word = reinterpret_cast<unsigned*>(scratch) + threadIdx.x / 4;
  if (threadIdx.x == 0) reinterpret_cast<unsigned char*>(scratch)[0] = 1;
  __syncwarp();
  const unsigned shift = 8 * (threadIdx.x % 4), keep = ~(0xffu << shift);
  if (threadIdx.x > 3) return;
  unsigned seen = 0, old;
  do {
    old = seen;
    seen = atomicCAS(word, old, (old & keep) | threadIdx.x << shift);
  } while (seen != old);
}

// Sums of bytes and of pairs of halves, of which those that have not been written are dropped.
// EXPECT nothing
// LAUNCH 1 32
KERNEL(sums_in_a_padded_word) {
  __shared__ unsigned s_data[32];
  reinterpret_cast<short*>(s_data)[2 * threadIdx.x] = static_cast<short>(in[threadIdx.x]);
  __syncwarp();
  const unsigned other = reinterpret_cast<volatile unsigned*>(s_data)[threadIdx.x ^ 1];
  unsigned sum, pair;
  asm volatile("add.u32 %0, %1, %2;" : "=r"(sum) : "r"(other), "r"(3u));
  asm volatile("add.u16x2 %0, %1, %2;" : "=r"(pair) : "r"(other), "r"(3u));
  reinterpret_cast<short*>(out)[2 * threadIdx.x] = static_cast<short>(sum);
  reinterpret_cast<short*>(out)[2 * threadIdx.x + 1] = static_cast<short>(pair);
}

// EXPECT uninitialised-variable
// LAUNCH 2 64
KERNEL(sum_never_set) {
  int sum;
  for (int i = static_cast<int>(threadIdx.x); i < n; i += 64) sum += in[i];  // FAULT
  out[blockIdx.x * 64 + threadIdx.x] = sum;
}

// EXPECT uninitialised-variable
// LAUNCH 1 32
KERNEL(condition_never_set) {
  int value;
  asm volatile("{ .reg .b32 unset; add.s32 %0, unset, 1; }" : "=r"(value));  // FAULT
  if (value > in[threadIdx.x]) atomicAdd(counter, 1u);
}

// Another function than the kernel has the variable.
__device__ int total_of(const int* from, int n);
// EXPECT uninitialised-variable
// LAUNCH 1 32
KERNEL(sum_of_a_function_never_set) {
  out[threadIdx.x] = total_of(in, static_cast<int>(threadIdx.x) + 1) * 2;
}
__device__ __noinline__ int total_of(const int* from, int n) {
  int sum;
  for (int i = 0; i < n; ++i) sum += from[i];  // FAULT
  return sum;
}

// What threads past the end calculate and exchange is dropped.
// EXPECT nothing
// LAUNCH 1 32
KERNEL(variable_set_where_needed) {
  const int i = static_cast<int>(threadIdx.x), limit = in[0] & 15;
  int value, wide[2];
  bool odd;
  asm volatile("{ .reg .pred p; .reg .b32 u; setp.lt.s32 p, %1, %2; @p mov.b32 u, %1; mov.b32 %0, u; }"
               : "=r"(value)
               : "r"(i), "r"(limit));
  if (i < limit) wide[i & 1] = value, odd = (value & 1) != 0;
  __syncwarp();
  value = value * 3 + __shfl_down_sync(kFull, value, 1) / 7;
  const bool both = i + 1 < limit && value > 5;
  const unsigned votes = __ballot_sync(kFull, both);
  if (i < limit - 1) out[i] = value + static_cast<int>(votes) + (odd ? wide[i & 1] : 0);
}

// An exchange whose result is not used only writes.
// EXPECT nothing
// LAUNCH 1 64
KERNEL(cleared_by_an_exchange) {
  __shared__ unsigned s_flags[64];
  auto* const flags = reinterpret_cast<unsigned*>(scratch);
  atomicExch(&flags[threadIdx.x], 0u);
  atomicExch(&s_flags[threadIdx.x], 0u);
  __syncthreads();
  out[threadIdx.x] = static_cast<int>(flags[threadIdx.x ^ 1] + s_flags[threadIdx.x ^ 1]);
}

// EXPECT uninitialised-shared
// LAUNCH 1 64
KERNEL(result_of_the_first_exchange) {
  __shared__ unsigned s_flags[64];
  out[threadIdx.x] = static_cast<int>(atomicExch(&s_flags[threadIdx.x], 1u)) + 1;  // FAULT
}
