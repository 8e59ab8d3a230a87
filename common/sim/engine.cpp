// SPDX-License-Identifier: MIT
// Chooses among the engines built for the host's instruction sets.
#include <fmt/format.h>

#include <cstdlib>
#include <string_view>

#include "sim/ops/table.hpp"

namespace course::sim {

#define SIM_DECLARE(isa)  \
  namespace isa {         \
  const Engine& engine(); \
  }
SIM_DECLARE(portable)
#if defined(SIM_HAVE_X86_ENGINES)
SIM_DECLARE(avx2)
SIM_DECLARE(avx512)
#endif

const Engine& engine() {
  static const Engine& chosen = []() -> const Engine& {
    const char* asked = std::getenv("SIM_ISA");
    const std::string_view wish = asked == nullptr ? "" : asked;
    if (wish == "portable") return portable::engine();
#if defined(SIM_HAVE_X86_ENGINES)
    __builtin_cpu_init();
    const bool has_avx2 =
        __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
    const bool has_avx512 = has_avx2 && __builtin_cpu_supports("avx512f") &&
                            __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                            __builtin_cpu_supports("avx512bw");
    if (has_avx512 && wish != "avx2") return avx512::engine();
    if (has_avx2) return avx2::engine();
#endif
    return portable::engine();
  }();
  return chosen;
}

}  // namespace course::sim
