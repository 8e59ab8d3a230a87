// SPDX-License-Identifier: MIT
// For the search for a mistake: prints a value of any operator, in kernels and in host code. In a kernel
//   lab::print("partial", value);                      // prints: block 0, thread 3: partial = 12
//   lab::print("s_data", tid, s_data[tid]);            // prints: block 0, thread 3: s_data[3] = 12
// ./lab trace LAB TASK and ./lab grade LAB --task TASK --case CASE show what was printed.
#pragma once

#include <cstdint>
#include <cstdio>
#include <type_traits>

#include "lab/operators.hpp"

namespace course::lab {

// static, because a definition that other objects could use would be refused (handouts/rules.md).
// One call of printf for each line, because the parts of several calls could be mixed with those of other
// threads.
#ifdef __CUDA_ARCH__
#define COURSE_PRINT(format, ...) \
  printf("block %u, thread %u: " format "\n", blockIdx.x, threadIdx.x, __VA_ARGS__)
#else
#define COURSE_PRINT(format, ...) std::printf(format "\n", __VA_ARGS__)
#endif

template <typename T>
static COURSE_HD void print(const char* name, T value) {
  if constexpr (std::is_floating_point_v<T>) {
    COURSE_PRINT("%s = %.9g", name, static_cast<double>(value));
  } else if constexpr (std::is_unsigned_v<T>) {
    COURSE_PRINT("%s = %llu", name, static_cast<unsigned long long>(value));
  } else {
    COURSE_PRINT("%s = %lld", name, static_cast<long long>(value));
  }
}
template <typename T>
static COURSE_HD void print(const char* name, AffineMap<T> map) {
  COURSE_PRINT("%s = %llux+%llu", name, static_cast<unsigned long long>(map.scale),
               static_cast<unsigned long long>(map.shift));
}

template <typename T>
static COURSE_HD void print(const char* array, std::uint64_t index, T value) {
  if constexpr (std::is_floating_point_v<T>) {
    COURSE_PRINT("%s[%llu] = %.9g", array, static_cast<unsigned long long>(index),
                 static_cast<double>(value));
  } else if constexpr (std::is_unsigned_v<T>) {
    COURSE_PRINT("%s[%llu] = %llu", array, static_cast<unsigned long long>(index),
                 static_cast<unsigned long long>(value));
  } else {
    COURSE_PRINT("%s[%llu] = %lld", array, static_cast<unsigned long long>(index),
                 static_cast<long long>(value));
  }
}
template <typename T>
static COURSE_HD void print(const char* array, std::uint64_t index, AffineMap<T> map) {
  COURSE_PRINT("%s[%llu] = %llux+%llu", array, static_cast<unsigned long long>(index),
               static_cast<unsigned long long>(map.scale), static_cast<unsigned long long>(map.shift));
}

#undef COURSE_PRINT

}  // namespace course::lab
