// SPDX-License-Identifier: MIT
// The first wrong store of a traced run, for problem.cpp: of flags, positions, statuses or items. Everywhere,
// before[i] is how many of the items before item i are kept.
// Reading order: first_wrong_store at the end.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "lab/problem.hpp"

namespace course::compaction {

using namespace lab;  // NOLINT: this file is written in that library's terms

// The item that is moved to d_out; n if the store does something else.
inline std::uint64_t item_of(const TracedStore& store, std::uint64_t n) {
  const bool moves = store.array == "d_out" && store.from.size() == 1 && store.from[0].first == "d_in";
  return moves ? std::min(store.from[0].second, n) : n;
}

// An item that two threads store.
inline std::optional<WrongStore> taken_twice(std::span<const std::uint64_t> before, const TracedRun& run) {
  std::map<std::uint64_t, const TracedStore*> first;
  for (const TracedStore& store : run.stores) {
    const std::uint64_t i = item_of(store, before.size());
    if (i == before.size()) continue;
    const auto [it, fresh] = first.try_emplace(i, &store);
    if (!fresh && it->second->element != store.element)
      return WrongStore{&store, before[it->first],
                        fmt::format("it is item {}, which thread {} of block {} stores, too", it->first,
                                    it->second->thread, it->second->block),
                        true};
  }
  return {};
}

// An item that is stored at another item's place, or although it is not kept.
inline std::optional<WrongStore> misplaced(std::span<const std::uint64_t> flags,
                                           std::span<const std::uint64_t> before, const TracedRun& run) {
  std::optional<WrongStore> first;  // in the order of d_out
  for (const TracedStore& store : run.stores) {
    const std::uint64_t i = item_of(store, flags.size());
    if (i == flags.size() || (flags[i] != 0 && before[i] == store.element)) continue;
    if (first && first->store->element <= store.element) continue;
    const auto owner = static_cast<std::uint64_t>(
        std::upper_bound(before.begin(), before.end(), store.element) - before.begin());
    first = {&store, flags[i] != 0 ? before[i] : store.element,
             flags[i] != 0
                 ? fmt::format("it is item {}, and {} of the items before it are kept", i, before[i])
                 : fmt::format("it is item {}, which is not kept{}", i,
                               owner > flags.size() ? "" : fmt::format("; item {} belongs here", owner - 1)),
             true};
  }
  return first;
}

// A status of single_pass that does not hold its tile's number (state_of in given.cuh).
inline std::optional<WrongStore> wrong_status(std::span<const std::uint64_t> before, const TracedRun& run) {
  constexpr std::uint64_t kTile = 2048, kNumber = (std::uint64_t{1} << 62) - 1;
  const std::uint64_t n = before.size() - 1;
  const auto left = run.left("d_spare");
  if (left.empty() || left.rbegin()->first != (n + kTile - 1) / kTile) return {};  // other tiles
  for (const TracedStore& store : run.stores) {
    const std::uint64_t known = store.value >> 62, number = store.value & kNumber, k = store.element - 1;
    if (store.array != "d_spare" || store.element == 0 || known == 0 || known == 3) continue;
    const std::uint64_t all = before[std::min(n, (k + 1) * kTile)], own = all - before[k * kTile];
    if (number != (known == 1 ? own : all))
      return WrongStore{&store, store.value,
                        fmt::format("as the {} of tile {} this is {}, and right is {}{}",
                                    known == 1 ? "total" : "prefix", k, number, known == 1 ? own : all,
                                    known == 1            ? ""
                                    : number == all - own ? ": a prefix contains the tile itself, too"
                                    : number == own       ? ": nothing of the tiles before was added"
                                                          : "")};
  }
  return {};
}

// `flags`: 1 for an item that is kept, otherwise 0. `looks_back`: the task is single_pass.
inline std::optional<WrongStore> first_wrong_store(std::span<const std::uint64_t> flags, bool looks_back,
                                                   const TracedRun& run) {
  std::vector<std::uint64_t> before{0};
  for (const std::uint64_t flag : flags) before.push_back(before.back() + flag);
  if (auto wrong = taken_twice(before, run)) return wrong;
  std::optional<WrongStore> wrong;
  if (looks_back) wrong = wrong_status(before, run);
  if (!wrong && run.left("d_flags").size() == flags.size()) {
    wrong = run.differs("d_flags", flags, "1 for an item that is kept, otherwise 0");
    if (!wrong && run.reaches("d_out", run.n_launches - 1)) {  // before, the scan may go on
      wrong =
          run.differs("d_positions", std::span(before).first(flags.size()), "the sum of the flags before it");
      if (wrong && wrong->store->value == wrong->right + 1 && flags[wrong->store->element] != 0)
        wrong->why += ", without its own";
    }
  }
  return wrong ? wrong : misplaced(flags, before, run);
}

}  // namespace course::compaction
