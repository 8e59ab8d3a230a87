// SPDX-License-Identifier: MIT
// Fields of the simulator's report (cudart/sim_control.h), which may contain anything: one that is missing,
// or is of another type, gives null, 0, "" or an empty list.
#pragma once

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace course::lab::fields {

using Json = nlohmann::json;

inline const Json& member(const Json& object, const char* key) {
  static const Json kNothing;
  const auto found = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && found != object.end() ? *found : kNothing;
}
inline double number(const Json& object, const char* key) {
  const Json& value = member(object, key);
  const double x = value.is_number() ? value.get<double>() : 0;
  return std::isfinite(x) ? x : 0;
}
inline std::uint64_t count(const Json& object, const char* key, std::uint64_t otherwise = 0) {
  const Json& value = member(object, key);
  return value.is_number_unsigned() ? value.get<std::uint64_t>() : otherwise;
}
inline std::string_view text(const Json& object, const char* key) {
  const Json& value = member(object, key);
  return value.is_string() ? std::string_view(value.get_ref<const std::string&>()) : "";
}
inline const Json& list(const Json& object, const char* key) {
  static const Json kEmpty = Json::array();
  const Json& value = member(object, key);
  return value.is_array() ? value : kEmpty;
}

}  // namespace course::lab::fields
