// SPDX-License-Identifier: MIT
// Kernels as students write them, one for each feature of the machine: control flow, calls, locks, barriers,
// memory spaces. machine_test.cpp runs the PTX that nvcc makes of this file and checks the results.
#include <cassert>
#include <cstdint>
#include <cstdio>

#define KERNEL extern "C" __global__ void

// --- control flow

KERNEL nested_ifs(int* out) {
  const int i = static_cast<int>(threadIdx.x);
  int v = 0;
  if (i % 2 == 0) {
    v += 1;
    if (i % 3 == 0) {
      v += 10;
      if (i % 5 == 0) {
        v += 100;
      } else {
        v += 200;
      }
    } else {
      v += 20;
      out[blockDim.x + i] = static_cast<int>(__activemask());
    }
  } else if (i % 7 == 0) {
    v -= 1;
  }
  out[i] = v;
  out[2 * blockDim.x + i] = static_cast<int>(__activemask());
}

KERNEL break_and_continue(const int* in, int n, int* out) {
  const int i = static_cast<int>(threadIdx.x);
  int sum = 0;
  for (int k = 0; k < n; ++k) {
    const int v = in[k] + i;
    if (v % 3 == 0) continue;
    if (v % 17 == 16) break;
    for (int j = 0; j < v % 4; ++j) {
      if (j == i % 5) break;
      sum += v * j + 1;
    }
    sum += v;
  }
  out[i] = sum;
  out[blockDim.x + i] = static_cast<int>(__activemask());
}

KERNEL dense_switch(int* out) {
  const int i = static_cast<int>(threadIdx.x);
  int v = i;
  switch (i % 11) {
    case 0: v *= 3; break;
    case 1: v += 7;  // falls through
    case 2: v ^= 0x55; break;
    case 3: v = -v; break;
    case 4: v = v << 3; break;
    case 5: v = v * v; break;
    case 6: v %= 5; break;
    case 7: v |= 0x100; break;
    case 8: v &= 6; break;
    case 9: v -= 1000; break;
    default: v = 42;
  }
  out[i] = v;
  out[blockDim.x + i] = static_cast<int>(__activemask());
}

// A loop with two entry points.
KERNEL two_entries(int* out) {
  const int i = static_cast<int>(threadIdx.x);
  int v = i, steps = 0;
  if (i % 2 == 0) goto middle;
top:
  v = v * 3 + 1;
  ++steps;
middle:
  v = v / 2;
  ++steps;
  if (v > 3 && steps < 40) goto top;
  out[i] = v * 1000 + steps;
  out[blockDim.x + i] = static_cast<int>(__activemask());
}

// --- locks

KERNEL lane_lock_polite(int* lock, int* counter) {
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) == 0) {
      *static_cast<volatile int*>(counter) = *static_cast<volatile int*>(counter) + 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}

// This form hangs on GPUs without independent thread scheduling.
KERNEL lane_lock_rude(int* lock, int* counter) {
  while (atomicCAS(lock, 0, 1) != 0) continue;
  *static_cast<volatile int*>(counter) = *static_cast<volatile int*>(counter) + 1;
  __threadfence();
  atomicExch(lock, 0);
}

// Block b waits for block b + 1, so the later block must get a turn while the earlier one spins.
KERNEL wait_for_later_block(int* flags, int* out) {
  const int b = static_cast<int>(blockIdx.x), n = static_cast<int>(gridDim.x);
  __shared__ int value;
  if (threadIdx.x == 0) {
    int v = 1;
    if (b + 1 < n) {
      while ((v = atomicAdd(&flags[b + 1], 0)) == 0) continue;
      v += 1;
    }
    value = v;
    __threadfence();
    atomicExch(&flags[b], v);
  }
  __syncthreads();
  out[b * static_cast<int>(blockDim.x) + static_cast<int>(threadIdx.x)] = value;
}

// --- barriers

KERNEL ping_pong(int* out, int rounds) {
  __shared__ int s[2][256];
  const int i = static_cast<int>(threadIdx.x), n = static_cast<int>(blockDim.x);
  s[0][i] = i;
  __syncthreads();
  for (int r = 0; r < rounds; ++r) {
    s[(r + 1) % 2][i] = s[r % 2][(i + 1) % n] + 1;
    __syncthreads();
  }
  out[i] = s[rounds % 2][i];
}

// Later barriers do not count warps that have exited.
KERNEL early_exit(int* out) {
  const int i = static_cast<int>(threadIdx.x);
  if (i >= static_cast<int>(blockDim.x) / 2) return;
  __shared__ int s[512];
  s[i] = i;
  __syncthreads();
  out[i] = s[static_cast<int>(blockDim.x) / 2 - 1 - i];
}

// Threads of one warp arrive at the barrier from different lines of code, as sm_70 and later allow.
KERNEL barrier_in_both_arms(int* out) {
  __shared__ int s[64];
  const int i = static_cast<int>(threadIdx.x);
  s[i] = i * i;
  if (i % 2 == 0) {
    __syncthreads();
    out[i] = s[63 - i];
  } else {
    __syncthreads();
    out[i] = -s[63 - i];
  }
}

// Warp 0 passes tiles to warp 1 with two named barriers.
KERNEL producer_consumer(const int* in, int* out, int rounds) {
  __shared__ int tile[32];
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if (threadIdx.x < 32) {
    for (int r = 0; r < rounds; ++r) {
      asm volatile("bar.sync 2, 64;" ::: "memory");  // empty
      tile[lane] = in[r * 32 + lane];
      __threadfence_block();
      asm volatile("bar.arrive 1, 64;" ::: "memory");  // full
    }
  } else {
    for (int r = 0; r < rounds; ++r) {
      asm volatile("bar.arrive 2, 64;" ::: "memory");
      asm volatile("bar.sync 1, 64;" ::: "memory");
      out[r * 32 + lane] = tile[31 - lane];
    }
  }
}

// --- warps

// Half of the warp loops more often than the other half before it reaches the shuffle.
KERNEL shuffle_after_uneven_loops(int* out) {
  const int i = static_cast<int>(threadIdx.x);
  int v = i;
  for (int k = 0; k < i; ++k) v = v * 5 % 97;
  out[i] = __shfl_xor_sync(~0u, v, 1);
  out[blockDim.x + i] = v;
}

// --- calls

__device__ __noinline__ int is_odd(int n);
__device__ __noinline__ int is_even(int n) {
  return n == 0 ? 1 : is_odd(n - 1);
}
__device__ __noinline__ int is_odd(int n) {
  return n == 0 ? 0 : is_even(n - 1);
}
__device__ __noinline__ int ackermann(int m, int n) {
  if (m == 0) return n + 1;
  if (n == 0) return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}
KERNEL deep_recursion(int* out) {
  const int i = static_cast<int>(threadIdx.x);
  out[i] = is_even(i * 3) * 1000 + ackermann(i % 3, i % 7);
}

struct Triple {
  double a;
  int b[5];
  char c;
};
__device__ __noinline__ Triple turned(Triple t, int by) {
  Triple r;
  r.a = t.a * by;
  for (int k = 0; k < 5; ++k) r.b[k] = t.b[(k + by) % 5];
  r.c = static_cast<char>(t.c + by);
  return r;
}
KERNEL structs_by_value(Triple t, Triple* out) {
  out[threadIdx.x] = turned(t, static_cast<int>(threadIdx.x) % 7);
}

__device__ int plus(int a, int b) {
  return a + b;
}
__device__ int minus(int a, int b) {
  return a - b;
}
__device__ int times(int a, int b) {
  return a * b;
}
using Binary = int (*)(int, int);
__constant__ Binary kTable[3] = {plus, minus, times};
__device__ Binary d_table[3] = {times, plus, minus};
KERNEL function_tables(const int* choice, int* out) {
  const int i = static_cast<int>(threadIdx.x);
  out[i] = kTable[choice[i]](i, 3) * 1000 + d_table[choice[i]](i, 2);
}

// --- memory

struct Big {
  int v[600];
};
KERNEL large_parameter(Big big, int start, int* out) {
  out[threadIdx.x] = big.v[(start + static_cast<int>(threadIdx.x) * 7) % 600];
}

KERNEL local_array(const int* index, int* out) {
  int a[40];
  const int i = static_cast<int>(threadIdx.x);
  for (int k = 0; k < 40; ++k) a[k] = k * k + i;
  for (int k = 0; k < 40; ++k) a[index[k]] += a[39 - k];
  out[i] = a[index[i % 40]];
}

__shared__ int s_module_wide[33];
KERNEL shared_kinds(int* out) {
  __shared__ short s_static[64];
  __shared__ double s_double[16];
  extern __shared__ __align__(16) unsigned char s_dynamic[];
  const int i = static_cast<int>(threadIdx.x), n = static_cast<int>(blockDim.x);
  auto* ints = reinterpret_cast<int*>(s_dynamic);
  s_static[i] = static_cast<short>(-i);
  if (i < 16) s_double[i] = i * 0.5;
  if (i < 33) s_module_wide[i] = i * 11;
  ints[i] = i * 3;
  __syncthreads();
  out[i] =
      s_static[n - 1 - i] + static_cast<int>(2 * s_double[i % 16]) + s_module_wide[i % 33] + ints[n - 1 - i];
}

KERNEL three_dimensions(int* out) {
  const int thread = static_cast<int>((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x);
  const int block = static_cast<int>((blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x);
  const int size = static_cast<int>(blockDim.x * blockDim.y * blockDim.z);
  out[block * size + thread] =
      static_cast<int>(blockIdx.x + 10 * blockIdx.y + 100 * blockIdx.z + 1000 * threadIdx.x +
                       10000 * threadIdx.y + 100000 * threadIdx.z);
}

struct Node {
  int value;
  Node* next;
};
KERNEL heap_list(int* out, int n) {
  Node* head = nullptr;
  const int i = static_cast<int>(threadIdx.x);
  for (int k = 0; k < n; ++k) {
    auto* node = static_cast<Node*>(malloc(sizeof(Node)));
    node->value = k * i;
    node->next = head;
    head = node;
  }
  int sum = 0, weight = 1;
  while (head != nullptr) {
    sum += head->value * weight++;
    Node* next = head->next;
    free(head);
    head = next;
  }
  out[i] = sum;
}

KERNEL heap_keep(void** out, unsigned long long n_bytes) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = malloc(n_bytes);
}
KERNEL heap_drop(void** in) {
  free(in[blockIdx.x * blockDim.x + threadIdx.x]);
}

KERNEL histogram(const int* in, int n, int* bins) {
  for (int k = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); k < n;
       k += static_cast<int>(gridDim.x * blockDim.x))
    atomicAdd(&bins[in[k] % 37], 1);
}

KERNEL order_of_blocks(int* next, int* order) {
  if (threadIdx.x == 0) order[atomicAdd(next, 1)] = static_cast<int>(blockIdx.x);
}

// Each block of the chain publishes its state twice. seen[state] counts which state its successor found
// first.
KERNEL chain_of_blocks(int* next, volatile int* state, volatile int* prefix, int* seen) {
  __shared__ int s_number;
  if (threadIdx.x == 0) s_number = atomicAdd(next, 1);
  __syncthreads();
  const int k = s_number;
  if (threadIdx.x == 0) state[k] = 1;
  __syncthreads();
  if (threadIdx.x != 0) return;
  int before = 0;
  if (k > 0) {
    atomicAdd(&seen[state[k - 1]], 1);
    while (state[k - 1] != 2) continue;
    __threadfence();
    before = prefix[k - 1];
  }
  prefix[k] = before + k;
  __threadfence();
  state[k] = 2;
}

// --- output and failure

KERNEL formats() {
  if (threadIdx.x == 1) {
    printf("plain %% text\n");
    printf("[%d|%5d|%-5d|%05d|%+d]\n", -7, 42, 42, 42, 42);
    printf("[%u|%x|%X|%#o]\n", 4000000000u, 0xbeefu, 0xbeefu, 8u);
    printf("[%lld|%llu|%llx]\n", -(1ll << 40), 1ull << 63, 0x123456789abcdefull);
    printf("[%f|%.2f|%10.3e|%g]\n", 1.5, 2.345f, 12345.678, 0.0001);
    printf("[%c|%s|%10s|%-6s|%.2s]\n", 'x', "text", "right", "left", "cut");
    printf("[%*d|%.*f]\n", 6, 7, 3, 3.14159);
    printf("[%hd|%hhd|%ld|%zu]\n", static_cast<short>(-3), static_cast<signed char>(-4), 5l, sizeof(int));
  }
  printf("%d:%d ", static_cast<int>(blockIdx.x), static_cast<int>(threadIdx.x));
}

KERNEL digits(double value, int n) {
  printf("%.*e", n, value);
  if (threadIdx.x == 0) printf("[%.*g|%#.*g|%*.*G]", n, value, n, value, n, n, value);
}

KERNEL checked(const int* in) {
  assert(in[threadIdx.x] != 5);
}

KERNEL trapped() {
  if (threadIdx.x == 3) __trap();
}

KERNEL writes_past_end(int* out, int n) {
  out[threadIdx.x + static_cast<unsigned>(n)] = 1;
}

KERNEL reads_misaligned(const char* in, int* out) {
  out[threadIdx.x] = *reinterpret_cast<const int*>(in + threadIdx.x + 1);
}

KERNEL shared_past_end(int* out, int k) {
  __shared__ int s[32];
  s[threadIdx.x] = 1;
  out[threadIdx.x] = s[static_cast<int>(threadIdx.x) + k];
}
