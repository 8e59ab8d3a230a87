// SPDX-License-Identifier: MIT
// Instructions that several threads execute together: barriers, shuffles, votes, matches, reductions.
#include <fmt/format.h>

#include <algorithm>

#include "sim/decode/decoder.hpp"
#include "sim/machine/control_flow.hpp"

namespace course::sim {

// bar.sync a[, b] · bar.arrive a, b · bar.red.op d, a[, b], [!]c · bar.warp.sync mask
void Decoder::barrier(const Instruction& i) {
  if (i.has("warp")) {
    const std::uint32_t members = source(i.operands.at(0), SlotKind::narrow, Type::b32);
    open_sync_block();
    emit("warp_barrier").src[3] = members;
    return;
  }
  if (i.has("cluster")) {
    open_sync_block();
    block().entry = Entry::barrier;
    emit("barrier").imm = i.has("arrive") ? kClusterArrive : kClusterWait;
    return;
  }
  const bool reduces = i.has("red"), arrives = i.has("arrive");
  const std::size_t first = reduces ? 1 : 0;
  const std::uint32_t number = source(i.operands.at(first), SlotKind::narrow, Type::u32);
  std::uint32_t count = MicroOp::kNoSlot;
  std::size_t next = first + 1;
  const bool has_count = i.operands.size() > next + (reduces ? 1 : 0);
  if (has_count) count = source(i.operands.at(next++), SlotKind::narrow, Type::u32);
  std::uint32_t p = MicroOp::kNoSlot;
  Result out;
  std::string key = "barrier";
  if (reduces) {
    p = predicate_source(i.operands.at(next));
    key = i.has("popc") ? "barrier.red.popc" : i.has("and") ? "barrier.red.and" : "barrier.red.or";
    out = result(i.operands.at(0), i.has("popc") ? SlotKind::narrow : SlotKind::predicate, false);
  }
  open_sync_block();
  block().entry = Entry::barrier;
  MicroOp& op = emit(key);
  op.src[0] = p;
  op.src[1] = number;
  op.src[2] = count;
  op.dst[0] = out.slot;
  op.imm = reduces ? kBarrierReduce : arrives ? kBarrierArrive : kBarrierSync;
  if (p != MicroOp::kNoSlot) op.pred_src |= 1;
  finish(out);
}

// The mask of the lanes that take part. Without .sync, which PTX had before version 6.4 and still has for
// chips before sm_70, they are the active ones.
std::uint32_t Decoder::members_of(const Instruction& i, std::size_t operand) {
  if (i.has("sync")) return source(i.operands.at(operand), SlotKind::narrow, Type::b32);
  const bool old_version = std::pair(module_.version_major, module_.version_minor) < std::pair(6, 4);
  if (!old_version && module_.compute_capability() >= 70)
    unsupported("from PTX 6.4 on, there is no form without .sync for sm_70 and later chips");
  const bool was_helper = std::exchange(helper_, true);
  const std::uint32_t active = temporary(SlotKind::narrow);
  emit("activemask").dst[0] = active;
  helper_ = was_helper;
  return active;
}

// shfl.sync.mode.b32 d[|p], a, b, c, members
void Decoder::shuffle(const Instruction& i) {
  const ShuffleMode mode = i.has("up")     ? ShuffleMode::up
                           : i.has("down") ? ShuffleMode::down
                           : i.has("bfly") ? ShuffleMode::butterfly
                                           : ShuffleMode::index;
  static constexpr const char* kKeys[] = {"shfl.up", "shfl.down", "shfl.bfly", "shfl.idx"};
  const bool pair = i.operands.at(0).kind == Operand::Kind::pair;
  const Operand& value = pair ? i.operands.at(0).parts.at(0) : i.operands.at(0);
  std::uint32_t slots[4];
  for (std::size_t k = 0; k < 3; ++k) slots[k] = source(i.operands.at(1 + k), SlotKind::narrow, Type::b32);
  slots[3] = members_of(i, 4);
  open_sync_block();
  const Result out = result(value, SlotKind::narrow, false);
  const Result valid = pair ? result(i.operands.at(0).parts.at(1), SlotKind::predicate, false) : Result{};
  MicroOp& op = emit(kKeys[static_cast<int>(mode)]);
  op.imm = static_cast<std::int64_t>(mode);
  op.dst[0] = out.slot;
  op.dst[1] = valid.slot;
  std::copy_n(slots, 4, op.src);
  op.n_src = 3;
  op.n_dst = 1;
  if (pair) op.pred_dst |= 2;
  finish(out);
}

// vote.sync.{all,any,uni}.pred p, [!]a, members · vote.sync.ballot.b32 d, [!]a, members
void Decoder::vote(const Instruction& i) {
  const bool ballot = i.has("ballot");
  const char* key = ballot         ? "vote.ballot"
                    : i.has("all") ? "vote.all"
                    : i.has("any") ? "vote.any"
                                   : "vote.uni";
  const std::uint32_t a = predicate_source(i.operands.at(1));
  const std::uint32_t members = members_of(i, 2);
  open_sync_block();
  const Result out = result(i.operands.at(0), ballot ? SlotKind::narrow : SlotKind::predicate, false);
  MicroOp& op = emit(key);
  op.dst[0] = out.slot;
  op.src[0] = a;
  op.src[3] = members;
  op.pred_src |= 1;
  op.n_src = 1;
  op.n_dst = 1;
  if (!ballot) op.pred_dst |= 1;
  finish(out);
}

void Decoder::match(const Instruction& i) {
  const Type type = last_type(i);
  const SlotKind kind = slot_kind_of(type);
  const bool pair = i.operands.at(0).kind == Operand::Kind::pair;
  const std::uint32_t a = source(i.operands.at(1), kind, type);
  const std::uint32_t members = source(i.operands.at(2), SlotKind::narrow, Type::b32);
  open_sync_block();
  const Result out = result(pair ? i.operands.at(0).parts.at(0) : i.operands.at(0), SlotKind::narrow, false);
  const Result equal = pair ? result(i.operands.at(0).parts.at(1), SlotKind::predicate, false) : Result{};
  MicroOp& op = emit(fmt::format("match.{}.b{}", i.has("any") ? "any" : "all", ptx::bits_of(type)));
  op.dst[0] = out.slot;
  op.dst[1] = equal.slot;
  op.src[0] = a;
  op.src[3] = members;
  op.n_src = 1;
  op.n_dst = 1;
  if (kind == SlotKind::wide) op.wide_src |= 1;
  if (pair) op.pred_dst |= 2;
  finish(out);
}

void Decoder::warp_reduce(const Instruction& i) {
  std::string key = "redux";
  for (const auto& m : i.modifiers)
    if (m != "sync") key += "." + std::string(m);
  const std::uint32_t a = source(i.operands.at(1), SlotKind::narrow, last_type(i));
  const std::uint32_t members = source(i.operands.at(2), SlotKind::narrow, Type::b32);
  open_sync_block();
  const Result out = result(i.operands.at(0), SlotKind::narrow, is_signed(last_type(i)));
  MicroOp& op = emit(key);
  op.dst[0] = out.slot;
  op.src[0] = a;
  op.src[3] = members;
  op.n_src = 1;
  op.n_dst = 1;
  finish(out);
}

void Decoder::elect(const Instruction& i) {
  const Operand& to = i.operands.at(0);
  const std::uint32_t members = source(i.operands.at(1), SlotKind::narrow, Type::b32);
  open_sync_block();
  const bool pair = to.kind == Operand::Kind::pair;
  const Result leader = pair ? result(to.parts.at(0), SlotKind::narrow, false) : Result{};
  const Result elected = result(pair ? to.parts.at(1) : to, SlotKind::predicate, false);
  MicroOp& op = emit("elect");
  op.dst[0] = leader.slot;
  op.dst[1] = elected.slot;
  op.src[3] = members;
  op.n_dst = 1;
  op.pred_dst |= 2;
  finish(leader);
}

}  // namespace course::sim
