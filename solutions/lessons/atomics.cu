// SPDX-License-Identifier: MIT
// Atomic additions in shared memory, by the number of addresses that the lanes of a warp use. An addition of
// the constant 1 whose old value is not used becomes ATOMS.POPC.INC; the other two kinds have no such
// instruction.
#include "lessons/lessons.cuh"

namespace course::lessons {
namespace {

constexpr unsigned kThreads = 1024;

template <Addition kAddition>
__global__ void k_add(unsigned addresses, unsigned rounds, unsigned value, unsigned* d_out) {
  __shared__ unsigned s_words[32];
  if (threadIdx.x < 32) s_words[threadIdx.x] = 0;
  __syncthreads();  // the words are cleared before any thread adds to them
  unsigned* const s_word = &s_words[threadIdx.x % addresses];
  unsigned seen = 0;
  for (unsigned round = 0; round < rounds; ++round) {
    if constexpr (kAddition == Addition::of_one) atomicAdd(s_word, 1u);
    if constexpr (kAddition == Addition::of_a_variable) atomicAdd(s_word, value);
    if constexpr (kAddition == Addition::with_old_value) seen += atomicAdd(s_word, 1u);
  }
  __syncthreads();  // all additions are done before the words are read
  if (threadIdx.x < 32) d_out[blockIdx.x * 32 + threadIdx.x] = s_words[threadIdx.x];
  if (seen == 1) d_out[blockIdx.x * 32] = 0;  // never, because 1,024 threads add
}

}  // namespace

void add_in_shared(Addition addition, unsigned n_blocks, unsigned addresses, unsigned rounds, unsigned* d_out,
                   CUstream_st* stream) {
  const auto kernel = addition == Addition::of_one          ? k_add<Addition::of_one>
                      : addition == Addition::of_a_variable ? k_add<Addition::of_a_variable>
                                                            : k_add<Addition::with_old_value>;
  kernel<<<n_blocks, kThreads, 0, stream>>>(addresses, rounds, 1, d_out);
}

}  // namespace course::lessons
