// SPDX-License-Identifier: MIT
#include "grading/scoring/line_with_most.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "verifier/report_fields.hpp"

namespace course::grader {
using lab::fields::Json, lab::fields::number;

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
  if (count == std::end(kLineCounts)) return "";
  const std::string own = fmt::format("{}.cu", lab);
  struct Sum {
    double most = 0, requests = 0, local = 0;
  };
  std::map<std::uint32_t, Sum> lines;
  for (const Json& line : lab::fields::list(report, "lines")) {
    const std::string_view file = lab::fields::text(line, "file");
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
