// SPDX-License-Identifier: MIT
// Atomic loads and stores of one aligned 32-bit or 64-bit integer in global memory, with device scope: for
// words through which running blocks communicate. Each call is exactly one access that is never split, and it
// is no data race. The name states the memory order. A relaxed access orders no other access. A store-release
// comes after all earlier accesses of its thread; a load-acquire comes before all later ones.
// handouts/memory-model.md explains them.
// They do the same as load and store of cuda::atomic_ref<Word, cuda::thread_scope_device>, which a lab may
// use, too. But most of the time of a compilation that includes <cuda/atomic> would be spent on this header.
// The compiler's own __nv_atomic_load_n exists only from CUDA 12.8 on.
// Source: PTX ISA 9.0, section 8 (memory consistency model), and the instructions ld and st.
#pragma once

#include <type_traits>

namespace course::lab {

template <typename Word>
inline constexpr bool kIsAtomicWord = std::is_integral_v<Word> && (sizeof(Word) == 4 || sizeof(Word) == 8);

// "memory": the compiler moves no other access of memory across the call.
template <typename Word>
__device__ inline Word load_relaxed(const Word* d_word) {
  static_assert(kIsAtomicWord<Word>);
  const auto address = __cvta_generic_to_global(d_word);
  Word word;
  if constexpr (sizeof(Word) == 4)
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(word) : "l"(address) : "memory");
  else
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(address) : "memory");
  return word;
}

template <typename Word>
__device__ inline Word load_acquire(const Word* d_word) {
  static_assert(kIsAtomicWord<Word>);
  const auto address = __cvta_generic_to_global(d_word);
  Word word;
  if constexpr (sizeof(Word) == 4)
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(word) : "l"(address) : "memory");
  else
    asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(address) : "memory");
  return word;
}

template <typename Word>
__device__ inline void store_relaxed(Word* d_word, std::type_identity_t<Word> word) {
  static_assert(kIsAtomicWord<Word>);
  const auto address = __cvta_generic_to_global(d_word);
  if constexpr (sizeof(Word) == 4)
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(address), "r"(word) : "memory");
  else
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(address), "l"(word) : "memory");
}

template <typename Word>
__device__ inline void store_release(Word* d_word, std::type_identity_t<Word> word) {
  static_assert(kIsAtomicWord<Word>);
  const auto address = __cvta_generic_to_global(d_word);
  if constexpr (sizeof(Word) == 4)
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(address), "r"(word) : "memory");
  else
    asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(address), "l"(word) : "memory");
}

}  // namespace course::lab
