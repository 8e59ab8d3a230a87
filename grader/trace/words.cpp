// SPDX-License-Identifier: MIT
#include "trace/words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace course::grader {
namespace {

// Up to eight numbers as they are: "0 2 4 6". More than eight: "0 … 15" if they are consecutive, else "0 2 4
// … 62 (32)", with their count.
template <typename Set>
std::string listed(const Set& numbers) {
  if (numbers.size() <= 8) return fmt::format("{}", fmt::join(numbers, " "));
  const auto first = *numbers.begin(), last = *numbers.rbegin();
  if (last - first + 1 == numbers.size()) return fmt::format("{} … {}", first, last);
  auto it = numbers.begin();
  const auto second = *++it, third = *++it;
  return fmt::format("{} {} {} … {} ({})", first, second, third, last, numbers.size());
}

}  // namespace

std::string title_of(const TraceTable& table) {
  if (table.kernel.empty()) return "Before";
  if (!table.block) return fmt::format("Launch {}: {}, all blocks", table.launch + 1, table.kernel);
  return fmt::format("Launch {}: {}, block {}", table.launch + 1, table.kernel, *table.block);
}

std::string moment_of(const TraceStep& step, bool with_line) {
  if (step.after == "start") return "at the start";
  if (step.after == "launch") return "after the launch";
  if (step.after == "block") return "at the block's end";
  if (step.after == "publish" && !step.stores.empty()) {
    const std::string who = fmt::format("block {} publishes", step.stores.back().block);
    return with_line && step.line != 0 ? fmt::format("{}, line {}", who, step.line) : who;
  }
  const std::string what = step.after == "warp_sync" ? "__syncwarp"
                           : step.after == "fault"   ? "ends here"
                                                     : step.after;
  return step.line == 0 || !with_line ? what : fmt::format("{}, line {}", what, step.line);
}

std::string label_of(const TraceStep& step) {
  return step.times == 1 ? moment_of(step) : fmt::format("{} ({} times)", moment_of(step), step.times);
}

std::string threads_of(const TraceStep& step) {
  std::set<std::uint32_t> threads;
  for (const TraceStore& store : step.stores) threads.insert(store.thread);
  return listed(threads);
}

std::string TraceLaneRow::where() const {
  const auto s = [](const auto& of) { return of.size() == 1 ? "" : "s"; };
  return fmt::format("line{} {}, warp{} {}", s(lines), listed(lines), s(warps), listed(warps));
}

std::vector<TraceLaneRow> lane_rows(const TraceStep& step) {
  const auto masks = [](const TraceLanes& a) { return std::tuple(a.lanes, a.live, a.passes); };
  std::map<std::pair<std::uint32_t, decltype(masks({}))>, TraceLaneRow> at_lines;
  for (const TraceLanes& a : step.lanes)
    at_lines.try_emplace({a.line, masks(a)}, TraceLaneRow{a, {a.line}, {}})
        .first->second.warps.insert(a.warp);
  std::vector<TraceLaneRow> rows;
  for (const auto& one : at_lines) {
    const TraceLaneRow& row = one.second;
    const auto same = std::ranges::find_if(rows, [&](const TraceLaneRow& r) {
      return r.warps == row.warps && masks(r.each) == masks(row.each);
    });
    (same == rows.end() ? *rows.insert(same, row) : *same).lines.insert(row.each.line);
  }
  return rows;
}

}  // namespace course::grader
