// SPDX-License-Identifier: MIT
#include <cstdio>
#include <cstdlib>

#include "nccl/simulator/simulator.hpp"

namespace course::nccl {

void say(const std::string& text) {
  const char* quiet = std::getenv("SIM_QUIET");
  if (quiet == nullptr || *quiet == '0' || *quiet == '\0')
    std::fputs(("simulator: " + text + "\n").c_str(), stderr);
}

}  // namespace course::nccl
