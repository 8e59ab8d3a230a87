// SPDX-License-Identifier: MIT
// Asynchronous copies, mbarriers, and the instructions of clusters.

#include <bit>

#include <algorithm>
#include <utility>

#include "sim/decode/decoder.hpp"
#include "sim/memory/memory.hpp"

namespace course::sim {

// The generic address of an operand [base + offset] in a given space, in a wide slot.
std::uint32_t Decoder::generic_address(const Operand& operand, Space space) {
  MicroOp place;
  address(operand, space, place);
  const std::uint64_t window = space == Space::shared  ? kSharedWindow
                               : space == Space::local ? kLocalWindow
                                                       : 0;
  const std::uint64_t offset = static_cast<std::uint64_t>(place.imm) + window;
  if (place.src[0] == MicroOp::kNoSlot) return constant(SlotKind::wide, offset);
  const bool was_helper = std::exchange(helper_, true);
  std::uint32_t base = place.src[0];
  if ((place.wide_src & 1) == 0) {
    const std::uint32_t widened = temporary(SlotKind::wide);
    simple("cvt.u64.u32", widened, {base});
    base = widened;
  }
  if (offset != 0) {
    const std::uint32_t sum = temporary(SlotKind::wide);
    simple("add.u64", sum, {base, constant(SlotKind::wide, offset)});
    base = sum;
  }
  helper_ = was_helper;
  return base;
}

namespace {

// The n-th state space in an instruction's modifiers, which is that of its n-th address.
Space space_named(const Instruction& i, int n) {
  for (const auto& m : i.modifiers) {
    const Space space = m == "global"             ? Space::global
                        : m.starts_with("shared") ? Space::shared
                                                  : Space::generic;
    if (space != Space::generic && n-- == 0) return space;
  }
  return Space::generic;
}

}  // namespace

// cp.async…
void Decoder::copy(const Instruction& i) {
  if (!i.has("async") || i.has("reduce") || i.has("tensor") || i.has("cp_mask") ||
      i.has("multicast::cluster"))
    unsupported();
  const bool bulk = i.has("bulk");
  const auto groups_left = [&]() -> std::int64_t {
    if (i.operands.at(0).kind != Operand::Kind::integer) unsupported("number of groups");
    return i.operands.at(0).integer;
  };
  if (i.has("prefetch")) return prefetch(i);
  if (i.has("commit_group"))
    return static_cast<void>(emit(bulk ? "cp.async.bulk.commit_group" : "cp.async.commit_group"));
  if (i.has("wait_all")) {
    emit("cp.async.wait_group").imm = -1;
    return;
  }
  if (i.has("wait_group")) {
    const std::int64_t left = groups_left();
    emit(bulk ? "cp.async.bulk.wait_group" : "cp.async.wait_group").imm = left;
    return;
  }
  if (i.has("mbarrier") && i.has("arrive")) {
    const std::uint32_t at = generic_address(i.operands.at(0), space_named(i, 0));
    mbarrier_op(i.has("noinc") ? "cp.async.mbarrier.arrive.noinc" : "cp.async.mbarrier.arrive", at, true);
    return;
  }
  if (bulk) return copy_bulk(i);

  if (i.operands.size() < 3 || i.operands.at(2).kind != Operand::Kind::integer) unsupported("size");
  const std::int64_t size = i.operands.at(2).integer;
  if (size != 4 && size != 8 && size != 16) unsupported("size");
  const std::uint32_t to = generic_address(i.operands.at(0), Space::shared);
  const std::uint32_t from = generic_address(i.operands.at(1), Space::global);
  std::uint32_t read = MicroOp::kNoSlot;
  const std::size_t policy = i.has("L2::cache_hint") ? 1 : 0;
  if (i.operands.size() > 3 + policy) {
    const Operand& extra = i.operands.at(3);
    if (extra.kind == Operand::Kind::reg &&
        register_kind(extra.index) == SlotKind::predicate) {  // ignore-src
      const bool was_helper = std::exchange(helper_, true);
      read = temporary(SlotKind::narrow);
      simple("selp.b32", read,
             {constant(SlotKind::narrow, 0), constant(SlotKind::narrow, static_cast<std::uint64_t>(size)),
              predicate_source(extra)});
      helper_ = was_helper;
    } else if (extra.kind != Operand::Kind::integer || extra.integer != size) {
      read = source(extra, SlotKind::narrow, Type::u32);
    }
  }
  MicroOp& op = emit("cp.async");
  op.src[0] = to;
  op.src[1] = from;
  op.src[2] = read;
  op.wide_src = 3;
  op.n_src = read == MicroOp::kNoSlot ? 2 : 3;
  op.space = MemorySpace::global;
  op.width = static_cast<std::uint8_t>(size);
}

// prefetch{.space}.level [a] · prefetchu.level [a] · cp.async.bulk.prefetch.L2.global [a], size. Prefetches
// of local and constant memory, parameters and tensor maps have no effect.
void Decoder::prefetch(const Instruction& i) {
  if (i.has("local") || i.has("const") || i.has("param") || i.has("tensormap"))
    return static_cast<void>(emit("fence"));
  const std::uint32_t from = generic_address(i.operands.at(0), Space::global);
  const std::uint32_t size =
      i.has("bulk") ? source(i.operands.at(1), SlotKind::narrow, Type::u32) : MicroOp::kNoSlot;
  MicroOp& op = emit("prefetch");
  op.src[0] = from;
  op.src[1] = size;
  op.n_src = size == MicroOp::kNoSlot ? 1 : 2;
  op.space = MemorySpace::global;
  op.prefetches = true;
  op.imm = i.has("L1") ? 1 : 2;
}

// cp.async.bulk.to.from.completion [to], [from], size[, [mbarrier]]
void Decoder::copy_bulk(const Instruction& i) {
  const Space to_space = space_named(i, 0), from_space = space_named(i, 1);
  if (to_space == Space::generic || from_space == Space::generic || i.operands.size() < 3) unsupported();
  const bool counted = i.has("mbarrier::complete_tx::bytes");
  if (counted ? i.operands.size() < 4 : !i.has("bulk_group")) unsupported();
  const std::uint32_t to = generic_address(i.operands.at(0), to_space);
  const std::uint32_t from = generic_address(i.operands.at(1), from_space);
  const std::uint32_t size = source(i.operands.at(2), SlotKind::narrow, Type::u32);
  const std::uint32_t barrier = counted ? generic_address(i.operands.at(3), Space::shared) : MicroOp::kNoSlot;
  MicroOp& op = emit("cp.async.bulk");
  op.src[0] = to;
  op.src[1] = from;
  op.src[2] = size;
  op.src[3] = barrier;
  op.wide_src = static_cast<std::uint8_t>(counted ? 0b1011 : 0b0011);
  op.n_src = counted ? 4 : 3;
  op.space = from_space == Space::global ? MemorySpace::global : MemorySpace::shared;
  op.width = 4;  // the unit for messages
}

// An op on the mbarrier at a generic address. `strong`: several threads may do this at the same time.
MicroOp& Decoder::mbarrier_op(std::string_view key, std::uint32_t at, bool strong) {
  MicroOp& op = emit(key);
  op.src[0] = at;
  op.wide_src |= 1;
  op.n_src = std::max<std::uint8_t>(op.n_src, 1);
  op.space = MemorySpace::generic;
  op.width = 8;
  op.order = strong ? kRelaxed | kScopeBlock : kWeak;
  return op;
}

// mbarrier.arrive[_drop][.noComplete | .expect_tx] [state,] [at][, count or bytes]
void Decoder::mbarrier_arrive(const Instruction& i) {
  const bool has_state = i.operands.at(0).kind != Operand::Kind::address;
  const std::size_t first = has_state ? 1 : 0;
  std::string key = i.has("arrive_drop") ? "mbarrier.arrive_drop" : "mbarrier.arrive";
  if (i.has("noComplete")) key += ".noComplete";
  const std::uint32_t at = generic_address(i.operands.at(first), space_named(i, 0));
  std::uint32_t extra = MicroOp::kNoSlot;
  if (i.operands.size() > first + 1) extra = source(i.operands.at(first + 1), SlotKind::narrow, Type::u32);
  Result out;
  if (has_state && i.operands.at(0).kind != Operand::Kind::sink)
    out = result(i.operands.at(0), SlotKind::wide, false);
  MicroOp& op = mbarrier_op(key, at, true);
  op.src[i.has("expect_tx") ? 2 : 1] = extra;
  op.dst[0] = out.slot;
  if (out.slot != MicroOp::kNoSlot) {
    op.n_dst = 1;
    op.wide_dst |= 1;
  }
  finish(out);
}

void Decoder::mbarrier(const Instruction& i) {
  if (i.has("arrive") || i.has("arrive_drop")) return mbarrier_arrive(i);
  if (i.has("pending_count")) {
    const std::uint32_t state = source(i.operands.at(1), SlotKind::wide, Type::b64);
    const Result out = result(i.operands.at(0), SlotKind::narrow, false);
    simple("mbarrier.pending_count", out.slot, {state});
    return finish(out);
  }
  if (i.has("test_wait") || i.has("try_wait")) {
    const bool parity = i.has("parity");
    const std::uint32_t at = generic_address(i.operands.at(1), space_named(i, 0));
    const std::uint32_t phase = parity ? source(i.operands.at(2), SlotKind::narrow, Type::u32)
                                       : source(i.operands.at(2), SlotKind::wide, Type::b64);
    const Result out = result(i.operands.at(0), SlotKind::predicate, false);
    MicroOp& op = mbarrier_op(parity ? "mbarrier.test_wait.parity" : "mbarrier.test_wait", at, true);
    op.src[1] = phase;
    op.dst[0] = out.slot;
    return;
  }
  const char* key = i.has("init")          ? "mbarrier.init"
                    : i.has("inval")       ? "mbarrier.inval"
                    : i.has("expect_tx")   ? "mbarrier.expect_tx"
                    : i.has("complete_tx") ? "mbarrier.complete_tx"
                                           : nullptr;
  if (key == nullptr) unsupported();
  const std::uint32_t at = generic_address(i.operands.at(0), space_named(i, 0));
  const std::uint32_t extra =
      i.operands.size() > 1 ? source(i.operands.at(1), SlotKind::narrow, Type::u32) : MicroOp::kNoSlot;
  mbarrier_op(key, at, !i.has("init")).src[1] = extra;
}

// mapa[.space].type d, a, rank · getctarank[.space].type d, a
void Decoder::map_address(const Instruction& i) {
  const Type type = last_type(i);
  const SlotKind kind = slot_kind_of(type);
  if (i.opcode == "getctarank") {
    const std::uint32_t at = source(i.operands.at(1), kind, type);
    const Result out = result(i.operands.at(0), SlotKind::narrow, false);
    const std::uint32_t part = temporary(SlotKind::narrow), other = temporary(SlotKind::predicate);
    const std::uint32_t own = special("%cluster_ctarank", SlotKind::narrow);
    simple(kind == SlotKind::wide ? "cvt.u32.u64" : "mov.narrow", part, {at});
    const bool was_helper = std::exchange(helper_, true);
    simple("shr.u32", part,
           {part, constant(SlotKind::narrow, static_cast<std::uint64_t>(std::countr_zero(kBlockPart)))});
    simple("setp.ne.u32", other, {part, constant(SlotKind::narrow, 0)});
    simple("sub.u32", part, {part, constant(SlotKind::narrow, 1)});
    simple("selp.b32", out.slot, {part, own, other});
    helper_ = was_helper;
    return finish(out);
  }
  const std::uint32_t from = source(i.operands.at(1), kind, type);
  const std::uint32_t rank = source(i.operands.at(2), SlotKind::narrow, Type::u32);
  const Result out = result(i.operands.at(0), kind, false);
  simple(kind == SlotKind::wide ? "mapa.u64" : "mapa.u32", out.slot,
         {from, rank, special("%cluster_ctarank", SlotKind::narrow)});
  finish(out);
}

}  // namespace course::sim
