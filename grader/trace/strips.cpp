// SPDX-License-Identifier: MIT
#include "trace/strips.hpp"

#include <fmt/format.h>

namespace course::grader {
namespace {

// Whether the strip shows the source element of this store: the same array and element, in the same block if
// the array belongs to a block.
bool shows(const Strip& strip, const TraceSource& source, const TraceStore& store) {
  const TraceStep& step = *strip.step;
  const bool lanes = source.array == "lanes";
  if (step.base != source.array ||
      (lanes && step.array != fmt::format("lanes of warp {}", store.thread / 32)))
    return false;
  if ((lanes || source.array.starts_with("s_")) && strip.table->block != std::optional(store.block))
    return false;
  return source.element >= step.first && source.element < step.first + step.cells.size();
}

// Whether the step shows the same values as the one before. Such steps are drawn once.
bool idles(const TraceStep& before, const TraceStep& step) {
  return before.after == step.after && before.after != "fault" &&
         (before.line == step.line || before.base == step.base) && show_the_same(before, step);
}

}  // namespace

int source_strip(const std::vector<Strip>& strips, std::size_t end, const TraceSource& source,
                 const TraceStore& store) {
  for (std::size_t k = end; k > 0; --k)
    if (shows(strips[k - 1], source, store)) return static_cast<int>(k - 1);
  return -1;
}

std::set<int> source_strips(const std::vector<Strip>& strips, std::size_t end, const TraceStep& step) {
  std::set<int> found;
  for (const TraceStore& store : step.stores)
    for (const TraceSource& source : store.from)
      if (!source.inside) found.insert(source_strip(strips, end, source, store));
  found.erase(-1);
  return found;
}

std::vector<Strip> strips_of(const TraceView& view, bool one_by_one) {
  std::vector<Strip> strips;
  for (const TraceTable& table : view.tables) {
    for (const TraceStep& step : table.steps) {
      if (!one_by_one && !strips.empty() && strips.back().table == &table &&
          idles(*strips.back().step, step)) {
        strips.back().times += step.times;
        continue;
      }
      const std::set<int> wanted = source_strips(strips, strips.size(), step);
      const int near =
          static_cast<int>(strips.size() - std::min(strips.size(), std::max<std::size_t>(wanted.size(), 1)));
      std::vector<Strip> again;
      for (const int k : wanted) {
        const Strip& from = strips[static_cast<std::size_t>(k)];
        if (k < near && !from.grid()) again.push_back({from.table, from.step, true});
      }
      strips.insert(strips.end(), again.begin(), again.end());
      strips.push_back({&table, &step, false, step.times});
    }
  }
  return strips;
}

}  // namespace course::grader
