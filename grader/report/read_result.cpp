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

#include "lab/metrics.hpp"

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
  std::optional<double> optional_number() const {
    if (value_.is_null()) return std::nullopt;
    return number();
  }

  template <typename T>
  std::vector<T> list(T (*read)(const Field&)) const {
    std::vector<T> out;
    for (std::size_t i = 0; i < size(); ++i) out.push_back(read((*this)[i]));
    return out;
  }
  std::map<std::string, double> numbers() const {
    if (!value_.is_object()) refuse("an object");
    std::map<std::string, double> out;
    for (const auto& [key, value] : value_.items()) out[key] = Field(value, place_ + "." + key).number();
    return out;
  }
  // Reads the name of an enumerator.
  template <typename E, typename NameOf>
  E one_of(E last, NameOf name_of) const {
    const std::string name = text();
    for (int i = 0; i <= static_cast<int>(last); ++i)
      if (name_of(static_cast<E>(i)) == name) return static_cast<E>(i);
    throw Malformed{fmt::format("{} is \"{}\", which this version does not know", place_, name)};
  }
  // Reads points and their maximum; the points must not exceed it.
  std::pair<int, int> points(const char* got, const char* most) const {
    const int max = (*this)[most].count(kMaxPoints);
    return {(*this)[got].count(max), max};
  }

 private:
  const json& value_;
  std::string place_;
};

std::string read_text(const Field& field) {
  return field.text();
}

// Reads a failure or a part of it.
template <typename T>
void read_into(T& value, const Field& field) {
  if constexpr (std::is_same_v<T, std::string>) {
    value = field.text();
  } else if constexpr (std::is_same_v<T, bool>) {
    value = field.flag();
  } else if constexpr (std::is_integral_v<T>) {
    value = field.unsigned_number<T>();
  } else if constexpr (requires { value.has_value(); }) {
    if (!field.is_null()) read_into(value.emplace(), field);
  } else if constexpr (requires { value.emplace_back(); }) {
    for (std::size_t i = 0; i < field.size(); ++i) read_into(value.emplace_back(), field[i]);
  } else if constexpr (requires { value.fill(0); }) {
    for (std::size_t i = 0; i < value.size(); ++i) read_into(value[i], field[i]);
  } else {
    lab::for_each_field(value, [&](const char* name, auto& part) { read_into(part, field[name]); });
  }
}

CaseRecord read_case(const Field& field) {
  CaseRecord record;
  record.name = field["name"].text();
  record.stage = field["stage"].one_of(Stage::speedup, [](Stage s) { return std::string(name_of(s)); });
  record.device =
      field["device"].one_of(lab::DeviceKind::gpu, [](lab::DeviceKind d) { return std::string(name_of(d)); });
  record.verdict =
      field["verdict"].one_of(lab::kVerdicts.back().verdict, [](lab::Verdict v) { return lab::name_of(v); });
  record.message = field["message"].text();
  if (field.has("failure")) read_into(record.failure, field["failure"]);
  record.seconds = field["seconds"].number();
  return record;
}

GoalScore read_goal(const Field& field) {
  GoalScore goal;
  goal.metric =
      field["metric"].one_of(lab::kAllMetrics.back(), [](lab::Metric m) { return lab::name_of(m); });
  goal.limit = field["limit"].number();
  goal.measured = field["measured"].optional_number();
  std::tie(goal.points, goal.max_points) = field.points("points", "max_points");
  goal.note = field["note"].text();
  return goal;
}

TierScore read_tier(const Field& field) {
  TierScore tier;
  tier.speedup = field["speedup"].number();
  std::tie(tier.points, tier.max_points) = field.points("points", "max_points");
  return tier;
}

Timing read_timing(const Field& field) {
  Timing timing;
  timing.case_name = field["case"].text();
  timing.modelled = field["modelled"].flag();
  timing.kernel_us = field["kernel_us"].number();
  timing.spread_us = field["kernel_spread_us"].number();
  timing.clock_us = field["kernel_clock_us"].number();
  timing.events_us = field["kernel_events_us"].number();
  timing.one_thread_us = field["cpu_one_thread_us"].number();
  timing.all_cores_us = field["cpu_all_cores_us"].number();
  timing.kernel_runs = field["kernel_runs"].count();
  timing.baseline_runs = field["cpu_runs"].count();
  timing.judged = field["points_go_by"].one_of(lab::Baseline::all_cores, [](lab::Baseline b) {
    return std::string(b == lab::Baseline::one_thread ? "one_thread" : "all_cores");
  });
  return timing;
}

TaskResult read_task(const Field& field) {
  TaskResult task;
  task.id = field["id"].text();
  task.title = field["title"].text();
  task.section = field["section"].text();
  task.bonus = field["bonus"].flag();
  std::tie(task.points, task.max_points) = field.points("points", "max_points");
  std::tie(task.correctness_points, task.max_correctness_points) =
      field["correctness"].points("points", "max_points");
  task.verdict =
      field["verdict"].one_of(lab::kVerdicts.back().verdict, [](lab::Verdict v) { return lab::name_of(v); });
  task.message = field["message"].text();
  task.speedup = field["speedup"].optional_number();
  task.metrics = field["metrics"].numbers();
  task.goals = field["goals"].list(read_goal);
  task.tiers = field["tiers"].list(read_tier);
  if (!field["timing"].is_null()) task.timing = read_timing(field["timing"]);
  task.cases = field["cases"].list(read_case);
  task.cases_planned = field["cases_planned"].count();
  task.cases_run = field["cases_run"].count();
  task.cases_failed = field["cases_failed"].count();
  task.seconds = field["seconds"].number();
  return task;
}

// The sums in the file must agree with the points of the tasks.
LabResult read_lab(const Field& field) {
  LabResult lab;
  lab.id = field["id"].text();
  lab.title = field["title"].text();
  lab.source = field["source"].text();
  lab.tasks = field["tasks"].list(read_task);
  if (lab.tasks.size() > 1000) throw Malformed{"a lab has " + std::to_string(lab.tasks.size()) + " tasks"};
  add_up(lab);
  for (const auto& [key, sum] :
       {std::pair{"points", lab.points}, std::pair{"max_points", lab.max_points},
        std::pair{"bonus_points", lab.bonus_points}, std::pair{"max_bonus_points", lab.max_bonus_points}}) {
    if (const int said = field[key].count(); said != sum) {
      throw Malformed{fmt::format("{} of lab \"{}\" is {}, and its tasks have {}", key, lab.id, said, sum)};
    }
  }
  return lab;
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
  result.device = field["device"].text();
  result.clocks = field["clocks"].text();
  result.isolation = field["isolation"].text();
  result.isolation_parts = field["isolation_parts"].list(read_text);
  result.graded = field["graded"].flag();
  result.commit = field["commit"].text();
  result.started = field["started"].text();
  result.for_students = field["seed"].is_null();
  if (!result.for_students) result.seed = read_seed(field["seed"]);
  result.modelled = field["modelled"].flag();
  result.partial = field["partial"].flag();
  result.seconds = field["seconds"].number();
  result.labs = field["labs"].list(read_lab);
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
    return Error{fmt::format("{} is no result of ./lab grade --json: {}.", path, result.error().text)};
  }
  return result;
}

}  // namespace course::grader
