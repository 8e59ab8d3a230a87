// SPDX-License-Identifier: MIT
// The run loop: chooses a group of a warp's lanes, runs basic blocks, splits and merges groups, and calls the
// machine at synchronisation. Compiled once per instruction set of the host, so that it can inline handlers.
// Scheduling: of the groups that can run, the one with the deepest call comes first, then the one at the
// block with the lowest rank (cfg.cpp). After 64 back edges of a diverged warp, the group that has waited
// longest runs, so that locks inside a warp make progress.
// Source: for the min-rank rule, Collange, "Stack-less SIMT reconvergence at low cost", 2011 (hal-00622654).
#include <algorithm>
#include <utility>

#include "sim/machine/control_flow.hpp"
#include "sim/ops/rows.hpp"

namespace course::sim::SIM_ISA {

const Engine& engine();

namespace {

constexpr u32 kPatience = 64;  // back edges of a diverged warp after which another group runs

// Merges groups at the same position. One that waits for lanes of its warp and gains some checks again.
void merge(Warp& w) {
  for (std::size_t i = 0; i < w.groups.size(); ++i) {
    for (std::size_t k = i + 1; k < w.groups.size();) {
      Group& a = w.groups[i];
      Group& b = w.groups[k];
      if (a.block == b.block && a.done == b.done && a.passed == b.passed && a.wait != Wait::barrier &&
          b.wait != Wait::barrier) {
        if (((a.mask | b.mask) & w.favoured) != 0) w.favoured = 0;
        a.mask |= b.mask;
        a.wait = Wait::none;
        w.groups.erase(w.groups.begin() + static_cast<std::ptrdiff_t>(k));
      } else {
        ++k;
      }
    }
  }
}

std::size_t depth(const Warp& w, const Group& g) {
  return w.calls[std::countr_zero(g.mask)].size();
}

// The index of the group to run next, or -1 if all groups wait.
int pick(Warp& w) {
  if (w.groups.size() > 1) merge(w);
  const auto& blocks = w.program->blocks;
  if (w.back_edges >= kPatience) {
    w.back_edges = 0;
    int oldest = -1;
    for (std::size_t k = 0; k < w.groups.size(); ++k)
      if (w.groups[k].wait == Wait::none &&
          (oldest < 0 || w.groups[k].stamp < w.groups[static_cast<std::size_t>(oldest)].stamp))
        oldest = static_cast<int>(k);
    w.favoured = oldest < 0 ? 0 : w.groups[static_cast<std::size_t>(oldest)].mask;
  }
  int best = -1;
  for (std::size_t k = 0; k < w.groups.size(); ++k) {
    const Group& g = w.groups[k];
    if (g.wait != Wait::none) continue;
    if ((g.mask & w.favoured) != 0) {
      best = static_cast<int>(k);
      break;
    }
    if (best < 0) {
      best = static_cast<int>(k);
      continue;
    }
    const Group& champion = w.groups[static_cast<std::size_t>(best)];
    const std::size_t d = w.has_calls ? depth(w, g) : 0, e = w.has_calls ? depth(w, champion) : 0;
    if (d > e || (d == e && blocks[g.block].order < blocks[champion.block].order)) best = static_cast<int>(k);
  }
  if (best >= 0) w.groups[static_cast<std::size_t>(best)].stamp = ++w.clock;
  return best;
}

// Whether group g may execute a warp-wide op now; otherwise it waits. Exited lanes of the member mask are
// ignored. Lanes may execute bar.warp.sync at different instructions (PTX ISA 9.7.13.2); other ops must be
// the same instruction for all.
bool warp_sync_holds(Warp& w, Group& g, const MicroOp& op) {
  const u32* members = w.slot<u32>(op.src[3]);
  u32 wanted = 0;
  SIM_FOR_LANES(i) wanted |= members[i] & w.lane_mask[i];  // of the lanes g.mask
  wanted &= w.live;
  if ((wanted & ~g.mask) == 0) {
    if (op.kind == OpKind::sync && w.worker->observer != nullptr)
      w.worker->observer->warp_synced(w, g.mask, op);
    return true;
  }
  g.wait = Wait::warp_sync;
  if (op.kind != OpKind::sync) return false;
  u32 arrived = 0;
  const auto& program = *w.program;
  const auto waits_too = [&](const Group& other) {
    if (other.wait != Wait::warp_sync) return false;
    const MicroOp& there = program.ops[program.blocks[other.block].first];
    return there.kind == OpKind::sync && w.slot<u32>(there.src[3])[std::countr_zero(other.mask)] ==
                                             w.slot<u32>(op.src[3])[std::countr_zero(g.mask)];
  };
  for (const Group& other : w.groups)
    if (waits_too(other)) arrived |= other.mask;
  if ((wanted & ~arrived) != 0) return false;
  const u32 released = arrived;
  for (Group& other : w.groups) {
    if ((other.mask & released) == 0) continue;
    other.wait = Wait::none;
    other.passed = true;
  }
  if (w.worker->observer != nullptr) w.worker->observer->warp_synced(w, released, op);
  return true;
}

inline void run_op(Warp& w, const MicroOp& op) {
  if (op.guard == MicroOp::kNoSlot) [[likely]] {
    op.fn(w, op);
    return;
  }
  const u32 p = w.predicate(op.guard);
  const u32 whole = w.mask, part = whole & (op.guard_negated ? ~p : p);
  if (op.counted) w.worker->guarded_off[op.index] += static_cast<u64>(std::popcount(whole & ~part));
  if (part == 0) return;
  w.set_mask(part);
  op.fn(w, op);
  w.set_mask(whole);
}

inline void observe_op(Warp& w, const MicroOp& op) {
  if ((w.observed >> static_cast<u32>(op.kind) & 1) == 0) return run_op(w, op);
  Observer& observer = *w.worker->observer;
  const u32 whole = w.mask;
  if (op.guard != MicroOp::kNoSlot) {
    const u32 p = w.predicate(op.guard);
    const u32 part = whole & (op.guard_negated ? ~p : p);
    if (op.counted) w.worker->guarded_off[op.index] += static_cast<u64>(std::popcount(whole & ~part));
    if (part != whole) observer.guarded_off(w, op, whole & ~part);
    if (part == 0) return;
    w.set_mask(part);
  }
  observer.before(w, op);
  op.fn(w, op);
  if (observer.looks_after()) observer.after(w, op);
  w.set_mask(whole);
}

// Leaves the block that group `k` has just executed. May split or end the group.
template <bool Observed>
void leave_block(Warp& w, std::size_t k, u32 number, const BasicBlock& b) {
  Group& g = w.groups[k];
  const auto go = [&](Group& group, u32 to) {
    if constexpr (Observed) group.from = number;
    if (w.groups.size() > 1 && w.program->blocks[to].order <= b.order) ++w.back_edges;
    group.block = to;
    group.passed = false;
  };
  if constexpr (Observed)
    if (b.exit == Exit::branch || b.exit == Exit::indexed || b.exit == Exit::call_indirect)
      w.worker->observer->branches(w, b, g.mask);
  switch (b.exit) {
    case Exit::fall: go(g, b.next); break;
    case Exit::jump: go(g, b.target); break;
    case Exit::branch: {
      const u32 p = w.predicate(b.predicate);
      const u32 taken = g.mask & (b.predicate_negated ? ~p : p), fell = g.mask & ~taken;
      if (fell == 0) {
        go(g, b.target);
      } else if (taken == 0) {
        go(g, b.next);
      } else {
        ++w.worker->diverged[number];
        w.went_apart = true;
        Group other = g;
        other.mask = taken;
        g.mask = fell;
        if ((w.favoured & (taken | fell)) != 0) w.favoured = 0;
        w.groups.push_back(other);
        go(w.groups[k], b.next);
        go(w.groups.back(), b.target);
      }
      break;
    }
    default: leave_by_machine(w, k, b); break;  // calls, returns, exits, jump tables: control_flow.cpp
  }
}

// The first of these ops after which the warp's turn ends before the block does; nullptr if none.
const MicroOp* pause_in(Warp& w, const MicroOp* op, const MicroOp* last) {
  Block& block = *w.block;
  if (block.one_pause_in == 0 || !w.worker->pauses) return nullptr;
  for (; op != last; ++op)
    if ((is_look(*op) || (block.pauses_at_changes && is_strong_change(*op))) &&
        block.dice.below(std::exchange(block.one_pause_in, std::max(block.one_pause_in, 2u))) == 0)
      return op;
  return nullptr;
}

template <bool Observed>
RunEnd run(Warp& w, s64 budget) {
  const Program& program = *w.program;
  Worker& worker = *w.worker;
  worker.launch_warp = &w;
  const s64 whole_budget = budget;
  const auto finish = [&](RunEnd end) {
    worker.instructions += static_cast<u64>(whole_budget - budget);
    w.block->ticks += static_cast<u64>(whole_budget - budget);
    return end;
  };
  while (true) {
    const int chosen = pick(w);
    if (chosen < 0) return finish(w.groups.empty() ? RunEnd::exited : RunEnd::waiting);
    const auto k = static_cast<std::size_t>(chosen);
    const bool alone = w.groups.size() == 1;
    do {
      Group& g = w.groups[k];
      const u32 number = g.block;
      const BasicBlock& b = program.blocks[number];
      if (b.entry != Entry::none && !g.passed) {
        const MicroOp& op = program.ops[b.first];
        w.current = &op;
        w.set_mask(g.mask);
        if (b.entry == Entry::warp_sync) {
          if (!warp_sync_holds(w, g, op)) break;
        } else if (!arrive_at_barrier(w, k, op)) {
          break;
        }
        w.groups[k].passed = true;
      }
      w.set_mask(w.groups[k].mask);
      if (b.entry != Entry::none) w.went_apart = w.went_apart && w.mask != w.live;
      w.only_polls = b.only_polling;
      const MicroOp* const first = program.ops.data() + b.first;
      const MicroOp *const last = program.ops.data() + b.last, *op = first + w.groups[k].done;
      if (op == first) {
        worker.block_runs[number] += 1;
        worker.block_lanes[number] += static_cast<u64>(std::popcount(w.mask));
      }
      const MicroOp* const pause = b.may_pause ? pause_in(w, op, last) : nullptr;
      for (const MicroOp* const stop = pause != nullptr ? pause + 1 : last; op != stop; ++op) {
        w.current = op;
        if constexpr (Observed)
          observe_op(w, *op);
        else
          run_op(w, *op);
      }
      if (pause != nullptr) {
        w.groups[k].done = static_cast<u32>(op - first);
        return finish(RunEnd::slice_over);
      }
      w.time += b.clocks + w.stall * b.quarter_waits / 4;
      if (b.waits_for_all) w.stall = 0;
      if (!b.only_polling) w.polled.op = Warp::kNeverPolled;
      budget -= b.cost;
      w.groups[k].done = 0;
      leave_block<Observed>(w, k, number, b);
      if (budget <= 0) return finish(w.groups.empty() ? RunEnd::exited : RunEnd::slice_over);
      // A warp that has not diverged continues directly. If one of two groups has ended, the groups are
      // examined again.
    } while (alone && w.groups.size() == 1);
  }
}

OpTable make_table() {
  OpTable table;
  add_integer_rows(table);
  add_bit_rows(table);
  add_float_rows(table);
  add_half_rows(table);
  add_rounding_rows(table);
  add_compare_rows(table);
  add_move_rows(table);
  add_convert_rows(table);  // before the general ones, because the first row of a key is kept
  add_any_convert_rows(table);
  add_load_store_rows(table);
  add_atomic_rows(table);
  add_warp_rows(table);
  add_carry_rows(table);
  add_async_rows(table);
  add_clock_rows(table);
  add_matrix_rows(table);
  add_texture_rows(table);
  return table;
}

#define SIM_STRINGIFY_(x) #x
#define SIM_STRINGIFY(x) SIM_STRINGIFY_(x)

}  // namespace

const Engine& engine() {
  static const OpTable table = make_table();
  static const Engine made{SIM_STRINGIFY(SIM_ISA), &table, &run<false>, &run<true>};
  return made;
}

}  // namespace course::sim::SIM_ISA
