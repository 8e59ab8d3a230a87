// SPDX-License-Identifier: MIT
// Read parse_result at the end first. Field is a JSON value with its path in the document. Reading it as
// another type throws Malformed, which parse_result turns into an Error.
#include "report/read_result.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <tuple>
#include <type_traits>
#include <utility>

#include "report/result_fields.hpp"

namespace course::grader {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxBytes = std::size_t{64} << 20;
constexpr int kMaxPoints = 1'000'000;

struct Malformed {
  std::string text;
};

class Field {
 public:
  Field(const json& value, std::string place) : value_(value), place_(std::move(place)) {}

  [[noreturn]] void refuse(std::string_view wanted) const {
    throw Malformed{fmt::format("{} is {}, and should be {}", place_.empty() ? "the document" : place_,
                                value_.type_name(), wanted)};
  }

  Field operator[](const char* key) const {
    if (!value_.is_object()) refuse("an object");
    const auto found = value_.find(key);
    if (found == value_.end())
      throw Malformed{fmt::format("{} is missing", place_.empty() ? key : place_ + "." + key)};
    return {*found, place_.empty() ? key : place_ + "." + key};
  }
  std::size_t size() const {
    if (!value_.is_array()) refuse("a list");
    return value_.size();
  }
  Field operator[](std::size_t i) const {
    if (i >= size()) refuse("a longer list");
    return {value_[i], fmt::format("{}[{}]", place_, i)};
  }
  bool has(const char* key) const { return value_.is_object() && value_.contains(key); }
  bool is_null() const { return value_.is_null(); }

  std::string text() const {
    if (!value_.is_string()) refuse("text");
    return value_.get<std::string>();
  }
  bool flag() const {
    if (!value_.is_boolean()) refuse("true or false");
    return value_.get<bool>();
  }
  // Reads an integer from 0 to `most`.
  int count(int most = std::numeric_limits<int>::max()) const {
    if (!value_.is_number_integer()) refuse("a whole number");
    const bool fits = value_.is_number_unsigned()
                          ? value_.get<std::uint64_t>() <= static_cast<std::uint64_t>(most)
                          : value_.get<std::int64_t>() >= 0 && value_.get<std::int64_t>() <= most;
    if (!fits) throw Malformed{fmt::format("{} is {}, and should be 0 to {}", place_, value_.dump(), most)};
    return static_cast<int>(value_.get<std::int64_t>());
  }
  template <typename T>
  T unsigned_number() const {
    if (!value_.is_number_unsigned() || value_.get<std::uint64_t>() > std::numeric_limits<T>::max())
      refuse("a whole number");
    return value_.get<T>();
  }
  // null stands for NaN and infinity, which JSON does not have.
  double number() const {
    if (value_.is_null()) return std::numeric_limits<double>::quiet_NaN();
    if (!value_.is_number()) refuse("a number");
    return value_.get<double>();
  }
  std::map<std::string, double> numbers() const {
    if (!value_.is_object()) refuse("an object");
    std::map<std::string, double> out;
    for (const auto& [key, value] : value_.items()) out[key] = Field(value, place_ + "." + key).number();
    return out;
  }
  // Reads the name of an enumerator.
  template <typename E>
  E one_of() const {
    const std::string name = text();
    for (int i = 0; i <= static_cast<int>(last_of(E{})); ++i)
      if (name_of(static_cast<E>(i)) == name) return static_cast<E>(i);
    throw Malformed{fmt::format("{} is \"{}\", which this version does not know", place_, name)};
  }

 private:
  const json& value_;
  std::string place_;
};

template <typename T>
void read_into(T& value, const Field& field);

struct FieldReader {
  const Field& object;
  void operator()(const char* key, auto& field) const { read_into(field, object[key]); }
  void derived(const char*, const auto&) const {}
  void later(const char* key, auto& field) const {
    if (object.has(key)) read_into(field, object[key]);
  }
  void points(const char* got, int& points, const char* most, int& max_points) const {
    max_points = object[most].count(kMaxPoints);
    points = object[got].count(max_points);
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
void read_into(T& value, const Field& field) {
  if constexpr (std::is_same_v<T, std::string>) {
    value = field.text();
  } else if constexpr (std::is_same_v<T, bool>) {
    value = field.flag();
  } else if constexpr (std::is_same_v<T, int>) {
    value = field.count();
  } else if constexpr (std::is_same_v<T, double>) {
    value = field.number();
  } else if constexpr (std::is_enum_v<T>) {
    value = field.one_of<T>();
  } else if constexpr (std::is_integral_v<T>) {
    value = field.unsigned_number<T>();
  } else if constexpr (requires { value.has_value(); }) {
    if (!field.is_null()) read_into(value.emplace(), field);
  } else if constexpr (requires { typename T::mapped_type; }) {
    value = field.numbers();
  } else if constexpr (requires { value.emplace_back(); }) {
    for (std::size_t i = 0; i < field.size(); ++i) read_into(value.emplace_back(), field[i]);
  } else if constexpr (requires { value.fill(0); }) {
    for (std::size_t i = 0; i < value.size(); ++i) read_into(value[i], field[i]);
  } else {
    for_each_field(value, FieldReader{field});
    if constexpr (std::is_same_v<T, LabResult>) check_sums(value);
  }
}

std::uint64_t read_seed(const Field& field) {
  const std::string text = field.text();
  std::uint64_t seed = 0;
  const bool hex = text.starts_with("0x");
  const char* const end = text.data() + text.size();
  const auto done = std::from_chars(text.data() + (hex ? 2 : 0), end, seed, hex ? 16 : 10);
  if (done.ec != std::errc() || done.ptr != end || text.empty()) field.refuse("a seed such as \"0x12ab\"");
  return seed;
}

RunResult read_run(const Field& field) {
  if (const int schema = field["schema"].count(); schema != kResultSchema)
    throw Malformed{
        fmt::format("schema is {}; this version reads schema {}: use the ./lab that wrote the file", schema,
                    kResultSchema)};
  RunResult result;
  result.for_students = field["seed"].is_null();
  if (!result.for_students) result.seed = read_seed(field["seed"]);
  read_into(result, field);
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
    return read_run({document, ""});
  } catch (const Malformed& malformed) {
    return Error{malformed.text};
  } catch (const json::exception& error) {
    return Error{fmt::format("it is no JSON: {}", error.what())};
  }
}

Result<RunResult> read_result(const std::string& path) {
  std::FILE* file = path == "-" ? stdin : std::fopen(path.c_str(), "rb");
  if (file == nullptr) return Error{fmt::format("{} can't be read: {}.", path, std::strerror(errno))};
  std::string text;
  char buffer[65536];
  std::size_t n = 0;
  while (text.size() <= kMaxBytes && (n = std::fread(buffer, 1, sizeof buffer, file)) > 0)
    text.append(buffer, n);
  const bool failed = std::ferror(file) != 0;
  const int reason = errno;
  if (file != stdin) std::fclose(file);
  if (failed) return Error{fmt::format("{} can't be read: {}.", path, std::strerror(reason))};
  Result<RunResult> result = parse_result(text);
  if (!result) {
    return Error{fmt::format("{} is not a result of ./lab grade --json: {}.", path, result.error().text)};
  }
  return result;
}

}  // namespace course::grader
