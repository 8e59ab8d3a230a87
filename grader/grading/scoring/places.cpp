// SPDX-License-Identifier: MIT
#include "grading/scoring/places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

namespace course::grader {
namespace {

using Json = nlohmann::json;

double number(const Json& j, const char* key) {
  const auto it = j.find(key);
  return it != j.end() && it->is_number() ? it->get<double>() : 0;
}

}  // namespace

std::string line_with_most(lab::Metric metric, std::string_view lab, std::string_view sim_report) {
  struct LineCount {
    lab::Metric metric;
    double (*of)(const Json& line);
    const char *per, *unit;  // what it is divided by
  };
  static constexpr LineCount kLineCounts[] = {
      {lab::Metric::bank_conflicts,
       [](const Json& l) { return number(l, "shared_wavefronts") - number(l, "shared_requests"); },
       "shared_requests", "extra wavefronts a request"},
      {lab::Metric::bytes_ratio, [](const Json& l) { return number(l, "global_sectors"); }, "global_requests",
       "sectors a request"},
      {lab::Metric::active_lanes,
       [](const Json& l) { return 32 * number(l, "warp_instructions") - number(l, "lane_instructions"); },
       "warp_instructions", "idle lanes an instruction"},
      {lab::Metric::contention, [](const Json& l) { return number(l, "atomic_serialised"); },
       "atomic_requests", "lanes in turn a request"},
      {lab::Metric::atomics, [](const Json& l) { return number(l, "atomic_lanes"); }, "atomic_requests",
       "lanes a request"},
  };
  const auto count = std::ranges::find(kLineCounts, metric, &LineCount::metric);
  const Json report = Json::parse(sim_report, nullptr, false);
  if (count == std::end(kLineCounts) || !report.is_object()) return "";
  const std::string own = fmt::format("{}.cu", lab);
  struct Sum {
    double most = 0, requests = 0, local = 0;
  };
  std::map<std::uint32_t, Sum> lines;
  if (!report.contains("lines") || !report["lines"].is_array()) return "";
  for (const Json& line : report["lines"]) {
    if (!line.is_object()) continue;
    const auto named = line.find("file");
    const std::string file = named != line.end() && named->is_string() ? named->get<std::string>() : "";
    if (file.substr(file.rfind('/') + 1) != own) continue;
    Sum& sum = lines[static_cast<std::uint32_t>(number(line, "line"))];
    sum.most += count->of(line);
    sum.requests += number(line, count->per);
    if (metric == lab::Metric::bytes_ratio) sum.local += number(line, "local_sectors");
  }
  const auto most = std::ranges::max_element(
      lines, [](const auto& a, const auto& b) { return a.second.most < b.second.most; });
  if (most == lines.end() || !(most->second.most > 0)) return "";
  const bool is_local = 2 * most->second.local > most->second.most;
  return fmt::format("{}:{}, {:.1f} {}{}", own, most->first,
                     most->second.most / std::max(most->second.requests, 1.0), count->unit,
                     is_local ? " of local memory" : "");
}

}  // namespace course::grader
