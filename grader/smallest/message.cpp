// SPDX-License-Identifier: MIT
// Reading order: smallest_text at the end; side_by_side; first_wrong_store.
#include "smallest/message.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "base/rng.hpp"
#include "lab/compare.hpp"
#include "lab/differs.hpp"
#include "lab/operators.hpp"
#include "lab/poison.hpp"
#include "text.hpp"
#include "trace/view.hpp"

namespace course::grader {
namespace {

constexpr std::size_t kColumns = 80;
constexpr std::uint64_t kMaxRows = 16, kFewRows = 6;  // of the table; a part of longer arrays is shown
constexpr std::size_t kMaxSources = 4;                // of a stored value
constexpr std::uint64_t kColumnsOfTrace = 1 << 17;    // elements of an array
constexpr std::size_t kFewNames = 5;                  // of operators or types that tell something
constexpr int kMaxCopies = 3;                         // that are followed from a wrong value

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
  data.expected = lab::buffers_of(problem.shape(task, found.c).outputs, lab::kPoison);
  problem.baseline(task, found.c, data.inputs, data.expected);
  return data;
}

// Whether the element holds what it held before the kernels ran. If it does not, it was stored where the
// trace does not show it: beyond its columns, or after its end.
bool is_untouched(const lab::HostBuffer& buffer, std::uint64_t i) {
  const std::size_t width = lab::bytes_of(buffer.spec.dtype);
  const auto from = buffer.bytes.begin() + static_cast<std::ptrdiff_t>(i * width);
  return std::all_of(from, from + static_cast<std::ptrdiff_t>(width),
                     [](std::byte b) { return b == lab::kPoison; });
}

std::string index_text(std::uint64_t i, std::uint64_t row_length) {
  return row_length == 0 ? fmt::format("{}", i) : fmt::format("{},{}", i / row_length, i % row_length);
}

// The lines of a table, and a column more: two of its title and one for each row.
void add_column(std::vector<std::string>& lines, const std::vector<std::string>& texts) {
  std::size_t most = 0;
  for (const std::string& text : texts) most = std::max(most, display_width(text));
  lines.resize(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) lines[i] += fit_right(texts[i], most + 2);
}

// What a table shows of an input, or of an output: the right and the actual elements.
struct Part {
  std::string output;  // its name
  std::vector<std::string> lines;
  bool agree = true;
  std::size_t width() const { return display_width(lines[0]); }
};

// `lines`: the column of the indices. `marked`: the rows with a wrong element.
std::string table_of(std::vector<std::string> lines, const std::vector<const Part*>& shown,
                     const std::vector<bool>& marked) {
  for (const Part* part : shown)
    for (std::size_t i = 0; i < lines.size(); ++i) lines[i] += part->lines[i];
  const bool can_be_wrong = !std::ranges::all_of(shown, [](const Part* part) { return part->agree; });
  for (std::size_t i = 0; i < marked.size(); ++i)
    if (can_be_wrong && marked[i]) lines[i + 2] += "  <- wrong";
  if (lines[1].find_first_not_of(' ') == std::string::npos) lines.erase(lines.begin() + 1);
  std::string out;
  for (std::string& line : lines) {
    line.erase(line.find_last_not_of(' ') + 1);
    out += "  " + (display_width(line) > kColumns - 2 ? fit_left(line, kColumns - 2) : line) + "\n";
  }
  return out;
}

// A column for each buffer; for an output one with the right and one with the actual values. If they do not
// fit, outputs without a wrong element are left out, and the others stand in several tables, one below the
// other: `one_table` has the output of the mismatch alone.
std::string side_by_side(const Data& data, const std::optional<lab::Mismatch>& mismatch,
                         std::uint64_t row_length, std::uint64_t max_rows, bool one_table) {
  std::uint64_t n_rows = 0;
  for (const auto* list : {&data.inputs, &data.actual})
    for (const lab::HostBuffer& buffer : *list) n_rows = std::max(n_rows, buffer.spec.count);
  std::uint64_t first = 0;
  if (mismatch && mismatch->index >= max_rows) first = mismatch->index - max_rows / 2;
  const std::uint64_t last = std::min(n_rows, first + max_rows);

  std::vector<std::string> indices{"index", row_length == 0 ? "" : "row,col"}, index;
  for (std::uint64_t i = first; i < last; ++i) indices.push_back(index_text(i, row_length));
  add_column(index, indices);
  std::vector<Part> parts;
  for (const lab::HostBuffer& buffer : data.inputs) {
    std::vector<std::string> texts{buffer.spec.name, ""};
    for (std::uint64_t i = first; i < last; ++i) texts.push_back(data.element(buffer, i));
    add_column(parts.emplace_back().lines, texts);
  }
  std::vector<bool> marked(last - first);
  for (std::size_t k = 0; k < data.actual.size(); ++k) {
    Part part{data.actual[k].spec.name, {}};
    std::vector<std::string> expected{part.output, "expected"}, actual{"", "actual"};
    for (std::uint64_t i = first; i < last; ++i) {
      // Nothing may be stored there, such as behind the last item that is kept.
      const bool none = i < data.expected[k].spec.count && is_untouched(data.expected[k], i);
      expected.push_back(none ? "" : data.element(data.expected[k], i));
      actual.push_back(none && is_untouched(data.actual[k], i) ? "" : data.element(data.actual[k], i));
      const bool named = mismatch && mismatch->buffer == part.output && mismatch->index == i;
      if (!named && !differs(expected.back(), actual.back())) continue;
      marked[i - first] = true;
      part.agree = false;
    }
    add_column(part.lines, expected);
    add_column(part.lines, actual);
    parts.push_back(std::move(part));
  }

  constexpr std::size_t kMark = 9;  // "  <- wrong"
  const std::size_t room = kColumns - 3 - kMark - display_width(index[0]);
  std::size_t width = 0;
  for (const Part& part : parts) width += part.width();
  if (one_table && width > room)
    std::erase_if(parts, [&](const Part& part) {
      return part.output.empty() || (mismatch && part.output != mismatch->buffer);
    });
  std::string out, right;
  std::vector<const Part*> shown;
  const bool all_agree = std::ranges::all_of(parts, [](const Part& part) { return part.agree; });
  std::size_t used = 0;
  for (const Part& part : parts) {
    if (width > room && part.agree && !part.output.empty() && !all_agree) {
      right += (right.empty() ? "" : ", ") + part.output;
      continue;
    }
    if (!shown.empty() && used + part.width() > room) {
      out += table_of(index, shown, marked);
      shown.clear();
      used = 0;
    }
    shown.push_back(&part);
    used += part.width();
  }
  if (!shown.empty()) out += table_of(index, shown, marked);
  if (!right.empty()) out += wrap("right in these elements: " + right, kColumns, 2) + "\n";
  if (!one_table && (first > 0 || last < n_rows)) out += fmt::format("    … {} elements in all\n", n_rows);
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

// The earliest store that left a wrong value in an output.
std::string first_wrong_store(const TraceView& view, const Data& data,
                              const std::optional<lab::Mismatch>& mismatch, int max_copies) {
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
      "The first wrong value: in step {}{}, thread {} of block {} stores {} in {}[{}]; {}.",
      first.step->number, first.store->line == 0 ? "" : fmt::format(", line {}", first.store->line),
      first.store->thread, first.store->block, data.element(actual, index), actual.spec.name, index,
      is_untouched(data.expected[buffer], index) ? "nothing belongs there"
                                                 : "right is " + data.element(data.expected[buffer], index));
  // A value that was only copied is followed to where it was computed.
  for (int k = 0; k < max_copies; ++k) {
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

// The values that an array of global memory holds in the end, as far as the trace shows them.
std::map<std::string, std::map<std::uint64_t, std::string>> last_values(const TraceView& view) {
  std::map<std::string, std::map<std::uint64_t, std::string>> arrays;
  for (const TraceTable& table : view.tables)
    for (const TraceStep& step : table.steps)
      for (const auto* stores : {&step.stores, &step.repeated})
        for (const TraceStore& store : *stores)
          if (!table.block) arrays[step.base][store.element] = store.value;
  return arrays;
}

// Another array that holds the right results, if nothing was stored in the output.
std::string right_elsewhere(const TraceView& view, const Data& data,
                            const std::optional<lab::Mismatch>& mismatch) {
  if (!mismatch || data.actual.empty()) return "";
  const lab::HostBuffer &expected = data.expected[0], &actual = data.actual[0];
  for (std::uint64_t i = 0; i < actual.spec.count; ++i)
    if (!is_untouched(actual, i)) return "";
  for (const auto& [name, values] : last_values(view)) {
    const auto is_right = [&](const auto& value) {
      return value.second == data.element(expected, value.first);
    };
    if (values.size() == actual.spec.count && std::ranges::all_of(values, is_right))
      return fmt::format("{} holds the right results: the last launch must write {}", name, actual.spec.name);
  }
  return "";
}

// The stores of a trace as a lab's rules see them, and those of the trace.
struct Traced {
  lab::TracedRun run;
  std::vector<const TraceStore*> stores;
  std::vector<std::string> kernels;  // by launch

  explicit Traced(const TraceView& view) {
    std::vector<const TraceTable*> tables;
    for (const TraceTable& table : view.tables) tables.push_back(&table);
    std::ranges::stable_sort(tables, {}, &TraceTable::launch);
    for (const TraceTable* table : tables) {
      for (const TraceStep& step : table->steps)
        for (const auto* list : {&step.stores, &step.repeated})
          for (const TraceStore& store : *list) add(*table, step, store);
      run.n_launches = table->launch + 1;
      kernels.resize(run.n_launches);
      kernels.back() = table->kernel;
    }
    run.fault = view.fault;
  }

 private:
  void add(const TraceTable& table, const TraceStep& step, const TraceStore& store) {
    if (store.value.empty() || step.after == "start") return;
    lab::TracedStore& to = run.stores.emplace_back(
        lab::TracedStore{step.base, store.element, store.bits, store.block, table.launch, store.thread});
    for (const TraceSource& source : store.from) to.from.emplace_back(source.array, source.element);
    stores.push_back(&store);
  }
};

// The first store that is wrong, of those between the inputs and the outputs.
std::string first_wrong_between(const TraceView& view, const lab::Task& task, const Data& data) {
  const Traced traced(view);
  const auto wrong = data.problem.wrong_store(task, data.c, data.inputs, traced.run);
  if (!wrong) return "";
  const lab::TracedStore& at = *wrong->store;
  const auto number = static_cast<std::size_t>(wrong->store - traced.run.stores.data());
  const TraceStore& store = *traced.stores[number];
  const std::string line =
      store.line == 0 ? "" : fmt::format(" in line {} of {}", store.line, traced.kernels[at.launch]);
  const bool from_itself = std::ranges::count(at.from, std::pair(at.array, at.element)) > 0;
  if (wrong->is_place)
    return fmt::format(
        "Wrong {}: thread {} of block {} stores {} in {}[{}]{}{} {}.",
        wrong->right == at.element ? "item" : "position", at.thread, at.block, store.value, at.array,
        at.element, line,
        wrong->right == at.element ? "," : fmt::format("; right is {}[{}]:", at.array, wrong->right),
        wrong->why);
  std::string out = fmt::format("Wrong before the output: {}[{}] is {}, stored by thread {} of block {}{}",
                                at.array, at.element, at.value, at.thread, at.block, line);
  // A word with several parts: `why` says which one is wrong.
  if (wrong->right == at.value) return fmt::format("{}: {}.", out, wrong->why);
  out += fmt::format("; right is {}: {}.", wrong->right, wrong->why);
  for (std::size_t k = from_itself ? 0 : number; k-- > 0;) {
    const lab::TracedStore& before = traced.run.stores[k];
    if (before.array != at.array || before.element != at.element) continue;
    const bool is_earlier_pass = before.launch != at.launch && traced.stores[k]->line == store.line;
    if (before.value != wrong->right || is_earlier_pass) break;
    return out + fmt::format(" The right value, which line {} had stored, was overwritten.",
                             traced.stores[k]->line);
  }
  return out + computed_from(store);
}

// By which property wrong and right cases differ: the type, the operator, or the kind of a scan.
std::string what_differs(const SmallestFailure& found) {
  using Word = std::string (*)(const std::string&);
  static constexpr auto kind_of = [](const std::string& variant) {
    const std::string first = variant.substr(0, variant.find('_'));
    return first.ends_with("clusive") ? first : "";
  };
  constexpr Word kWords[] = {
      [](const std::string& variant) { return variant.substr(variant.rfind('_') + 1); },
      [](const std::string& variant) {
        const std::string kind = kind_of(variant), rest = variant.substr(0, variant.rfind('_'));
        return kind.empty() ? rest : rest.substr(kind.size() + 1);
      },
      [](const std::string& variant) { return kind_of(variant); }};
  for (const Word word : kWords) {
    std::set<std::string> right, wrong, both;
    for (const std::string& variant : found.right) right.insert(word(variant));
    for (const std::string& variant : found.wrong) wrong.insert(word(variant));
    std::ranges::set_intersection(right, wrong, std::inserter(both, both.end()));
    if (both.empty() && !right.empty() && right.size() + wrong.size() <= kFewNames)
      return fmt::format("wrong with this length: {}; right: {}{}", fmt::join(wrong, ", "),
                         fmt::join(right, ", "),
                         wrong == std::set{std::string(lab::kNotCommutative)}
                             ? ". Its op(a, b) is not op(b, a): are the items combined in their order?"
                             : "");
  }
  return "";
}

}  // namespace

std::string smallest_text(const lab::Problem& problem, const lab::Task& task, const SmallestFailure& found,
                          const std::string& flags, std::size_t max_lines, const std::string& known) {
  const std::string lab(problem.manifest().id);
  const lab::Case& c = found.c;
  const lab::Failure& failure = found.outcome.failure;
  const bool whole = max_lines == 0, with_cause = known.empty();
  const auto line = [](const std::string& text) {
    return text.empty() ? "" : wrap(tame(text), kColumns, 2) + "\n";
  };
  const std::string cause = cause_of(failure);
  const Data data = data_of(problem, task, found);
  std::string why =
      with_cause && !cause.empty()
          ? line(fmt::format("{}: {}", is_confirmed(failure) ? "confirmed cause" : "likely cause", cause))
          : "";
  if (found.is_traced && !found.trace_is_right) {
    const TraceView view = trace_view(problem, task, c, found.outcome.sim_report, kColumnsOfTrace);
    why += line(first_wrong_between(view, task, data)) + line(right_elsewhere(view, data, failure.mismatch));
    if (!data.actual.empty() && (whole || (why.empty() && with_cause)))
      why += first_wrong_store(view, data, failure.mismatch, whole ? kMaxCopies : 1);
  }
  if (found.trace_is_right)
    why +=
        line("Traced, with the warps in another order, it comes out right: the result depends on the order.");
  if ((data.actual.empty() || !failure.mismatch) && (whole || with_cause))
    why += line(fmt::format("It {}.", failure.headline));
  why += line(what_differs(found));
  const std::string more = flags.empty() ? "" : " " + flags;
  std::string commands;
  const std::string title = whole ? "see it:        " : "A small input that fails: ";
  if (found.is_traced)
    commands += fmt::format("{}./lab trace {} {} --case {}{}\n", title, lab, task.id, c.name, more);
  // Only a wrong value has a store to begin at.
  if (whole || !found.is_traced)
    commands += fmt::format("{}./lab debug {} {} --case {}{}{}\n", whole ? "debug it:      " : title, lab,
                            task.id, c.name, failure.mismatch ? " --wrong" : "", more);
  if (whole)
    commands += fmt::format("run it again:  ./lab grade {} --task {} --case {} --seed {} --device sim{}\n",
                            lab, task.id, c.name, kSmallestSeed, more);
  commands = wrap_message(commands, kColumns, 2);
  std::string table =
      whole
          ? wrap(fmt::format("A small input that fails: {} / {}, case {}", lab, task.id, c.name), kColumns) +
                "\n"
          : "";
  // Its head takes two lines.
  const auto used = static_cast<std::size_t>(std::ranges::count(why + commands, '\n')) + 2;
  const std::uint64_t rows =
      whole ? kMaxRows : std::clamp<std::uint64_t>(max_lines - std::min(used, max_lines), 2, kFewRows);
  if (!data.actual.empty() || (whole && c.n > 0))  // inputs alone say little
    table += side_by_side(data, failure.mismatch, problem.row_length(task, c), rows, !whole);
  return whole ? table + why + commands : why + table + commands;
}

}  // namespace course::grader
