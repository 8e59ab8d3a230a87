// SPDX-License-Identifier: MIT
// Chooses among the built-in engines: the best one that the host's processor can run.
#include <fmt/format.h>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

#include "sim/machine/op_table.hpp"

namespace course::sim {

#define SIM_DECLARE(isa)  \
  namespace isa {         \
  const Engine& engine(); \
  }
SIM_DECLARE(portable)
SIM_DECLARE(avx2)
SIM_DECLARE(avx512)

namespace {

[[maybe_unused]] bool has_avx2() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
#else
  return false;
#endif
}

[[maybe_unused]] bool has_avx512() {
#if defined(__x86_64__)
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd");
#else
  return false;
#endif
}

struct Built {
  const char* name;
  bool (*runs_here)();
  const Engine& (*engine)();
};

// The best one first.
constexpr Built kBuilt[] = {
#if defined(SIM_HAVE_AVX512)
    {"avx512", has_avx512, avx512::engine},
#endif
#if defined(SIM_HAVE_AVX2)
    {"avx2", has_avx2, avx2::engine},
#endif
#if defined(SIM_HAVE_PORTABLE)
    {"portable", [] { return true; }, portable::engine},
#endif
};

const Engine& choose() {
  const char* asked = std::getenv("SIM_ISA");
  const std::string_view wish = asked == nullptr ? "" : asked;
  std::string names;
  for (const Built& built : kBuilt) {
    if ((wish.empty() || wish == built.name) && built.runs_here()) return built.engine();
    names += fmt::format("{}{}", names.empty() ? "" : ", ", built.name);
  }
  throw std::runtime_error(
      wish.empty() ? fmt::format("this simulator was built for another processor ({}): "
                                 "build it again on this one",
                                 names)
                   : fmt::format("SIM_ISA is \"{}\", and this simulator has, for this processor or "
                                 "others: {}",
                                 wish, names));
}

}  // namespace

const Engine& engine() {
  static const Engine& chosen = choose();
  return chosen;
}

}  // namespace course::sim
