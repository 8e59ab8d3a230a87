// SPDX-License-Identifier: MIT
// Kernels of CUB and Thrust, for which some findings are hints: see README.md, "Rules".
#pragma once

#include <string_view>

namespace course::sim {

// `kernel`: the demangled name.
inline bool is_library_kernel(std::string_view kernel) {
  if (kernel.starts_with("void ")) kernel.remove_prefix(5);
  return kernel.starts_with("cub::") || kernel.starts_with("thrust::");
}

// Added to messages of such hints.
inline constexpr std::string_view kLibraryNote =
    " (in a library kernel: harmless, unless the library was called incorrectly)";

}  // namespace course::sim
