// SPDX-License-Identifier: MIT
#include "sim/observation/origins.hpp"

#include <algorithm>
#include <bit>
#include <iterator>

namespace course::sim {

void Origins::launch_begins(const Program& program) {
  program_ = &program;
  shadows_.clear();
  local_.clear();
}

void Origins::block_begins(const Block& block) {
  for (const Warp& w : block.warps) {
    Shadow& shadow = shadows_[&w];
    shadow.registers.assign(program_->register_bytes / 4 + kLanes, 0);
    shadow.predicates.clear();
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

Origins::Set* Origins::of(const Warp& w, std::uint32_t slot, bool predicate) {
  Shadow& shadow = shadows_[&w];
  if (!predicate) return shadow.registers.data() + slot / 4;
  auto& lanes = shadow.predicates[slot];
  lanes.resize(kLanes);
  return lanes.data();
}

void Origins::combine(const Warp& w, const MicroOp& op) {
  Set made[kLanes] = {};
  for (int k = 0; k < 4; ++k) {
    if (op.src[k] == MicroOp::kNoSlot) continue;
    const Set* from = of(w, op.src[k], (op.pred_src >> k & 1) != 0);
    for (int lane = 0; lane < kLanes; ++lane) made[lane] = united(made[lane], from[lane]);
  }
  // All lanes that reduce together get a result made of all their values.
  if (op.kind == OpKind::reduce) {
    Set all = 0;
    for (std::uint32_t m = w.mask; m != 0; m &= m - 1) all = united(all, made[std::countr_zero(m)]);
    std::fill(std::begin(made), std::end(made), all);
  }
  for (int k = 0; k < 4; ++k) {
    if (op.dst[k] == MicroOp::kNoSlot) continue;
    Set* to = of(w, op.dst[k], (op.pred_dst >> k & 1) != 0);
    for (std::uint32_t m = w.mask; m != 0; m &= m - 1) to[std::countr_zero(m)] = made[std::countr_zero(m)];
  }
}

}  // namespace course::sim
