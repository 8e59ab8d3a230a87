// SPDX-License-Identifier: MIT
// How far student code is kept apart from the machine, as one word that stands in every result.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace course::grader::sandbox {

// Each level has what the ones before it have.
enum class Isolation : std::uint8_t {
  none,    // a process of its own, and a time limit
  limits,  // resource limits; no user's rights but its own where the grader is root; a system-call filter where there is one
  namespaces,  // no network, no other processes, a read-only view of just what it needs
  full,        // and the system-call filter
};

const char* name_of(Isolation level);
std::optional<Isolation> isolation_named(std::string_view name);

}  // namespace course::grader::sandbox
