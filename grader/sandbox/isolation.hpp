// SPDX-License-Identifier: MIT
// How strongly student code is isolated from the machine. Every result records the level.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace course::grader::sandbox {

// Each level includes the previous one.
enum class Isolation : std::uint8_t {
  // A process of its own, and a time limit.
  none,
  // Resource limits. Where the grader is root, a user of its own; a system-call filter where there is one.
  limits,
  // No network, no other processes, a read-only view of only the files that it needs.
  namespaces,
  // The system-call filter is required.
  full,
};

inline constexpr std::array kIsolationNames{"none", "limits", "namespaces", "full"};
constexpr const char* name_of(Isolation level) {
  return kIsolationNames[static_cast<std::size_t>(level)];
}
inline std::optional<Isolation> isolation_named(std::string_view name) {
  const auto found = std::ranges::find(kIsolationNames, name);
  if (found == kIsolationNames.end()) return std::nullopt;
  return static_cast<Isolation>(found - kIsolationNames.begin());
}

}  // namespace course::grader::sandbox
