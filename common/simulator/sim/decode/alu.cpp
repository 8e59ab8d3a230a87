// SPDX-License-Identifier: MIT
// Moves, packing and unpacking, comparisons: instructions whose operands are not simply one destination and
// its sources.
#include <fmt/format.h>

#include <bit>
#include <tuple>

#include "sim/decode/decoder.hpp"

namespace course::sim {

void Decoder::move(const Instruction& i) {
  const Type type = last_type(i);
  const Operand& to = i.operands.at(0);
  const Operand& from = i.operands.at(1);
  if (i.has("v2") || i.has("v4")) return move_vector(to, from, type);
  if (ptx::bits_of(type) == 128) return move_double_wide(to, from);
  if (to.kind == Operand::Kind::vector) return unpack(to.parts, from, type);
  if (from.kind == Operand::Kind::vector) return pack(to, from.parts, type);
  const SlotKind kind = slot_kind_of(type);
  const std::uint32_t in = source(from, kind, type);
  const Result out = result(to, kind, is_signed(type));
  simple(kind == SlotKind::predicate ? "mov.pred"
         : kind == SlotKind::wide    ? "mov.wide"
                                     : "mov.narrow",
         out.slot, {in});
  finish(out);
}

// mov.v2.type and mov.v4.type d, a: between vectors of registers or registers in braces, or from a special
// register with four components.
void Decoder::move_vector(const Operand& to, const Operand& from, Type type) {
  const std::size_t n = current_->has("v4") ? 4 : 2;
  if (to.kind != Operand::Kind::vector || to.parts.size() != n)
    unsupported(to, fmt::format("a vector of {} registers is expected", n));
  std::vector<Operand> sources = from.parts;
  if (from.kind == Operand::Kind::special) {
    for (const char* part : {".x", ".y", ".z"}) {
      sources.push_back(from);
      names_.push_back(std::string(from.name) + part);
      sources.back().name = names_.back();
    }
    Operand none;
    none.kind = Operand::Kind::integer;  // the fourth component is always 0
    sources.push_back(none);
    sources.resize(n);
  } else if (from.kind != Operand::Kind::vector || sources.size() != n) {
    unsupported(from, fmt::format("a vector of {} values is expected", n));
  }
  const SlotKind kind = slot_kind_of(type);
  const std::string key = kind == SlotKind::wide ? "mov.wide" : "mov.narrow";
  std::vector<std::uint32_t> copies;  // copy first, because the destination may contain source registers
  for (const Operand& part : sources) {
    const std::uint32_t in = part.kind == Operand::Kind::sink ? constant(kind, 0) : source(part, kind, type);
    helper_ = true;
    copies.push_back(temporary(kind));
    simple(key, copies.back(), {in});
  }
  for (std::size_t k = 0; k < n; ++k) {
    helper_ = k > 0;
    const Result out = result(to.parts[k], kind, is_signed(type));
    simple(key, out.slot, {copies[k]});
    helper_ = true;
    finish(out);
  }
  helper_ = false;
}

void Decoder::move_double_wide(const Operand& to, const Operand& from) {
  std::uint32_t in[2];
  if (from.kind == Operand::Kind::vector && from.parts.size() == 4) {
    for (std::size_t k = 0; k < 2; ++k) {
      in[k] = temporary(SlotKind::wide);
      simple("pack.b64", in[k],
             {source(from.parts[2 * k], SlotKind::narrow, Type::b32),
              source(from.parts[2 * k + 1], SlotKind::narrow, Type::b32)});
      helper_ = true;
    }
    helper_ = false;
  } else if (from.kind == Operand::Kind::vector) {
    if (from.parts.size() != 2) unsupported(from, "two 64-bit or four 32-bit values are expected");
    for (std::size_t k = 0; k < 2; ++k) in[k] = source(from.parts.at(k), SlotKind::wide, Type::b64);
  } else {
    std::tie(in[0], in[1]) = double_wide(from);
  }
  if (to.kind != Operand::Kind::vector) {
    const auto [low, high] = double_wide(to);
    simple("mov.wide", low, {in[0]});
    helper_ = true;
    simple("mov.wide", high, {in[1]});
    helper_ = false;
    return;
  }
  if (to.parts.size() == 4) {
    for (std::size_t k = 0; k < 4; ++k) {
      if (to.parts[k].kind == Operand::Kind::sink) continue;
      const Result out = result(to.parts[k], SlotKind::narrow, false);
      simple(k % 2 == 0 ? "cvt.u32.u64" : "high.b64", out.slot, {in[k / 2]});
      helper_ = true;
      finish(out);
    }
    helper_ = false;
    return;
  }
  if (to.parts.size() != 2) unsupported(to, "two 64-bit or four 32-bit registers are expected");
  for (std::size_t k = 0; k < 2; ++k) {
    helper_ = k > 0;
    const Result out = result(to.parts.at(k), SlotKind::wide, false);
    simple("mov.wide", out.slot, {in[k]});
    finish(out);
  }
  helper_ = false;
}

// Element 0 is the low part.
void Decoder::pack(const Operand& to, const std::vector<Operand>& parts, Type type) {
  const SlotKind kind = slot_kind_of(type);
  const Result out = result(to, kind, false);
  const int part_bits = ptx::bits_of(type) / static_cast<int>(parts.size());
  // A sink (_) as a source has the value 0.
  const auto part = [&](std::size_t k) {
    return parts.at(k).kind == Operand::Kind::sink ? constant(SlotKind::narrow, 0)
                                                   : source(parts.at(k), SlotKind::narrow, Type::b32);
  };
  if (kind == SlotKind::wide && parts.size() == 2) {
    simple("pack.b64", out.slot, {part(0), part(1)});
    return finish(out);
  }
  const bool wide = kind == SlotKind::wide;
  std::uint32_t gathered = MicroOp::kNoSlot;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    helper_ = k + 1 < parts.size();
    const std::uint32_t raw = part(k);
    std::uint32_t piece = temporary(kind);
    const std::string narrow_type = part_bits == 8 ? "u8" : "u16";
    simple((wide ? "cvt.u64." : "cvt.u32.") + narrow_type, piece, {raw});
    if (k > 0) {
      const std::uint32_t shifted = temporary(kind),
                          merged = k + 1 < parts.size() ? temporary(kind) : out.slot;
      simple(wide ? "shl.b64" : "shl.b32", shifted,
             {piece, constant(SlotKind::narrow, static_cast<std::uint64_t>(part_bits) * k)});
      simple(wide ? "or.b64" : "or.b32", merged, {gathered, shifted});
      piece = merged;
    }
    gathered = piece;
  }
  helper_ = false;
  finish(out);
}

void Decoder::unpack(const std::vector<Operand>& parts, const Operand& from, Type type) {
  const SlotKind kind = slot_kind_of(type);
  const bool wide = kind == SlotKind::wide;
  std::uint32_t in = source(from, kind, type);
  const int part_bits = ptx::bits_of(type) / static_cast<int>(parts.size());
  {  // a destination may be the source register itself
    helper_ = true;
    const std::uint32_t copy = temporary(kind);
    simple(wide ? "mov.wide" : "mov.narrow", copy, {in});
    in = copy;
    helper_ = false;
  }
  for (std::size_t k = 0; k < parts.size(); ++k) {
    if (parts.at(k).kind == Operand::Kind::sink) continue;
    helper_ = k > 0;
    const Result out = result(parts.at(k), SlotKind::narrow, false);
    if (wide && parts.size() == 2) {
      simple(k == 0 ? "cvt.u32.u64" : "high.b64", out.slot, {in});
    } else {
      std::uint32_t shifted = in;
      if (k > 0) {
        shifted = temporary(kind);
        simple(wide ? "shr.u64" : "shr.u32", shifted,
               {in, constant(SlotKind::narrow, static_cast<std::uint64_t>(part_bits) * k)});
      }
      const std::string narrow_type = part_bits == 8 ? "u8" : "u16";
      simple("cvt." + narrow_type + (wide ? ".u64" : ".u32"), out.slot, {shifted});
    }
    helper_ = true;
    finish(out);
  }
  helper_ = false;
}

namespace {

// From the modifiers of setp and set: the row's key, and the operation with the predicate operand.
struct Comparison {
  std::string key = "setp", boolean;
};
Comparison comparison_of(const Instruction& i, bool has_result_type) {
  Comparison c;
  bool seen_result_type = !has_result_type;
  for (const auto& m : i.modifiers) {
    if (m == "and" || m == "or" || m == "xor") {
      c.boolean = m;
    } else if (!seen_result_type && m == ptx::spelling(first_type(i))) {
      seen_result_type = true;
    } else {
      c.key += "." + std::string(m);
    }
  }
  return c;
}

}  // namespace

// The slots of the low and the high half of an operand, each in the low bits of a slot.
std::pair<std::uint32_t, std::uint32_t> Decoder::halves(const Operand& operand) {
  const std::uint32_t low = source(operand, SlotKind::narrow, Type::b32);
  const bool was_helper = std::exchange(helper_, true);
  const std::uint32_t high = temporary(SlotKind::narrow);
  simple("shr.u32", high, {low, constant(SlotKind::narrow, 16)});
  helper_ = was_helper;
  return {low, high};
}

// Compares operands 1 and 2 and returns the slots of the predicates: one, or two for pairs of halves. With a
// Boolean operation they are combined with operand 3. If `wants_opposite`, `opposite` gets the negation of
// the first comparison, combined in the same way.
std::vector<std::uint32_t> Decoder::compared(const Instruction& i, bool has_result_type, bool wants_opposite,
                                             std::uint32_t* opposite) {
  Comparison c = comparison_of(i, has_result_type);
  const Type type = last_type(i);
  std::vector<std::uint32_t> holds;
  std::uint32_t third = MicroOp::kNoSlot;
  if (is_half_pair(type)) {
    c.key.resize(c.key.size() - 2);  // x2
    const auto [a0, a1] = halves(i.operands.at(1));
    const auto [b0, b1] = halves(i.operands.at(2));
    holds = {temporary(SlotKind::predicate), temporary(SlotKind::predicate)};
    simple(c.key, holds[0], {a0, b0});
    helper_ = true;
    simple(c.key, holds[1], {a1, b1});
  } else {
    const OpRow& r = row(c.key);
    const std::uint32_t a = source(i.operands.at(1), r.sources[0], type),
                        b = source(i.operands.at(2), r.sources[1], type);
    holds = {temporary(SlotKind::predicate)};
    simple(c.key, holds[0], {a, b});
  }
  helper_ = true;
  if (!c.boolean.empty()) third = predicate_source(i.operands.at(3));
  if (wants_opposite) {
    *opposite = temporary(SlotKind::predicate);
    simple("not.pred", *opposite, {holds[0]});
    if (!c.boolean.empty()) {
      const std::uint32_t both = temporary(SlotKind::predicate);
      simple(c.boolean + ".pred", both, {*opposite, third});
      *opposite = both;
    }
  }
  if (!c.boolean.empty())
    for (std::uint32_t& h : holds) {
      const std::uint32_t both = temporary(SlotKind::predicate);
      simple(c.boolean + ".pred", both, {h, third});
      h = both;
    }
  helper_ = false;
  return holds;
}

// setp.cmp[.boolop][.ftz].type p[|q], a, b[, c]
void Decoder::compare(const Instruction& i) {
  const Operand& to = i.operands.at(0);
  const Type type = last_type(i);
  const bool pair = to.kind == Operand::Kind::pair;
  const bool plain = !pair && i.operands.size() == 3 && !is_half_pair(type);
  if (plain) {
    const std::string key = comparison_of(i, false).key;
    const OpRow& r = row(key);
    const std::uint32_t a = source(i.operands.at(1), r.sources[0], type),
                        b = source(i.operands.at(2), r.sources[1], type);
    return simple(key, result(to, SlotKind::predicate, false).slot, {a, b});
  }
  std::uint32_t opposite = MicroOp::kNoSlot;
  const auto holds = compared(i, false, pair && !is_half_pair(type), &opposite);
  helper_ = true;
  simple("mov.pred", result(pair ? to.parts.at(0) : to, SlotKind::predicate, false).slot, {holds[0]});
  if (pair)
    simple("mov.pred", result(to.parts.at(1), SlotKind::predicate, false).slot,
           {is_half_pair(type) ? holds[1] : opposite});
  helper_ = false;
}

// set.cmp[.boolop][.ftz].dtype.stype d, a, b[, c]: all ones or 1.0 if the comparison is true. Pairs set each
// half to 0xffff or 1.0.
void Decoder::set(const Instruction& i) {
  const Type to = first_type(i);
  const auto holds = compared(i, true, false, nullptr);
  const bool pairs = holds.size() == 2;
  const std::uint64_t yes = to == Type::f32                          ? std::bit_cast<std::uint32_t>(1.0f)
                            : to == Type::f16 || to == Type::f16x2   ? 0x3c00u
                            : to == Type::bf16 || to == Type::bf16x2 ? 0x3f80u
                            : pairs || to == Type::u16               ? 0xffffu
                                                                     : 0xffffffffu;
  if (is_half_pair(to) && !pairs) unsupported("comparison of single values into a pair");
  helper_ = true;
  const std::uint32_t zero = constant(SlotKind::narrow, 0);
  const Result out = result(i.operands.at(0), SlotKind::narrow, is_signed(to));
  if (!pairs) {
    simple("selp.b32", out.slot, {constant(SlotKind::narrow, yes), zero, holds[0]});
  } else {
    const std::uint32_t low = temporary(SlotKind::narrow), high = temporary(SlotKind::narrow);
    simple("selp.b32", low, {constant(SlotKind::narrow, yes), zero, holds[0]});
    simple("selp.b32", high, {constant(SlotKind::narrow, yes << 16), zero, holds[1]});
    simple("or.b32", out.slot, {low, high});
  }
  finish(out);
  helper_ = false;
}

// lop3.boolop.b32 d|p, a, b, c, table, q: p is (d != 0), combined with q.
void Decoder::logic_with_predicate(const Instruction& i) {
  const std::string boolean = i.has("and") ? "and.pred" : i.has("or") ? "or.pred" : "xor.pred";
  const Operand& to = i.operands.at(0);
  if (to.kind != Operand::Kind::pair) unsupported("destination form");
  std::uint32_t in[4];
  for (std::size_t k = 0; k < 4; ++k) in[k] = source(i.operands.at(k + 1), SlotKind::narrow, Type::b32);
  const Result value = result(to.parts.at(0), SlotKind::narrow, false);
  simple("lop3.b32", value.slot, {in[0], in[1], in[2], in[3]});
  helper_ = true;
  const std::uint32_t any = temporary(SlotKind::predicate);
  simple("setp.ne.b32", any, {value.slot, constant(SlotKind::narrow, 0)});
  simple(boolean, result(to.parts.at(1), SlotKind::predicate, false).slot,
         {any, predicate_source(i.operands.at(5))});
  finish(value);
  helper_ = false;
}

}  // namespace course::sim
