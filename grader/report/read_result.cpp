// SPDX-License-Identifier: MIT
#include "report/read_result.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>
#include <type_traits>

#include "report/result_fields.hpp"

namespace course::grader {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxBytes = std::size_t{64} << 20;
constexpr int kMaxPoints = 1'000'000;

// What is wrong with the document, and where: parse_result makes an Error of it.
struct Malformed {
  std::string text;
};

[[noreturn]] void refuse(const json& value, std::string_view wanted) {
  throw Malformed{fmt::format("it is {}, and should be {}", value.type_name(), wanted)};
}

const json& field_of(const json& object, const char* key) {
  if (!object.is_object()) refuse(object, "an object");
  const auto found = object.find(key);
  if (found == object.end()) throw Malformed{fmt::format("{} is missing", key)};
  return *found;
}

template <typename T>
T whole_number(const json& value, T most = std::numeric_limits<T>::max()) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > static_cast<std::uint64_t>(most))
    refuse(value, fmt::format("a whole number from 0 to {}", most));
  return value.get<T>();
}

template <typename T>
void read_into(T& value, const json& from);

struct FieldReader {
  const json& object;
  void operator()(const char* key, auto& field) const {
    const json& value = field_of(object, key);
    try {
      read_into(field, value);
    } catch (const Malformed& inside) {
      throw Malformed{fmt::format("{}: {}", key, inside.text)};
    }
  }
  void derived(const char*, const auto&) const {}
  void later(const char* key, auto& field) const {
    if (object.is_object() && object.contains(key)) (*this)(key, field);
  }
  void points(const char* got, int& points, const char* most, int& max_points) const {
    max_points = whole_number<int>(field_of(object, most), kMaxPoints);
    points = whole_number<int>(field_of(object, got), max_points);
  }
};

// The sums in the file must agree with the points of the tasks.
void check_sums(LabResult& lab) {
  const LabResult said = lab;
  add_up(lab);
  if (lab.tasks.size() > 1000) throw Malformed{fmt::format("a lab has {} tasks", lab.tasks.size())};
  for (const auto& [key, in_file, sum] : {std::tuple{"points", said.points, lab.points},
                                          {"max_points", said.max_points, lab.max_points},
                                          {"bonus_points", said.bonus_points, lab.bonus_points},
                                          {"max_bonus_points", said.max_bonus_points, lab.max_bonus_points}})
    if (in_file != sum)
      throw Malformed{
          fmt::format("{} of lab \"{}\" is {}, and its tasks have {}", key, lab.id, in_file, sum)};
}

template <typename T>
void read_into(T& value, const json& from) {
  if constexpr (std::is_same_v<T, std::string>) {
    if (!from.is_string()) refuse(from, "text");
    value = from.get<std::string>();
  } else if constexpr (std::is_same_v<T, bool>) {
    if (!from.is_boolean()) refuse(from, "true or false");
    value = from.get<bool>();
  } else if constexpr (std::is_same_v<T, double>) {
    // null stands for NaN and infinity, which JSON does not have.
    if (!from.is_null() && !from.is_number()) refuse(from, "a number");
    value = from.is_null() ? std::numeric_limits<double>::quiet_NaN() : from.get<double>();
  } else if constexpr (std::is_enum_v<T>) {
    const auto last = static_cast<int>(last_of(T{}));
    int i = 0;
    while (i <= last && from != name_of(static_cast<T>(i))) ++i;
    if (i > last) refuse(from, "a name that this version knows");
    value = static_cast<T>(i);
  } else if constexpr (std::is_integral_v<T>) {
    value = whole_number<T>(from);
  } else if constexpr (requires { value.has_value(); }) {
    if (!from.is_null()) read_into(value.emplace(), from);
  } else if constexpr (requires { typename T::mapped_type; }) {
    if (!from.is_object()) refuse(from, "an object");
    for (const auto& [key, one] : from.items()) read_into(value[key], one);
  } else if constexpr (requires { value.emplace_back(); }) {
    if (!from.is_array()) refuse(from, "a list");
    for (const json& one : from) read_into(value.emplace_back(), one);
  } else if constexpr (requires { value.fill(0); }) {
    if (!from.is_array() || from.size() != value.size()) refuse(from, "a list of that length");
    for (std::size_t i = 0; i < value.size(); ++i) read_into(value[i], from[i]);
  } else {
    for_each_field(value, FieldReader{from});
    if constexpr (std::is_same_v<T, LabResult>) check_sums(value);
  }
}

std::uint64_t read_seed(const std::string& text) {
  std::uint64_t seed = 0;
  const bool hex = text.starts_with("0x");
  const char* const end = text.data() + text.size();
  const auto done = std::from_chars(text.data() + (hex ? 2 : 0), end, seed, hex ? 16 : 10);
  if (done.ec != std::errc() || done.ptr != end || text.empty())
    throw Malformed{"seed is no number such as \"0x12ab\""};
  return seed;
}

RunResult read_run(const json& document) {
  RunResult result;
  int schema = 0;
  std::optional<std::string> seed;
  const FieldReader read{document};
  read("schema", schema);
  if (schema != kResultSchema)
    throw Malformed{
        fmt::format("schema is {}; this version reads schema {}: use the ./lab that wrote the file", schema,
                    kResultSchema)};
  read("seed", seed);
  result.for_students = !seed;
  if (seed) result.seed = read_seed(*seed);
  read_into(result, document);
  return result;
}

}  // namespace

Result<RunResult> parse_result(std::string_view text) {
  if (text.size() > kMaxBytes) return Error{"it is larger than 64 MiB"};
  try {
    // A deeper document than any result would need much stack for parsing and destroying it.
    const auto shallow = [](int depth, json::parse_event_t, json&) {
      if (depth > 32) throw Malformed{"it is nested too deeply"};
      return true;
    };
    const json document = json::parse(text, shallow);
    return read_run(document);
  } catch (const Malformed& malformed) {
    return Error{malformed.text};
  } catch (const json::exception& error) {
    return Error{fmt::format("it is no JSON: {}", error.what())};
  }
}

Result<RunResult> read_result(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::istream& in = path == "-" ? std::cin : file;
  std::string text(kMaxBytes + 1, '\0');
  if (in) in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad() || (path != "-" && !file.is_open()))
    return Error{fmt::format("{} can't be read: {}.", path, std::strerror(errno))};
  text.resize(static_cast<std::size_t>(in.gcount()));
  Result<RunResult> result = parse_result(text);
  if (!result) {
    return Error{fmt::format("{} is not a result of ./lab grade --json: {}.", path, result.error().text)};
  }
  return result;
}

}  // namespace course::grader
