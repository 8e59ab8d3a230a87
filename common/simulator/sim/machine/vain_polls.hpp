// SPDX-License-Identifier: MIT
// How often threads of this host thread's blocks have found that the phase of an mbarrier has not ended,
// since one of their mbarriers last changed. Counted in mbarrier.cpp, asked for in grid.cpp.
#pragma once

#include <cstdint>

namespace course::sim {

std::uint32_t& vain_polls();

}  // namespace course::sim
