// SPDX-License-Identifier: MIT
#include "sandbox/isolation.hpp"

namespace course::grader::sandbox {

const char* name_of(Isolation level) {
  switch (level) {
    case Isolation::none: return "none";
    case Isolation::limits: return "limits";
    case Isolation::namespaces: return "namespaces";
    case Isolation::full: return "full";
  }
  return "none";
}

std::optional<Isolation> isolation_named(std::string_view name) {
  for (const Isolation level : {Isolation::none, Isolation::limits, Isolation::namespaces, Isolation::full})
    if (name == name_of(level)) return level;
  return std::nullopt;
}

}  // namespace course::grader::sandbox
