// SPDX-License-Identifier: MIT
// Instructions that exchange values between the lanes of a warp: shuffle, vote, match, reduce. The run loop
// has ensured that all lanes of the member mask that have not exited are at this instruction.
// Source: NVIDIA, "PTX ISA", version 9.0, sections 9.7.9.6 (shfl), 9.7.13 (vote, match, redux, elect).
#include "sim/ops/rows.hpp"

namespace course::sim::SIM_ISA {

namespace {

constexpr int kMembers = 3;  // the source with the member mask

enum class Shuffle : u8 { up, down, butterfly, index };

// dst[0]: value, dst[1]: whether the source lane is in range (optional). src: a, b, c, members.
template <Shuffle S>
void shuffle(Warp& w, const MicroOp& op) {
  const u32* a = w.slot<u32>(op.src[0]);
  const u32* b = w.slot<u32>(op.src[1]);
  const u32* c = w.slot<u32>(op.src[2]);
  alignas(64) u32 value[kLanes], in_range[kLanes], source[kLanes];
  SIM_FOR_LANES(i) {
    const s32 lane = i;
    const s32 by = static_cast<s32>(b[i] & 0x1f);
    const s32 clamp = static_cast<s32>(c[i] & 0x1f), segment = static_cast<s32>(c[i] >> 8 & 0x1f);
    const s32 last = (lane & segment) | (clamp & ~segment), first = lane & segment;
    s32 from = 0;
    bool valid = false;
    if constexpr (S == Shuffle::up) {
      from = lane - by;
      valid = from >= last;
    }
    if constexpr (S == Shuffle::down) {
      from = lane + by;
      valid = from <= last;
    }
    if constexpr (S == Shuffle::butterfly) {
      from = lane ^ by;
      valid = from <= last;
    }
    if constexpr (S == Shuffle::index) {
      from = first | (by & ~segment);
      valid = from <= last;
    }
    source[i] = static_cast<u32>(valid ? from : lane) & 31;
    in_range[i] = valid ? ~0u : 0u;
  }
  SIM_FOR_LANES(i) value[i] = a[source[i]];  // a loop of its own, so that the other one is vectorised
  if (op.dst[0] != MicroOp::kNoSlot) write_lanes<u32>(w, op.dst[0], [&](int i) { return value[i]; });
  if (op.dst[1] != MicroOp::kNoSlot) {
    u32& out = w.predicate(op.dst[1]);
    out = (out & ~w.mask) | (mask_of(in_range) & w.mask);
  }
}

// Calls `each(lane, peers)` for the active lanes; `peers` are the active lanes of the lane's member mask.
template <typename Each>
inline void for_members(Warp& w, const MicroOp& op, const Each& each) {
  const u32* members = w.slot<u32>(op.src[kMembers]);
  for (const int i : EachLane{w.mask}) {
    each(i, members[i] & w.mask);
  }
}

inline void set_predicate(Warp& w, u32 slot, u32 value) {
  if (slot == MicroOp::kNoSlot) return;
  u32& out = w.predicate(slot);
  out = (out & ~w.mask) | (value & w.mask);
}

enum class Vote : u8 { all, any, uniform };

template <Vote V>
void vote(Warp& w, const MicroOp& op) {
  const u32 p = w.predicate(op.src[0]);
  u32 result = 0;
  for_members(w, op, [&](int i, u32 peers) {
    const bool holds = V == Vote::all   ? (p & peers) == peers
                       : V == Vote::any ? (p & peers) != 0
                                        : (p & peers) == peers || (p & peers) == 0;
    result |= static_cast<u32>(holds) << i;
  });
  set_predicate(w, op.dst[0], result);
}

void ballot(Warp& w, const MicroOp& op) {
  const u32 p = w.predicate(op.src[0]);
  u32* out = w.slot<u32>(op.dst[0]);
  for_members(w, op, [&](int i, u32 peers) { out[i] = p & peers; });
}

void active_mask(Warp& w, const MicroOp& op) {
  // Lanes that have taken different paths may come together again, or not: a schedule's seed decides.
  const bool splits = w.went_apart && !w.worker->counting;
  const u32 part = splits ? std::rotl(~u32{0} >> w.first_lane / 2, static_cast<int>(w.first_lane)) : ~u32{0};
  write_lanes<u32>(w, op.dst[0],
                   [=, mask = w.mask](int i) { return mask & ((part >> i & 1) != 0 ? part : ~part); });
}

template <typename T>
void match_any(Warp& w, const MicroOp& op) {
  const auto* a = w.slot<Stored<T>>(op.src[0]);
  alignas(64) u32 result[kLanes] = {};
  for_members(w, op, [&](int i, u32 peers) {
    for (u32 m = peers; m != 0; m &= m - 1)
      if (a[std::countr_zero(m)] == a[i]) result[i] |= m & -m;
  });
  write_lanes<u32>(w, op.dst[0], [&](int i) { return result[i]; });
}

template <typename T>
void match_all(Warp& w, const MicroOp& op) {
  const auto* a = w.slot<Stored<T>>(op.src[0]);
  alignas(64) u32 result[kLanes] = {};
  u32 equal = 0;
  for_members(w, op, [&](int i, u32 peers) {
    bool same = true;
    for (u32 m = peers; m != 0; m &= m - 1) same = same && a[std::countr_zero(m)] == a[i];
    if (!same) return;
    result[i] = peers;
    equal |= 1u << i;
  });
  write_lanes<u32>(w, op.dst[0], [&](int i) { return result[i]; });
  set_predicate(w, op.dst[1], equal);
}

template <typename Op, typename T>
void reduce(Warp& w, const MicroOp& op) {
  const u32* a = w.slot<u32>(op.src[0]);
  alignas(64) u32 result[kLanes] = {};
  u32 peers_of_last = 0, value_of_last = 0;
  for_members(w, op, [&](int i, u32 peers) {
    if (peers != peers_of_last && peers != 0) {  // none: the mask does not name the lane itself
      T value = from_stored<T>(a[std::countr_zero(peers)]);
      for (u32 m = peers & (peers - 1); m != 0; m &= m - 1)
        value = Op::of(value, from_stored<T>(a[std::countr_zero(m)]));
      peers_of_last = peers;
      value_of_last = to_stored<T>(value);
    }
    result[i] = value_of_last;
  });
  write_lanes<u32>(w, op.dst[0], [&](int i) { return result[i]; });
}

void elect(Warp& w, const MicroOp& op) {
  alignas(64) u32 leader[kLanes] = {};
  u32 elected = 0;
  for_members(w, op, [&](int i, u32 peers) {
    if (peers == 0) return;  // the mask does not name the lane itself
    leader[i] = static_cast<u32>(std::countr_zero(peers));
    if (leader[i] == static_cast<u32>(i)) elected |= 1u << i;
  });
  if (op.dst[0] != MicroOp::kNoSlot) write_lanes<u32>(w, op.dst[0], [&](int i) { return leader[i]; });
  set_predicate(w, op.dst[1], elected);
}

// Barriers are handled before their op runs.
void nothing(Warp&, const MicroOp&) {}

enum class BarrierResult : u8 { all, any, count };

// src[1]: the barrier's number (uniform).
template <BarrierResult R>
void barrier_result(Warp& w, const MicroOp& op) {
  const u32 number = w.slot<u32>(op.src[1])[std::countr_zero(w.mask)] & 15;
  const Barrier& barrier = w.block->barriers[number];
  if constexpr (R == BarrierResult::count)
    write_lanes<u32>(w, op.dst[0], [n = barrier.result_count](int) { return n; });
  else
    set_predicate(w, op.dst[0],
                  (R == BarrierResult::all ? barrier.result_and : barrier.result_or) ? ~0u : 0u);
}

}  // namespace

void add_warp_rows(OpTable& table) {
  PlainRows r{table};
  r.row("shfl.up", &shuffle<Shuffle::up>, OpKind::shuffle);
  r.row("shfl.down", &shuffle<Shuffle::down>, OpKind::shuffle);
  r.row("shfl.bfly", &shuffle<Shuffle::butterfly>, OpKind::shuffle);
  r.row("shfl.idx", &shuffle<Shuffle::index>, OpKind::shuffle);
  r.row("vote.all", &vote<Vote::all>, OpKind::vote);
  r.row("vote.any", &vote<Vote::any>, OpKind::vote);
  r.row("vote.uni", &vote<Vote::uniform>, OpKind::vote);
  r.row("vote.ballot", &ballot, OpKind::vote);
  r.row("activemask", &active_mask, OpKind::vote);
  r.row("match.any.b32", &match_any<u32>, OpKind::vote);
  r.row("match.any.b64", &match_any<u64>, OpKind::vote);
  r.row("match.all.b32", &match_all<u32>, OpKind::vote);
  r.row("match.all.b64", &match_all<u64>, OpKind::vote);
  r.row("redux.add.u32", &reduce<alu::Add, u32>, OpKind::reduce);
  r.row("redux.add.s32", &reduce<alu::Add, s32>, OpKind::reduce);
  r.row("redux.min.u32", &reduce<alu::Min, u32>, OpKind::reduce);
  r.row("redux.min.s32", &reduce<alu::Min, s32>, OpKind::reduce);
  r.row("redux.max.u32", &reduce<alu::Max, u32>, OpKind::reduce);
  r.row("redux.max.s32", &reduce<alu::Max, s32>, OpKind::reduce);
  r.row("redux.and.b32", &reduce<alu::And, u32>, OpKind::reduce);
  r.row("redux.or.b32", &reduce<alu::Or, u32>, OpKind::reduce);
  r.row("redux.xor.b32", &reduce<alu::Xor, u32>, OpKind::reduce);
  r.row("elect", &elect, OpKind::vote);
  r.row("barrier", &nothing, OpKind::sync);
  r.row("warp_barrier", &nothing, OpKind::sync);
  r.row("fence", &nothing, OpKind::fence);
  r.row("barrier.red.and", &barrier_result<BarrierResult::all>, OpKind::sync);
  r.row("barrier.red.or", &barrier_result<BarrierResult::any>, OpKind::sync);
  r.row("barrier.red.popc", &barrier_result<BarrierResult::count>, OpKind::sync);
}

}  // namespace course::sim::SIM_ISA
