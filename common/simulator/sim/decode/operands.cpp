// SPDX-License-Identifier: MIT
// Operands as slots: registers, immediates, special registers, symbols, addresses; conversions between
// widths.
#include <bit>
#include <utility>

#include "sim/decode/decoder.hpp"
#include "sim/memory/memory.hpp"

namespace course::sim {

// The slot of an operand that is read as `kind`; `type` is the type of an immediate,
// and says whether a narrower register is sign-extended.
std::uint32_t Decoder::source(const Operand& operand, SlotKind kind, Type type) {
  switch (operand.kind) {
    case Operand::Kind::reg: {
      if (kind == SlotKind::predicate) return predicate_source(operand);
      if (operand.integer != 0) return sum(operand, kind, type);
      const SlotKind have = register_kind(operand.index);
      const std::uint32_t slot = register_slot(operand.index);
      if (have == kind) return slot;
      if (have == SlotKind::predicate) unsupported(operand, "a predicate where a value is expected");
      const bool was_helper = std::exchange(helper_, true);
      const std::uint32_t converted = temporary(kind);
      simple(kind == SlotKind::wide ? (is_signed(type) ? "cvt.s64.s32" : "cvt.u64.u32") : "cvt.u32.u64",
             converted, {slot});
      helper_ = was_helper;
      return converted;
    }
    case Operand::Kind::integer: {
      if (type == Type::f32)
        return constant(kind, std::bit_cast<std::uint32_t>(static_cast<float>(operand.integer)));
      if (type == Type::f64)
        return constant(kind, std::bit_cast<std::uint64_t>(static_cast<double>(operand.integer)));
      return constant(kind, static_cast<std::uint64_t>(operand.integer));
    }
    case Operand::Kind::real32: {
      const auto bits = static_cast<std::uint32_t>(operand.integer);
      if (kind == SlotKind::wide && type == Type::f64)
        return constant(kind, std::bit_cast<std::uint64_t>(static_cast<double>(std::bit_cast<float>(bits))));
      return constant(kind, bits);
    }
    case Operand::Kind::real64: {
      const auto bits = static_cast<std::uint64_t>(operand.integer);
      if (kind == SlotKind::narrow)
        return constant(kind, std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(bits))));
      return constant(kind, bits);
    }
    case Operand::Kind::special: {
      const bool was_helper = std::exchange(helper_, true);
      std::uint32_t slot;
      SlotKind have = SlotKind::narrow;
      if (operand.name == "%clock64" || operand.name == "%globaltimer" || operand.name == "%clock" ||
          operand.name == "%clock_hi" || operand.name == "%globaltimer_lo" ||
          operand.name == "%globaltimer_hi") {
        const bool wide = operand.name == "%clock64" || operand.name == "%globaltimer";
        have = wide ? SlotKind::wide : SlotKind::narrow;
        slot = temporary(have);
        simple(operand.name.substr(1), slot, {});
      } else if (operand.name == "WARP_SZ") {
        slot = constant(SlotKind::narrow, 32);
      } else {
        slot = special(operand.name, SlotKind::narrow);
      }
      if (kind != have) {
        const std::uint32_t converted = temporary(kind);
        simple(kind == SlotKind::wide ? "cvt.u64.u32" : "cvt.u32.u64", converted, {slot});
        slot = converted;
      }
      helper_ = was_helper;
      return slot;
    }
    case Operand::Kind::symbol: {
      if (!is_in_frame(operand.name))
        return constant(kind, symbol_value(operand.name) + static_cast<std::uint64_t>(operand.integer));
      const bool was_helper = std::exchange(helper_, true);
      const std::uint64_t offset = frame_offset(operand.name) + static_cast<std::uint64_t>(operand.integer);
      const std::uint32_t narrow = temporary(SlotKind::narrow);
      simple("add.u32", narrow, {program_.frame_slot, constant(SlotKind::narrow, offset)});
      std::uint32_t slot = narrow;
      if (kind == SlotKind::wide) simple("cvt.u64.u32", slot = temporary(SlotKind::wide), {narrow});
      helper_ = was_helper;
      return slot;
    }
    case Operand::Kind::vector: unsupported(operand, "a vector where a single value is expected");
    case Operand::Kind::address: unsupported(operand, "an address in brackets where a value is expected");
    default: unsupported(operand, "not a value that this instruction can read");
  }
}

// register + constant
std::uint32_t Decoder::sum(const Operand& operand, SlotKind kind, Type type) {
  const Type own = source_->registers[static_cast<std::size_t>(operand.index)].type;
  if (own == Type::f16 || own == Type::f32 || own == Type::f64)
    unsupported(operand, "the sum of a constant and a register of floats");
  Operand alone = operand;
  alone.integer = 0;
  const std::uint32_t slot = source(alone, kind, type);
  const bool was_helper = std::exchange(helper_, true);
  const std::uint32_t added = temporary(kind);
  simple(kind == SlotKind::wide ? "add.u64" : "add.u32", added,
         {slot, constant(kind, static_cast<std::uint64_t>(operand.integer))});
  helper_ = was_helper;
  return added;
}

std::uint32_t Decoder::predicate_source(const Operand& operand) {
  if (operand.kind == Operand::Kind::integer)
    return constant(SlotKind::predicate, static_cast<std::uint64_t>(operand.integer) ^ operand.negated);
  if (operand.kind != Operand::Kind::reg || operand.integer != 0 ||
      register_kind(operand.index) != SlotKind::predicate)
    unsupported(operand, "a predicate is expected");
  const std::uint32_t slot = register_slot(operand.index);
  if (!operand.negated) return slot;
  const bool was_helper = std::exchange(helper_, true);
  const std::uint32_t negated = temporary(SlotKind::predicate);
  simple("not.pred", negated, {slot});
  helper_ = was_helper;
  return negated;
}

Decoder::Result Decoder::result(const Operand& operand, SlotKind kind, bool sign_extends) {
  if (operand.kind == Operand::Kind::sink || operand.kind == Operand::Kind::none)
    return {temporary(kind), MicroOp::kNoSlot, nullptr};
  if (operand.kind == Operand::Kind::vector)
    unsupported(operand, "a vector where a single register is expected");
  if (operand.kind != Operand::Kind::reg || operand.integer != 0)
    unsupported(operand, "a register is expected");
  const SlotKind have = register_kind(operand.index);
  const std::uint32_t slot = register_slot(operand.index);
  if (have == kind) return {slot, MicroOp::kNoSlot, nullptr};
  if (have == SlotKind::predicate || kind == SlotKind::predicate)
    unsupported(operand, "a register of this type cannot take the result");
  const char* convert = kind == SlotKind::wide ? "cvt.u32.u64" : sign_extends ? "cvt.s64.s32" : "cvt.u64.u32";
  return {temporary(kind), slot, convert};
}

void Decoder::finish(const Result& r) {
  if (r.convert == nullptr) return;
  const bool was_helper = std::exchange(helper_, true);
  simple(r.convert, r.target, {r.slot});
  helper_ = was_helper;
}

// Fills src[0] and imm from an address operand.
void Decoder::address(const Operand& operand, Space space, MicroOp& op) {
  op.imm = operand.integer;
  if (operand.kind == Operand::Kind::integer) return;
  if (operand.kind == Operand::Kind::reg || (operand.kind == Operand::Kind::address && operand.index >= 0)) {
    const bool wide = register_kind(operand.index) == SlotKind::wide;
    op.src[0] = register_slot(operand.index);
    if (wide) op.wide_src |= 1;
    return;
  }
  if (operand.name.empty()) return;  // an absolute address
  if (is_in_frame(operand.name)) {
    op.src[0] = program_.frame_slot;
    op.imm += frame_offset(operand.name);
    return;
  }
  std::uint64_t base = symbol_value(operand.name);
  if (space == Space::generic && shared_offsets_.contains(operand.name)) base += kSharedWindow;
  op.imm += static_cast<std::int64_t>(base);
}

}  // namespace course::sim
