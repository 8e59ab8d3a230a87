// SPDX-License-Identifier: MIT
// Ways to hide from the data flow that a thread combines items. dataflow_test.cpp runs the PTX that nvcc
// makes of this file. In each kernel, thread 0 of a block of 32 adds up 32 items, one after the other.
#include <cstdint>
#include <cstdio>

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

KERNEL branches(const unsigned* in, unsigned* out) {
  const unsigned item = in[threadIdx.x];
  unsigned value = 0;
  for (unsigned b = 0; b < 32; ++b)
    asm volatile(
        "{.reg .pred p; .reg .u32 t; and.b32 t, %1, %2; setp.eq.u32 p, t, 0; @p bra SKIP; "
        "or.b32 %0, %0, %2; SKIP: mov.u32 t, 0; }"
        : "+r"(value)
        : "r"(item), "r"(1u << b));
  add_up(value, out);
}

// Whether a lane writes to memory depends on the bits of its item.
KERNEL branches_to_memory(const unsigned* in, unsigned* out) {
  __shared__ unsigned char s_bits[32][32];
  const unsigned item = in[threadIdx.x];
  for (unsigned b = 0; b < 32; ++b) {
    volatile unsigned char* bit = &s_bits[threadIdx.x][b];
    *bit = 0;
    if ((item >> b & 1) != 0) *bit = 1;
  }
  unsigned value = 0;
  for (unsigned b = 0; b < 32; ++b)
    value |= static_cast<unsigned>(static_cast<volatile unsigned char&>(s_bits[threadIdx.x][b])) << b;
  add_up(value, out);
}

// No lane stores, which depends on its item. No lane executes the branch that computes the address.
KERNEL skipped_stores(const unsigned* in, unsigned* out) {
  __shared__ unsigned s_flags[32];
  static_cast<volatile unsigned*>(s_flags)[threadIdx.x] = 1;
  asm volatile(
      "{.reg .pred p; .reg .u32 a; setp.lt.u32 p, %0, 1000000; @p bra SKIP; "
      "mad.lo.u32 a, %1, 4, %2; st.shared.u32 [a], %1; SKIP:}"
      :
      : "r"(in[threadIdx.x]), "r"(threadIdx.x), "r"(shared_address(s_flags))
      : "memory");
  add_up(static_cast<volatile unsigned*>(s_flags)[threadIdx.x], out);
}

KERNEL loops(const unsigned* in, unsigned* out) {
  unsigned value = 0;
  for (volatile unsigned left = in [threadIdx.x] & 255; left != 0; left = left - 1) ++value;
  add_up(value, out);
}

KERNEL ballots(const unsigned* in, unsigned* out) {
  const unsigned item = in[threadIdx.x];
  unsigned value = 0;
  for (unsigned b = 0; b < 32; ++b) value |= (__ballot_sync(~0u, item >> b & 1) >> threadIdx.x & 1) << b;
  add_up(value, out);
}

// Lane 31 stays in any case, and sees which of the others do.
KERNEL presence(const unsigned* in, unsigned* out) {
  const unsigned item = in[threadIdx.x];
  unsigned value = 0;
  for (unsigned b = 0; b < 32; ++b) {
    unsigned here;
    asm volatile(
        "{.reg .pred p, q; mov.u32 %0, 0; setp.eq.u32 q, %1, 31; @q bra STAY; setp.eq.u32 p, %2, 0; @p bra "
        "OUT; "
        "STAY: activemask.b32 %0; OUT:}"
        : "=&r"(here)
        : "r"(threadIdx.x), "r"(item >> b & 1));
    value |= (__shfl_sync(~0u, here, 31) >> threadIdx.x & 1) << b;
  }
  if (threadIdx.x == 31) value = item;
  add_up(value, out);
}

KERNEL matches(const unsigned* in, unsigned* out) {
  const unsigned item = in[threadIdx.x];
  unsigned value = 0;
  for (unsigned b = 0; b < 32; ++b) {
    const unsigned same = __match_any_sync(~0u, threadIdx.x << 1 | (item >> b & 1));
    const unsigned ones = __match_any_sync(~0u, threadIdx.x << 1 | 1u);
    value |= (same != 0 && (item >> b & 1) == (ones != 0)) ? 1u << b : 0u;
  }
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

// --- what did not happen: only counted with kAbsences

// Five bits at a time: of 32 stores, one goes elsewhere, so that its cell stays as it was.
template <typename Cell>
__device__ unsigned untouched(unsigned item, volatile Cell* cells) {
  unsigned value = 0;
  for (unsigned shift = 0; shift < 32; shift += 5) {
    for (unsigned k = 0; k < 96; ++k) cells[k] = 0;
    cells[item >> shift & 31] = 1;
    for (unsigned k = 0; k < 32; ++k) cells[32 + k + 32 * cells[k]] = 1;
    for (unsigned k = 0; k < 32; ++k)
      if (cells[32 + k] == 0) value |= k << shift;
  }
  return value;
}

KERNEL untouched_shared(const unsigned* in, unsigned* out) {
  __shared__ unsigned s_cells[32 * 96];
  add_up(untouched(in[threadIdx.x], s_cells + 96 * threadIdx.x), out);
}

KERNEL untouched_bytes(const unsigned* in, unsigned* out) {
  __shared__ unsigned char s_cells[32 * 96];
  add_up(untouched(in[threadIdx.x], s_cells + 96 * threadIdx.x), out);
}

__device__ unsigned d_cells[32 * 96];
KERNEL untouched_global(const unsigned* in, unsigned* out) {
  add_up(untouched(in[threadIdx.x], d_cells + 96 * threadIdx.x), out);
}

KERNEL untouched_local(const unsigned* in, unsigned* out) {
  unsigned cells[96];
  add_up(untouched(in[threadIdx.x], cells), out);
}

KERNEL untouched_by_atomics(const unsigned* in, unsigned* out) {
  __shared__ unsigned s_cells[32 * 64];
  unsigned* const cells = s_cells + 64 * threadIdx.x;
  for (unsigned k = 0; k < 64; ++k) static_cast<volatile unsigned*>(cells)[k] = 0;
  atomicAdd(&cells[in[threadIdx.x] & 31], 1u);
  add_up(static_cast<volatile unsigned*>(cells)[32 + threadIdx.x], out);
}

// No lane stores, and only its item says where it would.
KERNEL skipped_addresses(const unsigned* in, unsigned* out) {
  __shared__ unsigned s_cells[64];
  static_cast<volatile unsigned*>(s_cells)[threadIdx.x] = 1;
  const unsigned item = in[threadIdx.x];
  asm volatile("{.reg .pred p; setp.gt.u32 p, %0, 1000000; @p st.shared.u32 [%1], %0;}"
               :
               : "r"(item), "r"(shared_address(s_cells) + 4 * (item & 31))
               : "memory");
  add_up(static_cast<volatile unsigned*>(s_cells)[threadIdx.x], out);
}

__device__ __noinline__ void set(volatile unsigned* flag) {
  *flag = 1;
}
KERNEL skipped_calls(const unsigned* in, unsigned* out) {
  __shared__ unsigned s_flags[32];
  static_cast<volatile unsigned*>(s_flags)[threadIdx.x] = 2;
  if (in[threadIdx.x] > 1000000) set(&s_flags[threadIdx.x]);
  add_up(static_cast<volatile unsigned*>(s_flags)[threadIdx.x], out);
}

__device__ unsigned d_one = 1;
KERNEL skipped_copies(const unsigned* in, unsigned* out) {
  __shared__ unsigned s_flags[32];
  static_cast<volatile unsigned*>(s_flags)[threadIdx.x] = 2;
  asm volatile(
      "{.reg .pred p; setp.gt.u32 p, %0, 500; @p cp.async.ca.shared.global [%1], [%2], 4; cp.async.wait_all;}"
      :
      : "r"(in[threadIdx.x]), "r"(shared_address(&s_flags[threadIdx.x])), "l"(&d_one)
      : "memory");
  add_up(static_cast<volatile unsigned*>(s_flags)[threadIdx.x], out);
}

__device__ unsigned now() {
  unsigned time;
  asm volatile("mov.u32 %0, %%globaltimer_lo;" : "=r"(time));
  return time;
}
KERNEL timers(const unsigned* in, unsigned* out) {
  const unsigned start = now();
  for (volatile unsigned left = in [threadIdx.x] & 7; left != 0; left = left - 1) {
  }
  add_up(now() - start, out);
}
KERNEL sleeps(const unsigned* in, unsigned* out) {
  const unsigned start = now();
  asm volatile("nanosleep.u32 %0;" ::"r"(in[threadIdx.x]));
  add_up(now() - start, out);
}

KERNEL tickets(const unsigned* in, unsigned* out) {
  __shared__ unsigned s_tickets[32];
  static_cast<volatile unsigned*>(s_tickets)[threadIdx.x] = 0;
  for (volatile unsigned left = in [threadIdx.x] & 7; left != 0; left = left - 1)
    atomicAdd(&s_tickets[threadIdx.x], 1u);
  add_up(atomicAdd(&s_tickets[threadIdx.x], 1u), out);
}

// Pairs of lanes vote together or each alone.
KERNEL member_masks(const unsigned* in, unsigned* out) {
  const unsigned pair = threadIdx.x & ~1u, item = in[pair];
  unsigned value = 0;
  for (unsigned b = 0; b < 32; ++b) {
    const unsigned members = (item >> b & 1) != 0 ? 3u << pair : 1u << threadIdx.x;
    value |= (__ballot_sync(members, 1) == 3u << pair ? 1u : 0u) << b;
  }
  add_up(value, out);
}

__device__ __noinline__ unsigned even() {
  return 2;
}
__device__ __noinline__ unsigned odd() {
  return 1;
}
__device__ unsigned (*volatile d_functions[2])() = {even, odd};
KERNEL indirect_calls(const unsigned* in, unsigned* out) {
  add_up(d_functions[in[threadIdx.x] & 1](), out);
}

// Lanes below an item vote among themselves, and so do the others: their leader's number is the item.
KERNEL leaders(const unsigned* in, unsigned* out) {
  const unsigned item = in[0] & 31, low = (1u << item) - 1;
  unsigned leader;
  asm volatile("{.reg .pred p; elect.sync %0|p, %1;}" : "=r"(leader) : "r"(threadIdx.x < item ? low : ~low));
  __syncwarp();
  add_up(__shfl_sync(~0u, leader, 31), out);
}

// Adds up the bits of `mask`.
__device__ void add_bits(unsigned mask, unsigned* out) {
  unsigned total = mask & 1;
  for (unsigned b = 1; b < 32; ++b) asm volatile("add.u32 %0, %0, %1;" : "+r"(total) : "r"(mask >> b & 1));
  out[0] = total;
}
// Lane 31 stays in any case, and a vote shows it which of the others have ended.
KERNEL ended_lanes(const unsigned* in, unsigned* out) {
  if (threadIdx.x != 31 && (in[threadIdx.x] & 1) != 0) return;
  const unsigned here = __ballot_sync(~0u, 1);
  if (threadIdx.x == 31) add_bits(here, out);
}
KERNEL ended_after_more(const unsigned* in, unsigned* out) {
  unsigned same = 0;
  if (threadIdx.x == 31 || (in[threadIdx.x] & 1) == 0) same = __match_any_sync(~0u, 1);
  __threadfence_block();
  if (threadIdx.x == 31) add_bits(same, out);
}

KERNEL heap_addresses(const unsigned* in, unsigned* out) {
  malloc(16 * (in[threadIdx.x] & 31));
  add_up(static_cast<unsigned>(reinterpret_cast<std::uint64_t>(malloc(16))), out);
}

KERNEL printed(const unsigned* in, unsigned* out) {
  unsigned value = 0;
  for (unsigned b = 0; b < 32; ++b) {
    volatile char text[4] = {static_cast<char>((in[threadIdx.x] >> b & 1) * '%'), '.', '0', 's'};
    volatile const char* const format = text;
    value |= static_cast<unsigned>(printf(const_cast<const char*>(format), "")) << b;
  }
  add_up(value, out);
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

KERNEL guarded_carries(const unsigned* in, unsigned* out) {
  unsigned value = 0;
  for (unsigned b = 0; b < 32; ++b)
    asm volatile(
        "{.reg .pred p; .reg .u32 t; and.b32 t, %1, %2; setp.ne.u32 p, t, 0; add.cc.u32 t, 0, 0; "
        "@p add.cc.u32 t, -1, 1; addc.u32 t, 0, 0; mad.lo.u32 %0, t, %2, %0;}"
        : "+r"(value)
        : "r"(in[threadIdx.x]), "r"(1u << b));
  add_up(value, out);
}

// Each bit becomes a flag in shared memory: s_cells[1] is set for a 1, s_cells[3] for a 0. `skip(bit, cell)`
// writes 1 to the cell unless the bit is 0.
template <typename Skip>
__device__ void tell_twice(const unsigned* in, unsigned* out, volatile unsigned* cells, Skip skip) {
  unsigned value = 0;
  for (unsigned b = 0; b < 32; ++b) {
    for (unsigned k = 0; k < 4; ++k) cells[k] = 0;
    skip(in[threadIdx.x] >> b & 1, cells + 1);
    skip(1 - cells[1], cells + 3);
    value |= (1 - cells[3]) << b;
  }
  add_up(value, out);
}

// The second iteration of a loop.
KERNEL skipped_loops(const unsigned* in, unsigned* out) {
  __shared__ unsigned s_cells[32 * 4];
  tell_twice(in, out, s_cells + 4 * threadIdx.x, [](unsigned bit, volatile unsigned* cell) {
    asm volatile(
        "{.reg .pred p, q; .reg .u32 a; setp.eq.u32 p, %0, 0; sub.u32 a, %1, 4; @p bra DONE; "
        "AGAIN: st.shared.u32 [a], 1; add.u32 a, a, 4; setp.le.u32 q, a, %1; @q bra AGAIN; DONE:}"
        :
        : "r"(bit), "r"(shared_address(const_cast<unsigned*>(cell)))
        : "memory");
  });
}
KERNEL skipped_counting_loops(const unsigned* in, unsigned* out) {
  __shared__ unsigned s_cells[32 * 4];
  tell_twice(in, out, s_cells + 4 * threadIdx.x, [](unsigned bit, volatile unsigned* cell) {
    asm volatile(
        "{.reg .pred p, q; .reg .u32 a, i; setp.eq.u32 p, %0, 0; sub.u32 a, %1, 4; mov.u32 i, 0; @p bra "
        "DONE; "
        "AGAIN: mad.lo.u32 a, i, 4, %1; sub.u32 a, a, 4; st.shared.u32 [a], 1; add.u32 i, i, 1; "
        "setp.le.u32 q, i, 1; @q bra AGAIN; DONE:}"
        :
        : "r"(bit), "r"(shared_address(const_cast<unsigned*>(cell)))
        : "memory");
  });
}

// Two paths lead to a store. The shorter one, which no thread takes, gives it another address.
KERNEL skipped_longer_ways(const unsigned* in, unsigned* out) {
  __shared__ unsigned s_cells[32 * 4];
  tell_twice(in, out, s_cells + 4 * threadIdx.x, [](unsigned bit, volatile unsigned* cell) {
    asm volatile(
        "{.reg .pred p, q; .reg .u32 a; setp.eq.u32 p, %0, 0; setp.eq.u32 q, %2, 1; mov.u32 a, %1; @p bra "
        "DONE; "
        "@q bra SHORT; bra LONG; LONG: bra JOIN; SHORT: sub.u32 a, %1, 4; JOIN: st.shared.u32 [a], 1; DONE:}"
        :
        : "r"(bit), "r"(shared_address(const_cast<unsigned*>(cell))), "r"(blockIdx.x)
        : "memory");
  });
}
KERNEL skipped_either_way(const unsigned* in, unsigned* out) {
  __shared__ unsigned s_cells[32 * 4];
  tell_twice(in, out, s_cells + 4 * threadIdx.x, [](unsigned bit, volatile unsigned* cell) {
    asm volatile(
        "{.reg .pred p, q; .reg .u32 a; setp.eq.u32 p, %0, 0; setp.eq.u32 q, %2, 1; @p bra DONE; "
        "@q bra SHORT; mov.u32 a, %1; bra LONG; LONG: bra JOIN; SHORT: sub.u32 a, %1, 4; bra JOIN; "
        "JOIN: st.shared.u32 [a], 1; DONE:}"
        :
        : "r"(bit), "r"(shared_address(const_cast<unsigned*>(cell))), "r"(blockIdx.x)
        : "memory");
  });
}

// A function that stores to a variable of its caller, whose address it finds in memory.
__device__ std::uint64_t d_addresses[32];
__device__ __noinline__ void set_local_cell() {
  asm volatile("st.local.u32 [%0], 1;" ::"l"(static_cast<volatile std::uint64_t*>(d_addresses)[threadIdx.x])
               : "memory");
}
KERNEL skipped_calls_to_local(const unsigned* in, unsigned* out) {
  volatile unsigned cells[4];
  tell_twice(in, out, cells, [](unsigned bit, volatile unsigned* cell) {
    d_addresses[threadIdx.x] = __cvta_generic_to_local(const_cast<unsigned*>(cell));
    if (bit != 0) set_local_cell();
  });
}

// `watch(bit)` returns which lanes have this bit. Lanes 31 and 0 watch, with a constant in its place.
template <typename Watch>
__device__ void watched(const unsigned* in, unsigned* out, Watch watch) {
  unsigned value = 0;
  for (unsigned b = 0; b < 4; ++b)
    for (const unsigned watcher : {31u, 0u}) {
      unsigned seen = watch(threadIdx.x == watcher ? 1u : in[threadIdx.x] >> b & 1);
      __syncwarp();
      seen = __shfl_sync(~0u, seen, watcher);
      if ((threadIdx.x == 31) != (watcher == 31)) value |= (seen >> threadIdx.x & 1) << b;
    }
  add_up(value, out);
}
KERNEL guarded_presence(const unsigned* in, unsigned* out) {
  watched(in, out, [](unsigned bit) {
    unsigned here = 0;
    asm volatile("{.reg .pred p; setp.ne.u32 p, %1, 0; @p activemask.b32 %0;}" : "+r"(here) : "r"(bit));
    return here;
  });
}
// Lanes with more rounds of a loop come after the others.
KERNEL presence_after_loops(const unsigned* in, unsigned* out) {
  watched(in, out, [](unsigned bit) {
    unsigned here;
    asm volatile(
        "{.reg .pred p; .reg .u32 n; mul.lo.u32 n, %1, 400; AGAIN: setp.eq.u32 p, n, 0; @p bra DONE; "
        "sub.u32 n, n, 1; bra AGAIN; DONE: activemask.b32 %0;}"
        : "=r"(here)
        : "r"(bit));
    return here;
  });
}

// Lane j sets a flag on one side of a branch. The other lanes read it where both sides meet. A jump that no
// thread takes goes past this point, so the branch's region ends only later.
KERNEL shuffled_before_the_end(const unsigned* in, unsigned* out) {
  unsigned value = 0;
  for (unsigned b = 0; b < 32; ++b)
    for (unsigned j = 0; j < 32; ++j) {
      unsigned seen = 0;
      asm volatile(
          "{.reg .pred p, never; .reg .u32 v; setp.ne.u32 never, %3, 0; setp.ne.u32 p, %1, 0; @p bra ONE; "
          "mov.u32 v, 0; @never bra OUT; bra BOTH; ONE: mov.u32 v, 1; @never bra OUT; bra BOTH; "
          "BOTH: shfl.sync.idx.b32 %0, v, %2, 31, -1; OUT:}"
          : "+r"(seen)
          : "r"(threadIdx.x == j ? in[j] >> b & 1 : 0), "r"(j), "r"(blockIdx.x));
      seen = __shfl_sync(~0u, seen, (j + 1) % 32);
      if (threadIdx.x == j) value |= seen << b;
    }
  add_up(value, out);
}

// Sums of four bits from a table, by two items in one word.
KERNEL packed(const unsigned* in, unsigned* out) {
  __shared__ unsigned char s_sums[16 << 8];
  for (unsigned i = threadIdx.x; i < 16 * 16; i += 32) s_sums[i / 16 << 8 | i % 16] = (i / 16 + i % 16) & 15;
  __syncthreads();
  if (threadIdx.x != 0) return;
  unsigned total = in[0] & 15;
  for (unsigned i = 1; i < 32; ++i) {
    unsigned both;
    asm volatile("cvt.pack.sat.u8.s32.b32 %0, %1, %2, 0;" : "=r"(both) : "r"(in[i] & 15), "r"(total));
    total = static_cast<volatile unsigned char*>(s_sums)[both];
  }
  out[0] = total;
}

// --- An automaton: the state of the last item selects among values that derive from the next one.
template <typename Next>
__device__ void follow(const unsigned* in, unsigned* out, Next next) {
  if (threadIdx.x != 0) return;
  unsigned state = in[0] & 1;
  for (unsigned i = 1; i < 32; ++i) state = next(state, in[i] & 1);
  out[0] = state;
}

KERNEL states_selected(const unsigned* in, unsigned* out) {
  follow(in, out, [](unsigned state, unsigned item) {
    asm volatile("{.reg .pred p; .reg .u32 t; setp.ne.u32 p, %0, 0; xor.b32 t, %1, 1; selp.u32 %0, t, %1, p;}"
                 : "+r"(state)
                 : "r"(item));
    return state;
  });
}

KERNEL states_guarded(const unsigned* in, unsigned* out) {
  follow(in, out, [](unsigned state, unsigned item) {
    asm volatile("{.reg .pred p; setp.ne.u32 p, %1, 0; @p xor.b32 %0, %0, 1;}" : "+r"(item) : "r"(state));
    return item;
  });
}

KERNEL states_branched(const unsigned* in, unsigned* out) {
  follow(in, out, [](unsigned state, unsigned item) {
    asm volatile("{.reg .pred p; setp.eq.u32 p, %1, 0; @p bra SAME; xor.b32 %0, %0, 1; SAME: mov.u32 %0, %0;}"
                 : "+r"(item)
                 : "r"(state));
    return item;
  });
}

KERNEL states_loaded(const unsigned* in, unsigned* out) {
  __shared__ unsigned s_table[2];
  follow(in, out, [](unsigned state, unsigned item) {
    volatile unsigned* table = s_table;
    table[0] = item;
    table[1] = item ^ 1;
    return table[state];
  });
}

KERNEL states_shuffled(const unsigned* in, unsigned* out) {
  unsigned state = in[0] & 31;
  for (unsigned i = 1; i < 32; ++i) state = __shfl_sync(~0u, (threadIdx.x + in[i]) & 31, state);
  if (threadIdx.x == 0) out[0] = state;
}

// What a comparison with an item leaves in memory tells the items apart, here by branches.
KERNEL states_swapped(const unsigned* in, unsigned* out) {
  __shared__ unsigned s_cells[32];
  volatile unsigned* const cells = s_cells;
  cells[threadIdx.x] = 0;
  __syncwarp();
  atomicCAS(&s_cells[threadIdx.x], in[threadIdx.x] & 1, 1u);
  __syncwarp();
  if (threadIdx.x != 0) return;
  unsigned state = cells[0];
  for (unsigned i = 1; i < 32; ++i)
    asm volatile(
        "{.reg .pred p, q; .reg .u32 t; setp.ne.u32 p, %0, 0; setp.ne.u32 q, %1, 0; mov.u32 t, 0; "
        "@!p bra CLEAR; @q bra DONE; mov.u32 t, 1; bra DONE; CLEAR: @!q bra DONE; mov.u32 t, 1; "
        "DONE: mov.u32 %0, t;}"
        : "+r"(state)
        : "r"(cells[i]));
  out[0] = state;
}

// No value is hidden here, but the additions: each is a guarded or selected addition of a constant.
KERNEL guarded_sums(const unsigned* in, unsigned* out) {
  if (threadIdx.x != 0) return;
  unsigned total = 0;
  for (unsigned i = 0; i < 32; ++i)
    for (unsigned b = 0; b < 8; ++b)
      asm volatile(
          "{.reg .pred p; .reg .u32 t; and.b32 t, %1, %2; setp.ne.u32 p, t, 0; @p add.u32 %0, %0, %2;}"
          : "+r"(total)
          : "r"(in[i]), "r"(1u << b));
  out[0] = total;
}

KERNEL selected_sums(const unsigned* in, unsigned* out) {
  if (threadIdx.x != 0) return;
  unsigned total = 0;
  for (unsigned i = 0; i < 32; ++i)
    for (unsigned b = 0; b < 8; ++b)
      asm volatile(
          "{.reg .pred p; .reg .u32 t; and.b32 t, %1, %2; setp.ne.u32 p, t, 0; add.u32 t, %0, %2; "
          "selp.u32 %0, t, %0, p;}"
          : "+r"(total)
          : "r"(in[i]), "r"(1u << b));
  out[0] = total;
}

KERNEL counted_sums(const unsigned* in, unsigned* out) {
  if (threadIdx.x != 0) return;
  volatile unsigned total = 0;
  for (unsigned i = 0; i < 32; ++i)
    for (volatile unsigned left = in[i] & 7; left != 0; left = left - 1) total = total + 1;
  out[0] = total;
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

// Half of the lanes add another lane's item, the others a constant.
KERNEL additions_of_nothing(const unsigned* in, unsigned* out) {
  unsigned item = in[threadIdx.x], other = 0;
  if (threadIdx.x < 16) other = in[threadIdx.x + 16];
  asm volatile("add.u32 %0, %0, %1;" : "+r"(item) : "r"(other));
  asm volatile("st.global.u32 [%0], %1;" ::"l"(out), "r"(item) : "memory");
}

// A barrier that counts items: a vote in the only warp.
KERNEL votes_of_a_barrier(const unsigned* in, unsigned* out) {
  const int n_odd = __syncthreads_count((in[threadIdx.x] & 1) != 0);
  if (threadIdx.x == 0) out[0] = static_cast<unsigned>(n_odd);
}

// A flag that all lanes may set.
KERNEL common_flag(const unsigned* in, unsigned* out) {
  __shared__ volatile unsigned s_flag;
  if ((in[threadIdx.x] & 64) != 0) s_flag = 1;
  if (threadIdx.x == 0) out[0] = s_flag;
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

// Thread 0 adds the lowest bits of all items, each to the sum of those before it, by selections alone.
KERNEL parity_by_selections(const unsigned* in, unsigned* out) {
  const unsigned bits = __ballot_sync(~0u, (in[threadIdx.x] & 1) != 0);
  if (threadIdx.x != 0) return;
  unsigned parity = 0;
  for (unsigned i = 0; i < 32; ++i) {
    const unsigned bit = bits >> i & 1, other = ~bits >> i & 1;
    asm volatile("{.reg .pred p; setp.ne.u32 p, %0, 0; selp.u32 %0, %1, %2, p;}"
                 : "+r"(parity)
                 : "r"(other), "r"(bit));
  }
  out[0] = parity;
}

// --- The same with votes of the same lanes: each bit of the items in turn. Real values of one origin, such
// as the halves of a number, are combined without an operation.
template <typename Next>
__device__ void follow_votes(const unsigned* in, unsigned* out, Next next) {
  unsigned state = __ballot_sync(~0u, (in[threadIdx.x] & 1) != 0) & 1;
#pragma unroll 1
  for (unsigned b = 1; b < 32; ++b)
    state = next(state, __ballot_sync(~0u, (in[threadIdx.x] >> b & 1) != 0) & 1);
  if (threadIdx.x == 0) out[0] = state;
}

KERNEL votes_packed(const unsigned* in, unsigned* out) {
  follow_votes(in, out, [](unsigned state, unsigned vote) {
    asm volatile("{.reg .b64 t; mov.b64 t, {%0, %1}; popc.b64 %0, t;}" : "+r"(state) : "r"(vote));
    return state & 1;
  });
}

KERNEL votes_permuted(const unsigned* in, unsigned* out) {
  follow_votes(in, out, [](unsigned state, unsigned vote) {
    asm volatile("{.reg .b32 t; prmt.b32 t, %0, %1, 0x1140; popc.b32 %0, t;}" : "+r"(state) : "r"(vote));
    return state & 1;
  });
}

KERNEL votes_by_bytes(const unsigned* in, unsigned* out) {
  __shared__ unsigned s_words[32];
  volatile auto* const bytes = reinterpret_cast<volatile unsigned char*>(s_words + threadIdx.x);
  follow_votes(in, out, [bytes](unsigned state, unsigned vote) {
    bytes[0] = static_cast<unsigned char>(state);
    bytes[1] = static_cast<unsigned char>(vote);
    return __popc(*reinterpret_cast<volatile unsigned short*>(bytes)) & 1u;
  });
}

KERNEL votes_voted(const unsigned* in, unsigned* out) {
  follow_votes(in, out, [](unsigned state, unsigned vote) {
    const unsigned mine = threadIdx.x == 0 ? vote : threadIdx.x == 1 ? state : 0;
    return __popc(__ballot_sync(~0u, mine != 0)) & 1u;
  });
}

KERNEL votes_swapped(const unsigned* in, unsigned* out) {
  __shared__ unsigned s_cells[32];
  follow_votes(in, out, [](unsigned state, unsigned vote) {
    static_cast<volatile unsigned*>(s_cells)[threadIdx.x] = vote;
    atomicCAS(&s_cells[threadIdx.x], state, 2u);
    return (static_cast<volatile unsigned*>(s_cells)[threadIdx.x] & 2u) == 0 ? 1u : 0u;
  });
}

KERNEL votes_present(const unsigned* in, unsigned* out) {
  follow_votes(in, out, [](unsigned state, unsigned vote) {
    unsigned here = 0;
    if (vote == (threadIdx.x & 1))
      if (state == (threadIdx.x >> 1 & 1)) asm volatile("activemask.b32 %0;" : "=r"(here));
    return __popc(__ballot_sync(~0u, here != 0) & 0x66666666u) != 0 ? 1u : 0u;
  });
}

// Lane j makes a copy of item j, to which all items contribute, by a tree. Thread 0 adds the copies.
template <typename Fold>
__device__ void add_copies(const unsigned* in, unsigned* out, Fold fold) {
  unsigned v[32];
#pragma unroll
  for (unsigned i = 0; i < 32; ++i)
    asm volatile("and.b32 %0, %1, %2;" : "=r"(v[i]) : "r"(in[i]), "r"(i == threadIdx.x ? ~0u : 0u));
#pragma unroll
  for (unsigned stride = 16; stride > 0; stride /= 2)
#pragma unroll
    for (unsigned i = 0; i < stride; ++i) fold(v[i], v[i + stride]);
  unsigned total = v[0];
#pragma unroll 1
  for (unsigned j = 1; j < 32; ++j)
    asm volatile(
        "{.reg .b64 t; mov.b64 t, {%0, %1}; mul.lo.u64 t, t, 0x100000001; shr.u64 t, t, 32; "
        "cvt.u32.u64 %0, t;}"
        : "+r"(total)
        : "r"(__shfl_sync(~0u, v[0], j)));
  if (threadIdx.x == 0) out[0] = total;
}

KERNEL copies_combined(const unsigned* in, unsigned* out) {
  add_copies(in, out, [](unsigned& a, unsigned b) { asm volatile("or.b32 %0, %0, %1;" : "+r"(a) : "r"(b)); });
}
KERNEL copies_selected(const unsigned* in, unsigned* out) {
  add_copies(in, out, [](unsigned& a, unsigned b) {
    asm volatile("{.reg .pred p; setp.gt.u32 p, %1, %0; selp.u32 %0, %1, %0, p;}" : "+r"(a) : "r"(b));
  });
}
KERNEL copies_guarded(const unsigned* in, unsigned* out) {
  add_copies(in, out, [](unsigned& a, unsigned b) {
    asm volatile("{.reg .pred p; setp.gt.u32 p, %1, %0; @p mov.u32 %0, %1;}" : "+r"(a) : "r"(b));
  });
}
KERNEL copies_branched(const unsigned* in, unsigned* out) {
  add_copies(in, out, [](unsigned& a, unsigned b) {
    asm volatile("{.reg .pred p; setp.le.u32 p, %1, %0; @p bra DONE; mov.u32 %0, %1; DONE: mov.u32 %0, %0;}"
                 : "+r"(a)
                 : "r"(b));
  });
}
