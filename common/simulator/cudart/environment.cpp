// SPDX-License-Identifier: MIT
#include "cudart/environment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "sim/chips/presets.hpp"

namespace course::cudart {
namespace {

constexpr int kMaxDevices = 16;
constexpr int kMaxThreads = 1024;
constexpr double kMaxWatchdogSeconds = 86400;

template <typename Number>
std::optional<Number> number(std::string_view text, Number low, Number high) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < low || value > high) return {};
  return value;
}

struct ModeWord {
  std::string_view name;
  std::uint32_t bits;
};

// The words of SIM_MODE.
std::vector<ModeWord> mode_words() {
  std::vector<ModeWord> words{{"counters", sim::kCounters}, {"dataflow", sim::kDataflow}};
  for (const sim::CheckerRow& row : sim::kCheckers)
    if (row.mode != 0) words.push_back({row.name, row.mode});
  words.push_back({"hostcheck", sim::kHostcheck});
  words.push_back({"checks", sim::kAllChecks | sim::kHostcheck});
  words.push_back({"all", sim::kAllChecks | sim::kHostcheck | sim::kCounters | sim::kDataflow});
  return words;
}

std::optional<std::uint32_t> mode_bits(std::string_view word) {
  if (word == "fast") return sim::kFast;
  for (const ModeWord& known : mode_words())
    if (known.name == word) return known.bits;
  return {};
}

// What `name` gives of each row, with commas.
template <typename Rows, typename Name>
std::string joined(const Rows& rows, Name name) {
  std::string names;
  for (const auto& row : rows) names += fmt::format("{}{}", names.empty() ? "" : ", ", row.*name);
  return names;
}

}  // namespace

Environment parse_environment(const std::function<const char*(const char*)>& get) {
  Environment env;
  const auto value_of = [&](const char* name) -> std::string_view {
    const char* value = get(name);
    return value != nullptr ? std::string_view(value) : std::string_view();
  };
  const auto flag = [&](const char* name) {
    const std::string_view value = value_of(name);
    return !value.empty() && value != "0";
  };
  const auto complain = [&](const char* name, std::string_view value, std::string_view expected) {
    env.complaints.push_back(fmt::format("{}={} is ignored: expected {}", name, value, expected));
  };

  env.quiet = flag("SIM_QUIET");
  env.verbose = flag("SIM_VERBOSE");
  env.report_file = value_of("SIM_REPORT");

  env.device.preset = *find_preset("h200");
  if (const auto value = value_of("SIM_DEVICE"); !value.empty()) {
    if (const sim::DevicePreset* preset = find_preset(value)) {
      env.device.preset = *preset;
    } else {
      complain("SIM_DEVICE", value, "one of " + joined(presets(), &NamedPreset::key));
    }
  }
  if (const auto value = value_of("SIM_DEVICES"); !value.empty()) {
    if (const auto n = number(value, 1, kMaxDevices)) {
      env.n_devices = *n;
    } else {
      complain("SIM_DEVICES", value, fmt::format("a number from 1 to {}", kMaxDevices));
    }
  }
  if (const auto value = value_of("SIM_THREADS"); !value.empty()) {
    if (const auto n = number(value, 0, kMaxThreads)) {
      env.device.host_threads = *n;
    } else {
      complain("SIM_THREADS", value, fmt::format("a number from 0 (all cores) to {}", kMaxThreads));
    }
  }
  if (const auto value = value_of("SIM_SCHEDULE_SEED"); !value.empty()) {
    if (const auto n = number<std::uint64_t>(value, 0, UINT64_MAX)) {
      env.device.schedule_seed = *n;
    } else {
      complain("SIM_SCHEDULE_SEED", value, "a whole number, 0 for the natural order");
    }
  }
  if (const auto value = value_of("SIM_WATCHDOG"); !value.empty()) {
    if (const auto seconds = number(value, 0.0, kMaxWatchdogSeconds)) {
      env.device.watchdog_seconds = *seconds;
    } else {
      complain("SIM_WATCHDOG", value, "seconds, 0 for the default");
    }
  }
  std::string_view words = value_of("SIM_MODE");
  if (!words.empty()) env.mode = sim::kFast;
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find(','));
    words.remove_prefix(std::min(words.size(), word.size() + 1));
    if (word.empty()) continue;
    if (const auto bits = mode_bits(word)) {
      env.mode |= *bits;
    } else {
      complain("SIM_MODE", word, "a list of " + joined(mode_words(), &ModeWord::name));
    }
  }
  env.check = flag("SIM_CHECK");
  if (env.check)
    env.mode = (value_of("SIM_MODE").empty() ? sim::kFast : env.mode) | sim::kAllChecks | sim::kHostcheck;
  return env;
}

}  // namespace course::cudart
