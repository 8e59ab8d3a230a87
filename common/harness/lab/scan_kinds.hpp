// SPDX-License-Identifier: MIT
// The numbers of operators and kinds of scan in requests of the labs hierarchical_scan and multi_gpu.
#pragma once

#include <cstdint>

namespace course::lab {

enum class ScanOp : std::uint32_t { sum, max, affine };
constexpr std::uint32_t kScanOps = 3;
constexpr const char* name_of(ScanOp op) {
  constexpr const char* kNames[] = {"sum", "max", "affine"};
  return kNames[static_cast<std::uint32_t>(op)];
}

// inclusive: d_out[i] = x0 op x1 op … op xi. exclusive: without xi itself, so d_out[0] is the identity.
enum class ScanKind : std::uint32_t { inclusive, exclusive };
constexpr const char* name_of(ScanKind kind) {
  return kind == ScanKind::inclusive ? "inclusive" : "exclusive";
}

}  // namespace course::lab
