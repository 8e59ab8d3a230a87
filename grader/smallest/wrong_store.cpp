// SPDX-License-Identifier: MIT
#include "smallest/wrong_store.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <vector>

#include "lab/differs.hpp"

namespace course::grader {
namespace {

constexpr std::size_t kMaxSources = 4;  // of a stored value

template <typename F>
void for_each_store(const TraceTable& table, F f) {
  for (const TraceStep& step : table.steps)
    for (const auto* stores : {&step.stores, &step.repeated})
      for (const TraceStore& store : *stores) f(step, store);
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
    for_each_store(table, [&](const TraceStep& step, const TraceStore& store) {
      if (wants(table, step, store)) last = {&step, &store};
    });
  return last;
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

// The values that an array of global memory holds in the end, as far as the trace shows them.
std::map<std::string, std::map<std::uint64_t, std::string>> last_values(const TraceView& view) {
  std::map<std::string, std::map<std::uint64_t, std::string>> arrays;
  for (const TraceTable& table : view.tables)
    if (!table.block)
      for_each_store(table, [&](const TraceStep& step, const TraceStore& store) {
        arrays[step.base][store.element] = store.value;
      });
  return arrays;
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
      for_each_store(*table,
                     [&](const TraceStep& step, const TraceStore& store) { add(*table, step, store); });
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

}  // namespace

std::string first_wrong_between(const TraceView& view, const lab::Task& task, const CaseValues& values) {
  const Traced traced(view);
  const auto wrong = values.problem.wrong_store(task, values.c, values.inputs, traced.run);
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

std::string right_elsewhere(const TraceView& view, const CaseValues& values,
                            const std::optional<lab::Mismatch>& mismatch) {
  if (!mismatch || values.actual.empty()) return "";
  const lab::HostBuffer &expected = values.expected[0], &actual = values.actual[0];
  for (std::uint64_t i = 0; i < actual.spec.count; ++i)
    if (!is_untouched(actual, i)) return "";
  for (const auto& [name, elements] : last_values(view)) {
    const auto is_right = [&](const auto& element) {
      return element.second == values.element(expected, element.first);
    };
    if (elements.size() == actual.spec.count && std::ranges::all_of(elements, is_right))
      return fmt::format("{} holds the right results: the last launch must write {}", name, actual.spec.name);
  }
  return "";
}

std::string first_wrong_store(const TraceView& view, const CaseValues& values,
                              const std::optional<lab::Mismatch>& mismatch, int max_copies) {
  if (!mismatch) return "";
  LastStore first;
  std::uint64_t index = 0;
  std::size_t buffer = 0;
  bool any_without = false;
  for (std::size_t k = 0; k < values.actual.size(); ++k) {
    const lab::HostBuffer& actual = values.actual[k];
    for (std::uint64_t i = 0; i < actual.spec.count; ++i) {
      const bool named = mismatch->buffer == actual.spec.name && mismatch->index == i;
      if (!named && !lab::differs(values.element(values.expected[k], i), values.element(actual, i))) continue;
      const LastStore last = last_store(view, [&](const auto&, const auto& step, const auto& store) {
        return step.base == actual.spec.name && store.element == i;
      });
      if (named && last.store == nullptr && is_untouched(actual, i)) any_without = true;
      if (last.store == nullptr || (first.step != nullptr && last.step->number >= first.step->number))
        continue;
      first = last;
      index = i;
      buffer = k;
    }
  }
  if (any_without)
    return fmt::format("Nothing was stored in {}[{}]: no thread reaches it.", mismatch->buffer,
                       mismatch->index);
  if (first.store == nullptr) return "";
  const lab::HostBuffer& actual = values.actual[buffer];
  // Atomic operations change elements, too, and the trace does not know what each of them stored.
  if (first.store->value != values.element(actual, index)) return "";
  std::string out = fmt::format(
      "The first wrong value: in step {}{}, thread {} of block {} stores {} in {}[{}]; {}.",
      first.step->number, first.store->line == 0 ? "" : fmt::format(", line {}", first.store->line),
      first.store->thread, first.store->block, values.element(actual, index), actual.spec.name, index,
      is_untouched(values.expected[buffer], index)
          ? "nothing belongs there"
          : "right is " + values.element(values.expected[buffer], index));
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
  return out;
}

}  // namespace course::grader
