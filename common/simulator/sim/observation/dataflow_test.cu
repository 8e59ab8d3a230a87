// SPDX-License-Identifier: MIT
// Ways that values take through registers and memory. dataflow_test.cpp runs the PTX that nvcc makes of this
// file. In most kernels, thread 0 of a block of 32 adds up 32 items, one after the other.
#include <cstdint>

#define KERNEL extern "C" __global__ void

namespace {

// The sum of the block's values, in one thread: 31 operations in a chain.
__device__ void add_up(unsigned value, unsigned* out) {
  __shared__ unsigned s_data[32];
  s_data[threadIdx.x] = value;
  __syncthreads();
  if (threadIdx.x != 0) return;
  unsigned total = s_data[0];
  for (unsigned i = 1; i < 32; ++i) total += static_cast<volatile unsigned*>(s_data)[i];
  out[0] = total;
}

__device__ unsigned shared_address(const void* at) {
  return static_cast<unsigned>(__cvta_generic_to_shared(at));
}

}  // namespace

KERNEL openly(const unsigned* in, unsigned* out) {
  add_up(in[threadIdx.x], out);
}

KERNEL guards(const unsigned* in, unsigned* out) {
  unsigned value = 0;
#pragma unroll
  for (unsigned b = 0; b < 32; ++b)
    asm volatile("{.reg .pred p; .reg .u32 t; and.b32 t, %1, %2; setp.ne.u32 p, t, 0; @p or.b32 %0, %0, %2;}"
                 : "+r"(value)
                 : "r"(in[threadIdx.x]), "r"(1u << b));
  add_up(value, out);
}

KERNEL selections(const unsigned* in, unsigned* out) {
  unsigned value = 0;
#pragma unroll
  for (unsigned b = 0; b < 32; ++b)
    asm volatile(
        "{.reg .pred p; .reg .u32 t; and.b32 t, %1, %2; setp.ne.u32 p, t, 0; selp.u32 t, %2, 0, p; "
        "add.u32 %0, %0, t;}"
        : "+r"(value)
        : "r"(in[threadIdx.x]), "r"(1u << b));
  add_up(value, out);
}

KERNEL halves(const unsigned* in, unsigned* out) {
  __shared__ unsigned long long s_pair[32];
  s_pair[threadIdx.x] = static_cast<unsigned long long>(in[threadIdx.x]) << 32;
  unsigned value;
  asm volatile("ld.shared.u32 %0, [%1];"
               : "=r"(value)
               : "r"(shared_address(&s_pair[threadIdx.x]) + 4)
               : "memory");
  add_up(value, out);
}

KERNEL bytes(const unsigned* in, unsigned* out) {
  __shared__ unsigned s_word[32];
  const unsigned item = in[threadIdx.x], at = shared_address(&s_word[threadIdx.x]);
  for (unsigned b = 0; b < 4; ++b)
    asm volatile("st.shared.u8 [%0], %1;" ::"r"(at + b), "r"(item >> 8 * b & 255) : "memory");
  unsigned value;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(value) : "r"(at) : "memory");
  add_up(value, out);
}

KERNEL local_memory(const unsigned* in, unsigned* out) {
  volatile unsigned char mine[8];
  const unsigned item = in[threadIdx.x];
  for (unsigned b = 0; b < 4; ++b) mine[b] = static_cast<unsigned char>(item >> 8 * b);
  unsigned value = 0;
  for (unsigned b = 0; b < 4; ++b) value |= static_cast<unsigned>(mine[b]) << 8 * b;
  add_up(value, out);
}

KERNEL tables(const unsigned* in, unsigned* out) {
  __shared__ unsigned s_table[256];
  for (unsigned k = threadIdx.x; k < 256; k += 32) s_table[k] = k;
  __syncwarp();
  add_up(static_cast<volatile unsigned*>(s_table)[in[threadIdx.x] & 255], out);
}

KERNEL carries(const unsigned* in, unsigned* out) {
  unsigned value = 0;
#pragma unroll
  for (unsigned b = 0; b < 32; ++b)
    asm volatile("{.reg .u32 t; add.cc.u32 t, %1, 0xffffffff; addc.u32 t, 0, 0; mad.lo.u32 %0, t, %2, %0;}"
                 : "+r"(value)
                 : "r"(in[threadIdx.x] & 1u << b), "r"(1u << b));
  add_up(value, out);
}

__device__ __noinline__ unsigned itself(unsigned value) {
  asm volatile("" : "+r"(value));
  return value;
}
KERNEL calls(const unsigned* in, unsigned* out) {
  add_up(itself(in[threadIdx.x]), out);
}

// Lane j, which has its item, passes it to the others, which have its number; in one register.
KERNEL shuffled_by_value(const unsigned* in, unsigned* out) {
  unsigned value = 0;
  for (unsigned j = 0; j < 32; ++j) {
    unsigned moved = j;
    asm volatile(
        "{.reg .pred p, q; setp.eq.u32 p, %2, %3; setp.eq.u32 q, %2, %4; @p ld.global.u32 %0, [%5]; "
        "shfl.sync.idx.b32 %0, %0, %0, 31, -1; @q mov.u32 %1, %0;}"
        : "+r"(moved), "+r"(value)
        : "r"(threadIdx.x), "r"(j), "r"((j + 1) % 32), "l"(in + j));
  }
  add_up(value, out);
}

// A tree of maxima by comparisons and selections: 31 comparisons, in 5 steps.
KERNEL maxima(const unsigned* in, unsigned* out) {
  unsigned best = in[threadIdx.x];
  for (unsigned d = 16; d > 0; d /= 2) {
    const unsigned other = __shfl_down_sync(~0u, best, d);
    if (threadIdx.x < d)
      asm volatile("{.reg .pred p; setp.gt.u32 p, %1, %0; selp.u32 %0, %1, %0, p;}"
                   : "+r"(best)
                   : "r"(other));
  }
  if (threadIdx.x == 0) out[0] = best;
}

// A barrier that counts items: a vote in the only warp.
KERNEL votes_of_a_barrier(const unsigned* in, unsigned* out) {
  const int n_odd = __syncthreads_count((in[threadIdx.x] & 1) != 0);
  if (threadIdx.x == 0) out[0] = static_cast<unsigned>(n_odd);
}

// Eight sums in one thread, one after the other. nvcc makes a selection of the reset.
KERNEL rows_in_turn(const unsigned* in, unsigned* out) {
  if (threadIdx.x != 0) return;
  unsigned total = 0;
  for (unsigned i = 0; i < 32; ++i) {
    asm volatile("{.reg .pred p; .reg .u32 t; and.b32 t, %1, 3; setp.eq.u32 p, t, 0; selp.u32 %0, 0, %0, p;}"
                 : "+r"(total)
                 : "r"(i));
    total += in[i];
    if ((i & 3) == 3) out[0] = total;
  }
}

KERNEL sum_by_atomics(const unsigned* in, unsigned* out) {
  atomicAdd(out, in[threadIdx.x]);
}

// Block 0 leaves its items in a register and in the carry, which block 1 never sets.
KERNEL left_by_another_block(const unsigned* in, unsigned* out) {
  unsigned left, carry;
  asm volatile(
      "{.reg .u32 keep; .reg .pred p; setp.eq.u32 p, %2, 0; @p mov.u32 keep, %3; @p add.cc.u32 keep, keep, "
      "-1; "
      "mov.u32 %0, keep; addc.u32 %1, 0, 0;}"
      : "=r"(left), "=r"(carry)
      : "r"(blockIdx.x), "r"(in[threadIdx.x]));
  if (blockIdx.x == 1) out[0] = left + carry;
}
