// SPDX-License-Identifier: MIT
#include "sim/observation/origins.hpp"

#include <algorithm>
#include <iterator>

namespace course::sim {

void Origins::launch_begins(const Program& program) {
  program_ = &program;
  values_.clear();
  local_.clear();
}

void Origins::block_begins(const Block& block) {
  for (const Warp& w : block.warps) {
    values_[&w].reset(*program_);
    local_.erase(local_.lower_bound({&w, 0, 0}), local_.upper_bound({&w, kLanes, 0}));
  }
}

Origins::Set Origins::number_of(std::vector<TracePlace> places) {
  const auto [known, fresh] = numbers_.try_emplace(std::move(places), static_cast<Set>(sets_.size()));
  if (fresh) sets_.push_back(known->first);
  return known->second;
}

Origins::Set Origins::single(const TracePlace& place) {
  return number_of({place});
}

Origins::Set Origins::united(Set a, Set b) {
  if (a == b || b == 0) return a;
  if (a == 0) return b;
  const auto [known, fresh] = unions_.try_emplace(std::minmax(a, b));
  if (fresh) {
    std::vector<TracePlace> both;
    std::set_union(sets_[a].begin(), sets_[a].end(), sets_[b].begin(), sets_[b].end(),
                   std::back_inserter(both));
    if (both.size() > kMax) both.resize(kMax);
    known->second = number_of(std::move(both));
  }
  return known->second;
}

void Origins::combine(Warp& w, const MicroOp& op) {
  Values<Set>& values = values_[&w];
  const auto unite = [this](Set a, Set b) { return united(a, b); };
  for_lanes(w.mask, [&](int i) { values.flow(w, op, program_->rows[op.index]->flow, i, unite, unite); });
  if (op.kind != OpKind::reduce) return;
  // All lanes that reduce together get a result made of all their values.
  Set all = 0;
  for_lanes(w.mask, [&](int i) { all = united(all, get(w, ValueSlot::result(op, 0), i)); });
  for_lanes(w.mask, [&](int i) { set(w, ValueSlot::result(op, 0), i, all); });
}

}  // namespace course::sim
