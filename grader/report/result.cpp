// SPDX-License-Identifier: MIT
#include "report/result.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "report/result_fields.hpp"

namespace course::grader {

using nlohmann::json;

const char* name_of(Stage stage) {
  constexpr const char* kNames[] = {"correctness", "checks", "efficiency", "speedup"};
  return kNames[static_cast<std::size_t>(stage)];
}

const char* name_of(lab::DeviceKind device) {
  return device == lab::DeviceKind::gpu ? "gpu" : "sim";
}

double Timing::speedup() const {
  return kernel_us > 0 && cpu_us > 0 ? cpu_us / kernel_us : 0;
}

std::string utc_now() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

void set_failure(CaseRecord& record, lab::Failure failure) {
  record.message = lab::failure_message(failure);
  while (record.message.ends_with('\n')) record.message.pop_back();
  record.failure = std::move(failure);
}

std::string beside(double measured, double asked) {
  constexpr int kDigits = 4, kMax = 17;
  std::string text = fmt::format("{:.{}g}", measured, kDigits);
  for (int digits = kDigits + 1; digits <= kMax && text == fmt::format("{:.{}g}", asked, digits - 1);
       ++digits)
    text = fmt::format("{:.{}g}", measured, digits);
  return text;
}

std::vector<std::string> lost_points(const TaskResult& task, bool only_measured) {
  std::vector<std::string> lines;
  bool as_fast = false;
  for (const GoalScore& goal : task.goals) {
    if (goal.points == goal.max_points) {
      as_fast = as_fast ||
                (goal.measured && goal.points > 0 && !lab::meets(goal.metric, *goal.measured, goal.limit));
      continue;
    }
    const std::string name =
        fmt::format("{}{}{}", lab::name_of(goal.metric), goal.unit.empty() ? "" : " per ", goal.unit);
    if (goal.measured)
      lines.push_back(fmt::format(
          "{} is {}, {} {:.4g} is required ({} point{} lost){}{}.", name, beside(*goal.measured, goal.limit),
          lab::at_least(goal.metric) ? "at least" : "at most", goal.limit, goal.max_points,
          goal.max_points == 1 ? "" : "s", goal.note.empty() ? "" : ": ", goal.note));
    else if (!only_measured)
      lines.push_back(fmt::format("{}: {} ({} points lost).", name, goal.note, goal.max_points));
  }
  if (as_fast && task.is_as_fast_as_reference())
    lines.push_back(fmt::format("modelled time is {:.2f} times the reference's: all points for efficiency",
                                *task.time_ratio));
  for (const TierScore& tier : task.tiers) {
    if (tier.points == tier.max_points) continue;
    if (task.speedup)
      lines.push_back(fmt::format("speedup is {}, {:.4g} is required ({} points lost).",
                                  beside(*task.speedup, tier.speedup), tier.speedup, tier.max_points));
    else if (!only_measured)
      lines.push_back(fmt::format("speedup was not measured ({} points lost).", tier.max_points));
  }
  return lines;
}

namespace {

std::string failed_text(const TaskResult& out, const CaseRecord& deciding) {
  std::string text = deciding.message;
  if (deciding.verdict == lab::Verdict::not_implemented) return text;
  if (out.cases_failed > 0 && out.cases_planned > 1) {
    if (!text.empty()) text += "\n";
    text += fmt::format("{} of {} case{} run failed", out.cases_failed, out.cases_run,
                        out.cases_run == 1 ? "" : "s");
    const int left = out.cases_planned - out.cases_run;
    text += left > 0 ? fmt::format("; {} more {} not run.", left, left == 1 ? "was" : "were") : ".";
  }
  return text;
}

}  // namespace

const CaseRecord* deciding_record(const std::vector<CaseRecord>& cases) {
  const CaseRecord* first = nullptr;
  for (const CaseRecord& record : cases) {
    if (record.verdict == lab::Verdict::infra) return &record;
    // A failure takes precedence over an earlier SUSPECT.
    const bool doubtful = first != nullptr && first->verdict == lab::Verdict::suspect;
    const bool wrong = record.verdict != lab::Verdict::ok && record.verdict != lab::Verdict::suspect;
    if (record.verdict != lab::Verdict::ok && (first == nullptr || (doubtful && wrong))) first = &record;
  }
  return first;
}

std::string message_of(const TaskResult& task) {
  const CaseRecord* deciding = deciding_record(task.cases);
  if (deciding == nullptr)
    return task.verdict == lab::Verdict::ok ? fmt::format("{}", fmt::join(lost_points(task), "\n"))
                                            : "Not every case of this task was run.";
  return deciding->verdict == lab::Verdict::suspect ? deciding->message : failed_text(task, *deciding);
}

void add_up(LabResult& lab) {
  lab.points = lab.max_points = lab.bonus_points = lab.max_bonus_points = 0;
  for (const TaskResult& task : lab.tasks) {
    (task.bonus ? lab.bonus_points : lab.points) += task.points;
    (task.bonus ? lab.max_bonus_points : lab.max_points) += task.max_points;
  }
}

void cut_messages(TaskResult& task) {
  constexpr std::size_t kMaxOfATask = std::size_t{64} << 10, kMaxOfOne = std::size_t{24} << 10;
  std::size_t left = kMaxOfATask;
  const auto cut = [&](std::string& text) {
    std::size_t end = 0, used = 0;  // in JSON, escapes are longer than their characters
    for (; end < text.size() && used < std::min(left, kMaxOfOne); ++end) {
      const auto c = static_cast<unsigned char>(text[end]);
      used += c < 32 && c != '\n' ? 6 : c < 128 ? 2 : 3;
    }
    left -= std::min(left, used);
    if (end == text.size()) return;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
    text.resize(end);
    text += " … (the rest of this message was cut)";
  };
  cut(task.message);
  for (CaseRecord& record : task.cases) {
    cut(record.message);
    lab::for_each_text(record.failure, cut);
  }
}

bool has_infra(const LabResult& lab) {
  return std::ranges::any_of(lab.tasks,
                             [](const TaskResult& task) { return task.verdict == lab::Verdict::infra; });
}

bool has_infra(const RunResult& result) {
  return std::ranges::any_of(result.labs, [](const LabResult& lab) { return has_infra(lab); });
}

namespace {

template <typename T>
json field_json(const T& value);

struct FieldWriter {
  json& out;
  void operator()(const char* key, const auto& field) const { out[key] = field_json(field); }
  void derived(const char* key, const auto& value) const { out[key] = field_json(value); }
  void later(const char* key, const auto& field) const { out[key] = field_json(field); }
  void points(const char* got, int points, const char* most, int max_points) const {
    out[got] = points, out[most] = max_points;
  }
};

template <typename T>
json field_json(const T& value) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::isfinite(value) ? json(value) : json(nullptr);
  } else if constexpr (std::is_enum_v<T>) {
    return name_of(value);
  } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
    return value;
  } else if constexpr (requires { value.has_value(); }) {
    return value ? field_json(*value) : json(nullptr);
  } else if constexpr (requires { typename T::mapped_type; }) {
    json out = json::object();
    for (const auto& [key, one] : value) out[key] = field_json(one);
    return out;
  } else if constexpr (requires { value.begin(); }) {
    json out = json::array();
    for (const auto& one : value) out.push_back(field_json(one));
    return out;
  } else {
    json out = json::object();
    for_each_field(value, FieldWriter{out});
    return out;
  }
}

}  // namespace

json to_json(const TaskResult& task) {
  return field_json(task);
}

json to_json(const RunResult& result) {
  json out = field_json(result);
  out["schema"] = kResultSchema;
  out["seed"] = result.for_students ? json(nullptr) : json(fmt::format("{:#x}", result.seed));
  return out;
}

}  // namespace course::grader
