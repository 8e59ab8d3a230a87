// SPDX-License-Identifier: MIT
// Fields of the simulator's report (cudart/sim_control.h), which may contain anything: one that is missing, or is
// of another type, gives 0, "" or an empty list.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

#include "text.hpp"

namespace course::grader::fields {

using Json = nlohmann::json;

inline double number(const Json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_number() ? it->get<double>() : 0;
}
inline std::uint64_t count(const Json& object, const char* key, std::uint64_t otherwise = 0) {
  const auto it = object.find(key);
  return it != object.end() && it->is_number_unsigned() ? it->get<std::uint64_t>() : otherwise;
}
inline std::string string(const Json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_string() ? tame_line(it->get<std::string>()) : "";
}
inline const Json& list(const Json& object, const char* key) {
  static const Json kEmpty = Json::array();
  const auto it = object.find(key);
  return it != object.end() && it->is_array() ? *it : kEmpty;
}

}  // namespace course::grader::fields
