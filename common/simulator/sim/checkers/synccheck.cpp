// SPDX-License-Identifier: MIT
#include "sim/checkers/synccheck.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "sim/checkers/lanes.hpp"
#include "sim/machine/control_flow.hpp"
#include "sim/machine/describe.hpp"
#include "sim/machine/flow_rule.hpp"
#include "sim/machine/source_places.hpp"

namespace course::sim {
namespace {

using u32 = std::uint32_t;

constexpr int kMembers = 3;  // index of the source of warp-wide ops that contains the member mask

// "lane 3", "lanes 0 to 15", "lanes 0, 2, 5 …"
std::string name_lanes(u32 lanes) {
  const int first = std::countr_zero(lanes), last = 31 - std::countl_zero(lanes), n = std::popcount(lanes);
  if (n == 1) return fmt::format("lane {}", first);
  if (last - first + 1 == n) return fmt::format("lanes {} to {}", first, last);
  std::string text = "lanes";
  int n_listed = 0;
  for (u32 m = lanes; m != 0 && n_listed < 4; m &= m - 1, ++n_listed)
    text += fmt::format("{}{}", n_listed == 0 ? " " : ", ", std::countr_zero(m));
  return n > 4 ? text + " …" : text;
}

// "lane 3 of warp 0 calls", "lanes 0 to 15 of warp 0 call"
std::string name_call(u32 lanes, u32 warp) {
  return fmt::format("{} of warp {} {}", name_lanes(lanes), warp,
                     std::has_single_bit(lanes) ? "calls" : "call");
}

const char* name_of_op(const MicroOp& op) {
  switch (op.kind) {
    case OpKind::shuffle: return "a shuffle";
    case OpKind::reduce: return "a warp-wide reduction";
    case OpKind::sync: return "__syncwarp()";
    default: return "a warp vote or match";
  }
}

}  // namespace

// --- begin and end -----------------------------------------------------------------------------------------

Gap Synccheck::gap(const OpRow& row) {
  if (is_plain(row.kind) || row.kind == OpKind::copy) return nullptr;
  if (row.kind == OpKind::mbarrier) return "arrivals at mbarriers are not checked";
  if (is_of(row, {"mma", "movmatrix"}))
    return "which lanes take part in an operation on matrices is not checked";
  return nullptr;  // the others do not synchronise
}

void Synccheck::launch_begins(const Program& program, const LaunchRequest& launch) {
  program_ = &program;
  launch_ = &launch;
  reported_.clear();
}

void Synccheck::launch_ends() {
  for (auto& [key, finding] : reported_) add_finding(findings_, std::move(finding));
  reported_.clear();
}

void Synccheck::block_begins(Block& block) {
  if (blocks_.size() <= block.storage) blocks_.resize(block.storage + 1);
  auto& slot = blocks_[block.storage];
  if (slot == nullptr) slot = std::make_unique<BlockState>();
  for (auto& arrivals : slot->arrivals) arrivals.clear();
  slot->exited = slot->misused = false;
  slot->undefined.resize(block.warps.size());
  for (auto& warp : slot->undefined) warp.clear();
}

ThreadId Synccheck::thread(const Block& block, u32 warp, u32 lanes) const {
  return thread_of(*launch_, block.linear, warp * kLanes + static_cast<u32>(std::countr_zero(lanes)));
}

Finding* Synccheck::finding_for(const char* kind, const MicroOp& op, const MicroOp* other) {
  const auto [it, fresh] = reported_.try_emplace({kind, {op.index, other == nullptr ? ~0u : other->index}});
  Finding& f = it->second;
  if (!fresh) {
    ++f.times;
    return nullptr;
  }
  f.checker = Checker::synccheck;
  f.kind = kind;
  f.kernel = program_->demangled;
  f.where = places_of(*program_, op);
  if (other != nullptr) f.other_where = places_of(*program_, *other);
  return &f;
}

// --- barriers of the block ---------------------------------------------------------------------------------

void Synccheck::barrier_arrived(Warp& w, u32 mask, const MicroOp& op) {
  if (op.imm == kClusterArrive) return;
  const int lane = std::countr_zero(mask);
  const u32 number = w.slot<u32>(op.src[1])[lane];
  const bool counted = op.src[2] != MicroOp::kNoSlot;
  const u32 count = counted ? w.slot<u32>(op.src[2])[lane] : 0;
  Block& block = *w.block;
  BlockState& s = state(block);
  auto& arrivals = s.arrivals[number & 15];
  // A plain __syncthreads(). As long as nothing was misused, all arrivals have the same count as the first
  // one.
  const u32 threads = count_lanes(mask);
  if (number < 16 && !counted && !s.misused && (arrivals.empty() || arrivals.front().count == 0)) {
    if (!arrivals.empty() && arrivals.back().op == &op)
      arrivals.back().threads += threads;
    else
      arrivals.push_back({&op, w.number, mask, 0, threads});
    return;
  }
  const ThreadId me = thread(block, w.number, mask);
  if (number >= 16)
    if (Finding* f = finding_for("invalid-barrier", op)) {
      f->thread = me;
      f->message = fmt::format("{} at {}: barrier {}, but a block has barriers 0 to 15", describe_thread(me),
                               one_line(f->where), number);
    }
  const u32 most = (block.n_threads + kLanes - 1) / kLanes * kLanes;
  if (counted && (count == 0 || count % kLanes != 0 || count > most)) {
    s.misused = true;
    if (Finding* f = finding_for("invalid-barrier-count", op)) {
      f->thread = me;
      f->message = fmt::format(
          "{} at {}: a barrier for {} threads; the count must be a multiple of {} and at most "
          "the block's {} threads",
          describe_thread(me), one_line(f->where), count, kLanes, block.n_threads);
    }
  }
  for (const Arrival& other : arrivals) {
    if (other.count == count) continue;
    s.misused = true;
    if (Finding* f = finding_for("barrier-count-mismatch", op, other.op)) {
      const auto text = [](u32 n) { return n == 0 ? std::string("all") : fmt::format("{}", n); };
      f->thread = me;
      f->other_thread = thread(block, other.warp, other.lanes);
      f->message = fmt::format("{} waits at barrier {} for {} threads, {}, but {} waits there for {}, {}",
                               describe_thread(me), number, text(count), one_line(f->where),
                               describe_thread(f->other_thread), text(other.count), one_line(f->other_where));
    }
    break;
  }
  arrivals.push_back({&op, w.number, mask, count, threads});
}

void Synccheck::barrier_released(Block& block, u32 barrier) {
  BlockState& b = state(block);
  auto& arrivals = b.arrivals[barrier];
  if (arrivals.empty()) return;
  const Arrival& first = arrivals.front();
  u32 n = 0;
  for (const Arrival& a : arrivals) {
    n += a.threads;
    if (a.op == first.op || a.count != 0 || first.count != 0) continue;
    const Arrival *here = &first, *there = &a;
    if (here->op->index > there->op->index) std::swap(here, there);
    b.misused = true;
    if (Finding* f = finding_for("barrier-divergence", *here->op, there->op)) {
      f->thread = thread(block, here->warp, here->lanes);
      f->other_thread = thread(block, there->warp, there->lanes);
      f->message = fmt::format(
          "{} waits at the barrier at {}, but {} at another one, {}: all threads of a block "
          "must come to the same __syncthreads()",
          describe_thread(f->thread), one_line(f->where), describe_thread(f->other_thread),
          one_line(f->other_where));
    }
  }
  if (first.count == 0 && n < block.n_threads && b.exited && !b.misused) {
    // Hardware barriers count warps, so nothing goes wrong on a GPU if only whole warps have left.
    const bool whole_warps = std::ranges::all_of(block.warps, [&](const Warp& w) {
      return w.live == 0 || count_lanes(w.live) == std::min<u32>(block.n_threads - w.number * kLanes, kLanes);
    });
    if (Finding* f = finding_for(whole_warps ? "exit-of-warps" : "exit-before-barrier", *first.op)) {
      f->kind = "exit-before-barrier";
      if (whole_warps) f->severity = Severity::hint;
      f->thread = thread(block, first.warp, first.lanes);
      f->other_thread = thread_of(*launch_, block.linear, b.exit_thread);
      f->other_where = turning_place(*first.op, b);
      f->message = fmt::format(
          "the barrier at {} is not reached by all threads of the block: {} returns without it (decided at "
          "{}). {}",
          one_line(f->where), describe_thread(f->other_thread), one_line(f->other_where),
          whole_warps ? "Whole warps have left, which GPUs allow, but CUDA asks all threads of a block to "
                        "come to __syncthreads()"
                      : "A __syncthreads() must not follow a return of some threads, nor stand in an if or a "
                        "loop that only some enter");
    }
  }
  arrivals.clear();
}

// The position at which a thread decided to leave: the branch that led to a bare `ret`, or the `ret` itself.
std::vector<SourcePlace> Synccheck::exit_place(const BasicBlock& b, u32 from) const {
  const BasicBlock& last = b.first == b.last && from != Group::kNoBlock ? program_->blocks[from] : b;
  return places_of(*program_, last.function, last.ptx_index);
}

// The branch at which a thread turned away from a barrier: of those from which threads can come to it or
// leave without it, the one that the thread ran last, or that is the nearest to the barrier.
std::vector<SourcePlace> Synccheck::turning_place(const MicroOp& barrier, const BlockState& exited) const {
  const auto& blocks = program_->blocks;
  const auto holds = [&](const BasicBlock& b) { return b.first <= barrier.index && barrier.index < b.last; };
  const auto wall = static_cast<u32>(std::ranges::find_if(blocks, holds) - blocks.begin());
  const auto is_wall = [&](u32 b) { return b == wall; };
  const auto ends = [&](u32 b) { return b != wall && program_->successors(b).empty(); };
  const auto distance = [&](u32 b) {
    return b == exited.exit_from ? 0 : b <= wall ? wall - b + 1 : wall + b;  // farther than any before it
  };
  const BasicBlock* found = &blocks[exited.exit_block];
  for (u32 b = 0, least = ~0u; b < blocks.size(); ++b)
    if (distance(b) < least && leads_to(*program_, b, is_wall) && leads_to(*program_, b, ends, wall))
      found = &blocks[b], least = distance(b);
  return places_of(*program_, found->function, found->ptx_index);
}

void Synccheck::threads_exit(Warp& w, const Group& group, const BasicBlock& b) {
  Block& block = *w.block;
  BlockState& s = state(block);
  if (!s.exited) {
    s.exited = true;
    s.exit_thread = w.number * kLanes + static_cast<u32>(std::countr_zero(group.mask));
    s.exit_block = static_cast<u32>(&b - program_->blocks.data());
    s.exit_from = group.from;
  }
  // Whether other lanes of the warp wait for these lanes.
  for (const Group& g : w.groups) {
    if (g.wait != Wait::warp_sync) continue;
    const MicroOp& op = program_->ops[program_->blocks[g.block].first];
    const u32* members = w.slot<u32>(op.src[kMembers]);
    u32 wanted = 0;
    for (u32 m = g.mask; m != 0; m &= m - 1) wanted |= members[std::countr_zero(m)];
    if ((wanted & group.mask) == 0) continue;
    if (Finding* f = finding_for("mask-names-absent-lane", op)) {
      f->severity = Severity::hint;
      f->thread = thread(block, w.number, g.mask);
      f->other_thread = thread(block, w.number, wanted & group.mask);
      f->other_where = exit_place(b, group.from);
      f->message = fmt::format("{} {} at {} with the mask {:#010x}, but {} {} the kernel without calling it",
                               name_call(g.mask, w.number), name_of_op(op), one_line(f->where), wanted,
                               name_lanes(wanted & group.mask),
                               std::has_single_bit(wanted & group.mask) ? "leaves" : "leave");
    }
  }
}

// A deadlock: reports what each waiting group waits for. If lanes wait for others of their warp, these are
// also the ones that the barrier lacks, so the barrier is not reported.
void Synccheck::stuck(Block& block) {
  bool lanes_wait = false;
  for (const Warp& w : block.warps)
    for (const Group& g : w.groups) lanes_wait = lanes_wait || g.wait == Wait::warp_sync;
  for (Warp& w : block.warps) {
    for (const Group& g : w.groups) {
      const MicroOp& op = program_->ops[program_->blocks[g.block].first];
      if (g.wait == Wait::warp_sync) {
        u32 wanted = 0;
        const u32* members = w.slot<u32>(op.src[kMembers]);
        for (u32 m = g.mask; m != 0; m &= m - 1) wanted |= members[std::countr_zero(m)];
        wanted &= w.live & ~g.mask;
        const MicroOp* there = nullptr;
        bool at_barrier = false;
        for (const Group& other : w.groups)
          if ((other.mask & wanted) != 0) {
            there = &program_->ops[program_->blocks[other.block].first];
            at_barrier = other.wait == Wait::barrier;
          }
        if (Finding* f = finding_for("mask-names-absent-lane", op, there)) {
          f->severity = Severity::error;
          f->thread = thread(block, w.number, g.mask);
          if (wanted != 0) f->other_thread = thread(block, w.number, wanted);
          f->message = fmt::format(
              "{} {} at {} with a mask that names {}, which {} {}, {}: {}", name_call(g.mask, w.number),
              name_of_op(op), one_line(f->where), wanted != 0 ? name_lanes(wanted) : "others",
              std::has_single_bit(wanted) ? "waits" : "wait", at_barrier ? "at a barrier" : "elsewhere",
              one_line(f->other_where),
              at_barrier ? "all threads must come to the barrier, and all lanes of the mask to the call"
                         : "the mask must name exactly the lanes that make the call");
        }
      } else if (g.wait == Wait::barrier && !lanes_wait && !state(block).misused) {
        const Barrier& barrier = block.barriers[g.barrier];
        const u32 expected = barrier.expected != 0 ? barrier.expected : block.live_threads;
        if (Finding* f = finding_for("barrier-never-complete", op)) {
          f->thread = thread(block, w.number, g.mask);
          f->message = fmt::format("{} waits at {} for {} threads to come to barrier {}, but only {} do",
                                   describe_thread(f->thread), one_line(f->where), expected, g.barrier,
                                   barrier.arrived);
        }
      }
    }
  }
}

// --- warp-wide operations ----------------------------------------------------------------------------------

void Synccheck::warp_synced(Warp& w, u32 mask, const MicroOp& op) {
  check_masks(w, op, mask);
}

void Synccheck::check_masks(Warp& w, const MicroOp& op, u32 active) {
  if (op.src[kMembers] == MicroOp::kNoSlot) return;
  const u32* members = w.slot<u32>(op.src[kMembers]);
  if (lanes::all_equal(members, kAllLanes)) return;
  for (u32 m = active; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    const u32 mask = members[lane];
    if ((mask >> lane & 1) == 0) {
      if (Finding* f = finding_for("lane-not-in-mask", op)) {
        f->thread = thread(*w.block, w.number, m);
        f->message = fmt::format(
            "{} (lane {} of warp {}) calls {} at {} with the mask {:#010x}, which does not name it",
            describe_thread(f->thread), lane, w.number, name_of_op(op), one_line(f->where), mask);
      }
      return;
    }
    for (u32 others = mask & active; others != 0; others &= others - 1) {
      const int other = std::countr_zero(others);
      if (members[other] == mask) continue;
      if (Finding* f = finding_for("mask-mismatch", op)) {
        f->thread = thread(*w.block, w.number, m);
        f->other_thread = thread(*w.block, w.number, others);
        f->message = fmt::format(
            "lane {} of warp {} calls {} at {} with the mask {:#010x}, lane {} with {:#010x}: lanes "
            "that work together must give the same mask",
            lane, w.number, name_of_op(op), one_line(f->where), mask, other, members[other]);
      }
      return;
    }
  }
}

void Synccheck::before(Warp& w, const MicroOp& op) {
  switch (op.kind) {
    case OpKind::shuffle:
      check_masks(w, op, w.mask);
      shuffle(w, op);
      return;
    case OpKind::vote:
    case OpKind::reduce: check_masks(w, op, w.mask); break;
    default: break;
  }
  if (follows(w)) follow(w, op);
}

// --- undefined values --------------------------------------------------------------------------------------

const Synccheck::Undefined* Synccheck::find(const Warp& w, u32 slot) const {
  for (const Undefined& u : state(*w.block).undefined[w.number])
    if (u.slot == slot) return &u;
  return nullptr;
}

// Lanes `lanes` write a slot; those in `undefined` write an undefined value.
void Synccheck::assign(const Warp& w, u32 slot, u32 lanes, u32 undefined, const Undefined& like) {
  if (slot == MicroOp::kNoSlot) return;
  auto& list = state(*w.block).undefined[w.number];
  const auto it = std::ranges::find_if(list, [&](const Undefined& u) { return u.slot == slot; });
  if (it == list.end()) {
    if (undefined != 0) list.push_back({slot, undefined, like.origin, like.origin_lane});
    return;
  }
  it->lanes = (it->lanes & ~lanes) | undefined;
  if (undefined != 0) {
    it->origin = like.origin;
    it->origin_lane = like.origin_lane;
  }
  if (it->lanes == 0) list.erase(it);
}

// A tree over a block that goes on with shuffles has the same offset in every lane, so one is enough to see
// it.
void Synccheck::check_offset(Warp& w, const MicroOp& op) {
  const int lane = std::countr_zero(w.mask);
  const u32 offset = w.slot<u32>(op.src[1])[lane];
  if (offset < kLanes || static_cast<ShuffleMode>(op.imm) == ShuffleMode::index) return;
  Finding* const f = finding_for("shuffle-offset", op);
  if (f == nullptr) return;
  f->severity = Severity::hint;
  f->thread = thread(*w.block, w.number, w.mask);
  f->message = fmt::format(
      "the shuffle at {} has the offset {}, but a warp has {} lanes: only the lowest 5 bits count, so {}. "
      "Values of other warps come through shared memory",
      one_line(f->where), offset, kLanes,
      offset % kLanes == 0 ? "each lane gets its own value"
                           : fmt::format("the offset is {}", offset % kLanes));
}

// Finds out which lane each lane gets its value from.
void Synccheck::shuffle(Warp& w, const MicroOp& op) {
  check_offset(w, op);
  const Undefined* const in = follows(w) ? find(w, op.src[0]) : nullptr;
  if (in == nullptr && w.mask == kAllLanes && lanes::all_equal(w.slot<u32>(op.src[kMembers]), kAllLanes)) {
    if (follows(w)) assign(w, op.dst[0], w.mask, 0, {});
    return;
  }
  const u32* const members = w.slot<u32>(op.src[kMembers]);
  const LaneBits source = lanes_read(w, op);
  u32 inactive = 0, passed_on = 0;
  for (const int lane : EachLane{w.mask}) {
    const std::uint64_t from = source[static_cast<std::size_t>(lane)] % kLanes;
    if ((w.mask & members[lane]) >> from & 1) {
      if (in != nullptr && (in->lanes >> from & 1) != 0) passed_on |= 1u << lane;
    } else {
      inactive |= 1u << lane;
    }
  }
  Undefined like;
  if (passed_on != 0) like = *in;
  if (inactive != 0) like = {0, 0, &op, static_cast<u32>(std::countr_zero(inactive))};
  assign(w, op.dst[0], w.mask, inactive | passed_on, like);
  if (follows(w)) w.observed = ~0u;
}

void Synccheck::follow(Warp& w, const MicroOp& op) {
  Undefined like{};
  const auto undefined_in = [&](u32 slot) {
    const Undefined* u = slot == MicroOp::kNoSlot ? nullptr : find(w, slot);
    if (u == nullptr || (u->lanes & w.mask) == 0) return 0u;
    like = *u;
    return u->lanes & w.mask;
  };
  if (op.kind == OpKind::sync || op.kind == OpKind::fence) return;
  u32 lanes = undefined_in(op.guard);
  const bool selects = op.n_src == 3 && op.pred_src == 4;  // selp a, b, p: only the selected value counts
  if (selects) {
    const u32 p = w.predicate(op.src[2]);
    lanes |= (undefined_in(op.src[0]) & p) | (undefined_in(op.src[1]) & ~p) | undefined_in(op.src[2]);
  } else {
    for (const u32 slot : op.src) lanes |= undefined_in(slot);
  }
  if (op.kind == OpKind::store) lanes |= undefined_in(op.dst[3]);
  if (accesses_memory(op.kind)) {
    if (lanes != 0 && op.space != MemorySpace::local) used(w, op, like);
    lanes = 0;
    if (op.kind == OpKind::store) return;
  }
  if (lanes != 0 && (op.kind == OpKind::vote || op.kind == OpKind::reduce)) lanes = w.mask;
  for (const u32 slot : op.dst) assign(w, slot, w.mask, lanes, like);
}

void Synccheck::used(Warp& w, const MicroOp& op, const Undefined& value) {
  // Taken for a consequence, if a lane outside its own mask has been reported at this shuffle.
  if (reported_.contains({"lane-not-in-mask", {value.origin->index, ~0u}})) return;
  Finding* const f = finding_for("shuffle-from-inactive-lane", *value.origin);
  if (f == nullptr) return;
  f->thread = thread(*w.block, w.number, 1u << value.origin_lane);
  f->other_where = places_of(*program_, op);
  f->message = fmt::format(
      "{} (lane {} of warp {}) takes a value by the shuffle at {} from a lane that does not take "
      "part in it; the undefined value is used at {}",
      describe_thread(f->thread), value.origin_lane, w.number, one_line(f->where), one_line(f->other_where));
}

}  // namespace course::sim
