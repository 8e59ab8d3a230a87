// SPDX-License-Identifier: MIT
// Reading order: smallest_text at the end; side_by_side; first_wrong_store.
#include "smallest/smallest_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/rng.hpp"
#include "lab/compare.hpp"
#include "lab/differs.hpp"
#include "lab/poison.hpp"
#include "text.hpp"
#include "trace/tables.hpp"

namespace course::grader {
namespace {

constexpr std::size_t kColumns = 80;
constexpr std::uint64_t kMaxRows = 16;  // of the table; a part of longer arrays is shown
constexpr std::size_t kMaxSources = 4;  // of a stored value
constexpr int kMaxCopies = 3;           // that are followed from a wrong value
constexpr std::size_t kMaxNames = 12;   // of operators and types in one list

using lab::differs;
using Buffers = std::vector<lab::HostBuffer>;

// What went in and came out.
struct Data {
  const lab::Problem& problem;
  const lab::Case& c;
  Buffers inputs, expected, actual;

  std::string element(const lab::HostBuffer& buffer, std::uint64_t i) const {
    const lab::DType dtype = buffer.spec.dtype;
    return i < buffer.spec.count ? problem.print(c, dtype, buffer.bytes.data() + i * lab::bytes_of(dtype))
                                 : "";
  }
};

Data data_of(const lab::Problem& problem, const lab::Task& task, const SmallestFailure& found) {
  // As in lab::Session: each case has its own items.
  const std::uint64_t seed = seed_for(kSmallestSeed, found.c.name);
  Data data{problem, found.c, lab::inputs_of(problem, task, found.c, seed), {}, found.outcome.outputs};
  if (data.actual.empty()) return data;
  data.expected = lab::buffers_of(problem.shape(task, found.c).outputs);
  problem.baseline(task, found.c, data.inputs, data.expected, lab::Baseline::one_thread);
  return data;
}

std::string index_text(std::uint64_t i, std::uint64_t row_length) {
  return row_length == 0 ? fmt::format("{}", i) : fmt::format("{},{}", i / row_length, i % row_length);
}

struct Column {
  std::vector<std::string> title;
  std::vector<std::string> cells;
  std::size_t width() const {
    std::size_t most = 0;
    for (const auto* texts : {&title, &cells})
      for (const std::string& text : *texts) most = std::max(most, display_width(text));
    return most + 2;
  }
};
// Columns that stand side by side: those of an input, or the right and the actual ones of an output.
struct Columns {
  std::vector<Column> all;
  bool agree = false;  // an output without a wrong element
  std::size_t width() const {
    std::size_t sum = 0;
    for (const Column& column : all) sum += column.width();
    return sum;
  }
};

// A table whose first column is `index`. `marked`: the rows with a wrong element.
std::string table_of(const Column& index, const std::vector<const Columns*>& shown,
                     const std::vector<bool>& marked) {
  std::vector<std::string> lines(2 + marked.size());
  const auto add = [&](const Column& column) {
    const auto put = [&](std::string& line, const std::string& text) {
      line += fit_right(text, column.width());
    };
    put(lines[0], column.title[0]);
    put(lines[1], column.title[1]);
    for (std::size_t i = 0; i < column.cells.size(); ++i) put(lines[i + 2], column.cells[i]);
  };
  add(index);
  bool can_be_wrong = false;
  for (const Columns* columns : shown) {
    can_be_wrong = can_be_wrong || (columns->all.size() > 1 && !columns->agree);
    for (const Column& column : columns->all) add(column);
  }
  if (lines[1].find_first_not_of(' ') == std::string::npos) lines.erase(lines.begin() + 1);
  const std::size_t head = lines.size() - marked.size();
  for (std::size_t i = 0; i < marked.size() && can_be_wrong; ++i)
    if (marked[i]) lines[head + i] += "  <- wrong";
  std::string out;
  for (std::string& line : lines) {
    line.erase(line.find_last_not_of(' ') + 1);
    out += "  " + (display_width(line) > kColumns - 2 ? fit_left(line, kColumns - 2) : line) + "\n";
  }
  return out;
}

// A column for each buffer; for an output one with the right and one with the actual values. If they do not
// fit, outputs without a wrong element are left out, and the others stand in several tables, one below the
// other.
std::string side_by_side(const Data& data, const std::optional<lab::Mismatch>& mismatch,
                         std::uint64_t row_length) {
  std::uint64_t n_rows = 0;
  for (const auto* list : {&data.inputs, &data.actual})
    for (const lab::HostBuffer& buffer : *list) n_rows = std::max(n_rows, buffer.spec.count);
  std::uint64_t first = 0;
  if (mismatch && mismatch->index >= kMaxRows) first = mismatch->index - kMaxRows / 2;
  const std::uint64_t last = std::min(n_rows, first + kMaxRows);

  Column index{{"index", row_length == 0 ? "" : "row,col"}, {}};
  for (std::uint64_t i = first; i < last; ++i) index.cells.push_back(index_text(i, row_length));
  std::vector<Columns> columns;
  for (const lab::HostBuffer& buffer : data.inputs) {
    Column column{{buffer.spec.name, ""}, {}};
    for (std::uint64_t i = first; i < last; ++i) column.cells.push_back(data.element(buffer, i));
    columns.push_back({{std::move(column)}});
  }
  std::vector<bool> marked(last - first);
  for (std::size_t k = 0; k < data.actual.size(); ++k) {
    Column expected{{data.actual[k].spec.name, "expected"}, {}}, actual{{"", "actual"}, {}};
    bool agree = true;
    for (std::uint64_t i = first; i < last; ++i) {
      expected.cells.push_back(data.element(data.expected[k], i));
      actual.cells.push_back(data.element(data.actual[k], i));
      const bool named = mismatch && mismatch->buffer == data.actual[k].spec.name && mismatch->index == i;
      if (!named && !differs(expected.cells.back(), actual.cells.back())) continue;
      marked[i - first] = true;
      agree = false;
    }
    columns.push_back({{std::move(expected), std::move(actual)}, agree});
  }

  constexpr std::size_t kMark = 9;  // "  <- wrong"
  const std::size_t room = kColumns - 3 - kMark - index.width();
  std::size_t width = 0;
  for (const Columns& one : columns) width += one.width();
  std::string out, right;
  std::vector<const Columns*> shown;
  const bool all_agree =
      std::ranges::all_of(columns, [](const Columns& one) { return one.agree || one.all.size() == 1; });
  std::size_t used = 0;
  for (const Columns& one : columns) {
    if (width > room && one.agree && !all_agree) {
      right += (right.empty() ? "" : ", ") + one.all[0].title[0];
      continue;
    }
    if (!shown.empty() && used + one.width() > room) {
      out += table_of(index, shown, marked);
      shown.clear();
      used = 0;
    }
    shown.push_back(&one);
    used += one.width();
  }
  if (!shown.empty()) out += table_of(index, shown, marked);
  if (!right.empty()) out += wrap("right in these elements: " + right, kColumns, 2) + "\n";
  if (first > 0 || last < n_rows) out += fmt::format("    … {} elements in all\n", n_rows);
  return out;
}

struct LastStore {
  const TraceStep* step = nullptr;
  const TraceStore* store = nullptr;
};

// The last store that is wanted.
template <typename Wants>
LastStore last_store(const TraceView& view, const Wants& wants) {
  LastStore last;
  for (const TraceTable& table : view.tables)
    for (const TraceStep& step : table.steps)
      for (const auto* stores : {&step.stores, &step.repeated})
        for (const TraceStore& store : *stores)
          if (wants(table, step, store)) last = {&step, &store};
  return last;
}

LastStore last_store_to(const TraceView& view, const std::string& array, std::uint64_t index) {
  return last_store(view, [&](const TraceTable&, const TraceStep& step, const TraceStore& store) {
    return step.base == array && store.element == index;
  });
}

// The last store of a source's value before it was read.
LastStore store_before(const TraceView& view, const LastStore& stored, const TraceSource& source) {
  return last_store(view, [&](const TraceTable& table, const TraceStep& step, const TraceStore& store) {
    const bool others = source.array.starts_with("s_") && table.block && *table.block != stored.store->block;
    const bool before = step.number < stored.step->number + (source.inside ? 1 : 0);
    return !others && before && step.base == source.array && store.element == source.element &&
           store.value == source.value && &store != stored.store;
  });
}

// Whether the value is that of its only source.
bool is_copy(const TraceStore& store) {
  return store.from.size() == 1 && !store.value.empty() && store.from[0].value == store.value;
}

// " It is computed from s_data[0] = 3 and s_data[1] = 4."; "" if the sources are unknown.
std::string computed_from(const TraceStore& store) {
  std::vector<std::string> parts;
  for (const TraceSource& source : store.from) {
    if (parts.size() == kMaxSources) {
      parts.push_back("others");
      break;
    }
    parts.push_back(fmt::format("{}[{}]{}", source.array, source.element,
                                source.value.empty() ? "" : " = " + source.value));
  }
  if (parts.empty()) return "";
  const std::string last = parts.back();
  parts.pop_back();
  return fmt::format(" It is computed from {}{}{}.", fmt::join(parts, ", "), parts.empty() ? "" : " and ",
                     last);
}

// Whether the element holds what it held before the kernels ran. If it does not, it was stored where the
// trace does not show it: beyond its columns, or after its end.
bool is_untouched(const lab::HostBuffer& buffer, std::uint64_t i) {
  const std::size_t width = lab::bytes_of(buffer.spec.dtype);
  const auto from = buffer.bytes.begin() + static_cast<std::ptrdiff_t>(i * width);
  return std::all_of(from, from + static_cast<std::ptrdiff_t>(width),
                     [](std::byte b) { return b == lab::kPoison; });
}

// The earliest store that left a wrong value in an output.
std::string first_wrong_store(const TraceView& view, const Data& data,
                              const std::optional<lab::Mismatch>& mismatch) {
  if (!mismatch) return "";
  LastStore first;
  std::uint64_t index = 0;
  std::size_t buffer = 0;
  bool any_without = false;
  for (std::size_t k = 0; k < data.actual.size(); ++k) {
    const lab::HostBuffer& actual = data.actual[k];
    for (std::uint64_t i = 0; i < actual.spec.count; ++i) {
      const bool named = mismatch->buffer == actual.spec.name && mismatch->index == i;
      if (!named && !differs(data.element(data.expected[k], i), data.element(actual, i))) continue;
      const LastStore last = last_store_to(view, actual.spec.name, i);
      if (named && last.store == nullptr && is_untouched(actual, i)) any_without = true;
      if (last.store == nullptr || (first.step != nullptr && last.step->number >= first.step->number))
        continue;
      first = last;
      index = i;
      buffer = k;
    }
  }
  if (any_without)
    return fmt::format("  Nothing was stored in {}[{}]: no thread reaches it.\n", mismatch->buffer,
                       mismatch->index);
  if (first.store == nullptr) return "";
  const lab::HostBuffer& actual = data.actual[buffer];
  // Atomic operations change elements, too, and the trace does not know what each of them stored.
  if (first.store->value != data.element(actual, index)) return "";
  std::string out = fmt::format(
      "The first wrong value: in step {}{}, thread {} of block {} stores {} in {}[{}]; right is {}.",
      first.step->number, first.store->line == 0 ? "" : fmt::format(", line {}", first.store->line),
      first.store->thread, first.store->block, data.element(actual, index), actual.spec.name, index,
      data.element(data.expected[buffer], index));
  // A value that was only copied is followed to where it was computed.
  for (int k = 0; k < kMaxCopies; ++k) {
    out += computed_from(*first.store);
    if (!is_copy(*first.store)) break;
    const TraceSource source = first.store->from[0];
    const LastStore before = store_before(view, first, source);
    if (before.store == nullptr) break;
    first = before;
    out += fmt::format(" {}[{}] was stored {}by thread {}.", source.array, source.element,
                       first.store->line == 0 ? "" : fmt::format("in line {} ", first.store->line),
                       first.store->thread);
  }
  return wrap(out, kColumns, 2) + "\n";
}

std::string list_of(const char* title, const std::vector<std::string>& names) {
  if (names.empty()) return "";
  const std::size_t n = std::min(names.size(), kMaxNames);
  std::string text = fmt::format(
      "{}{}", title, fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(n), ", "));
  if (n < names.size()) text += fmt::format(" and {} more", names.size() - n);
  return wrap(text, kColumns, 2) + "\n";
}

}  // namespace

std::string smallest_text(const lab::Problem& problem, const lab::Task& task, const SmallestFailure& found,
                          const std::string& flags) {
  const std::string lab(problem.manifest().id);
  const lab::Case& c = found.c;
  std::string out =
      wrap(fmt::format("A small input that fails: {} / {}, case {}", lab, task.id, c.name), kColumns, 0) +
      "\n";
  const Data data = data_of(problem, task, found);
  if (c.n > 0 || !data.actual.empty())
    out += side_by_side(data, found.outcome.failure.mismatch, problem.row_length(task, c));
  if (data.actual.empty() || !found.outcome.failure.mismatch)
    out += wrap(tame(fmt::format("It {}.", found.outcome.failure.headline)), kColumns, 2) + "\n";
  if (const std::string cause = cause_of(found.outcome.failure); !cause.empty())
    out += wrap(tame(fmt::format("{}: {}", found.outcome.failure.proved ? "cause" : "likely cause", cause)),
                kColumns, 2) +
           "\n";
  if (found.is_traced && !found.trace_is_right) {
    const std::uint64_t columns = std::max<std::uint64_t>(c.n, 64);
    const TraceView view = trace_view(problem, task, c, found.outcome.sim_report, columns);
    if (!data.actual.empty()) out += first_wrong_store(view, data, found.outcome.failure.mismatch);
  }
  if (found.trace_is_right)
    out +=
        wrap("Traced, with the warps in another order, it comes out right: the result depends on the order.",
             kColumns, 2) +
        "\n";
  const bool all_wrong = found.right.empty() && found.n_untried == 0;
  if (all_wrong && found.wrong.size() > 1) {
    out += "  With this length it is wrong for every operator and type.\n";
  } else if (!all_wrong) {
    out += list_of("right with this length: ", found.right);
    out += list_of("wrong with this length: ", found.wrong);
  }
  const std::string more = flags.empty() ? "" : " " + flags;
  std::string commands;
  if (found.is_traced)
    commands += fmt::format("see it:        ./lab trace {} {} --case {}{}\n", lab, task.id, c.name, more);
  // Only a wrong value has a store to begin at.
  commands += fmt::format("debug it:      ./lab debug {} {} --case {}{}{}\n", lab, task.id, c.name,
                          found.outcome.failure.mismatch ? " --wrong" : "", more);
  commands += fmt::format("run it again:  ./lab grade {} --task {} --case {} --seed {} --device sim{}\n", lab,
                          task.id, c.name, kSmallestSeed, more);
  return out + wrap_message(commands, kColumns, 2);
}

}  // namespace course::grader
