// SPDX-License-Identifier: MIT
// For editors only (.clangd includes it before every .cu file): the declarations that clang needs to parse a
// kernel. clang's own CUDA headers support NVIDIA's releases a year or more later; this header is independent
// of both. nvcc does not use it.
#pragma once

#include <cuda_runtime.h>

#undef __global__
#undef __device__
#undef __host__
#undef __shared__
#undef __constant__
#undef __managed__
#undef __launch_bounds__
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))

extern "C" unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0,
                                                void* stream = nullptr);

// Parsed for the host. Functions are declared for both sides, so that kernels can call them.
#define COURSE_BOTH __attribute__((host)) __attribute__((device))
extern const uint3 threadIdx, blockIdx;
extern const dim3 blockDim, gridDim;
extern const int warpSize;
COURSE_BOTH void __syncthreads();
COURSE_BOTH int __syncthreads_count(int), __syncthreads_and(int), __syncthreads_or(int);
COURSE_BOTH void __syncwarp(unsigned mask = 0xffffffffu);
COURSE_BOTH void __threadfence(), __threadfence_block(), __threadfence_system(), __nanosleep(unsigned),
    __trap();
COURSE_BOTH unsigned __activemask(), __ballot_sync(unsigned, int);
COURSE_BOTH int __any_sync(unsigned, int), __all_sync(unsigned, int);
template <typename T>
COURSE_BOTH unsigned __match_any_sync(unsigned, T);
template <typename T>
COURSE_BOTH T __shfl_sync(unsigned, T, int, int = 32);
template <typename T>
COURSE_BOTH T __shfl_up_sync(unsigned, T, unsigned, int = 32);
template <typename T>
COURSE_BOTH T __shfl_down_sync(unsigned, T, unsigned, int = 32);
template <typename T>
COURSE_BOTH T __shfl_xor_sync(unsigned, T, int, int = 32);
template <typename T>
COURSE_BOTH T __reduce_add_sync(unsigned, T);
template <typename T>
COURSE_BOTH T __reduce_min_sync(unsigned, T);
template <typename T>
COURSE_BOTH T __reduce_max_sync(unsigned, T);
COURSE_BOTH size_t __cvta_generic_to_global(const void*);
template <typename T>
COURSE_BOTH T __ldg(const T*);
template <typename T>
COURSE_BOTH T __ldcg(const T*);
template <typename T>
COURSE_BOTH T __ldcs(const T*);
template <typename T, typename U>
COURSE_BOTH void __stcs(T*, U);
COURSE_BOTH int __popc(unsigned), __popcll(unsigned long long), __clz(int), __clzll(long long), __ffs(int),
    __ffsll(long long);
COURSE_BOTH unsigned __brev(unsigned), __funnelshift_l(unsigned, unsigned, unsigned),
    __funnelshift_r(unsigned, unsigned, unsigned);
COURSE_BOTH long long clock64();
template <typename T, typename U>
COURSE_BOTH decltype(T() + U()) min(T, U);
template <typename T, typename U>
COURSE_BOTH decltype(T() + U()) max(T, U);
template <typename T, typename U>
COURSE_BOTH T atomicAdd(T*, U);
template <typename T, typename U>
COURSE_BOTH T atomicSub(T*, U);
template <typename T, typename U>
COURSE_BOTH T atomicMin(T*, U);
template <typename T, typename U>
COURSE_BOTH T atomicMax(T*, U);
template <typename T, typename U>
COURSE_BOTH T atomicAnd(T*, U);
template <typename T, typename U>
COURSE_BOTH T atomicOr(T*, U);
template <typename T, typename U>
COURSE_BOTH T atomicXor(T*, U);
template <typename T, typename U>
COURSE_BOTH T atomicExch(T*, U);
COURSE_BOTH unsigned atomicInc(unsigned*, unsigned), atomicDec(unsigned*, unsigned);
template <typename T, typename U, typename V>
COURSE_BOTH T atomicCAS(T*, U, V);
#undef COURSE_BOTH
