// SPDX-License-Identifier: MIT
// For parallel_test.cpp: kernels that execute a script as in script.cu, and whose blocks may run on several
// host threads; and kernels whose blocks may not.

inline constexpr unsigned kNone = ~0u;
inline constexpr int kSharedWords = 128;

template <bool Updates>
__device__ void follow(const unsigned* what, const unsigned* at, unsigned* memory, int n_steps, int n_idle) {
  __shared__ unsigned s_memory[kSharedWords];
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, n_threads = gridDim.x * blockDim.x;
  unsigned seen = 0;
  for (int k = 0; k < n_idle; ++k)
    // gives other host threads time to start
    seen = (seen ^ threadIdx.x) * 1664525u + k;
  for (int k = 0; k < n_steps; ++k) {
    const unsigned todo = what[k], word = at[k * n_threads + thread];
    if (todo == 0) __syncthreads();
    if (word == kNone) continue;
    if (todo == 1) seen += memory[word];
    if (todo == 2) seen += reinterpret_cast<const unsigned char*>(memory)[word * 4];
    if (todo == 3) seen += s_memory[word % kSharedWords];
    if (todo == 4) s_memory[word % kSharedWords] = thread + seen;
    if constexpr (Updates) {
      if (todo > 4) atomicAdd(&memory[word], seen | 1);
    } else {
      if (todo == 5) memory[word] = thread + seen;
      if (todo == 6) reinterpret_cast<unsigned char*>(memory)[word * 4 + 1] = static_cast<unsigned char>(k);
      if (todo == 7) reinterpret_cast<uint4*>(memory)[word / 4] = make_uint4(thread, seen, k, 0);
    }
  }
}

extern "C" __global__ void writes(const unsigned* what, const unsigned* at, unsigned* memory, int n_steps,
                                  int n_idle) {
  follow<false>(what, at, memory, n_steps, n_idle);
}
extern "C" __global__ void updates(const unsigned* what, const unsigned* at, unsigned* memory, int n_steps,
                                   int n_idle) {
  follow<true>(what, at, memory, n_steps, n_idle);
}
extern "C" __global__ void both(unsigned* memory) {
  memory[threadIdx.x] = 1;
  atomicAdd(&memory[1024], 1);
}
extern "C" __global__ void tickets(unsigned* memory) {
  memory[32 + atomicAdd(memory, 1)] = threadIdx.x;
}
extern "C" __global__ void within_block(unsigned* memory) {
  atomicAdd_block(memory, 1);
}
extern "C" __global__ void polls(unsigned* memory) {
  while (*reinterpret_cast<volatile unsigned*>(memory) == 0) continue;
}
