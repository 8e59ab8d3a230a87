// SPDX-License-Identifier: MIT
// Moves, packing and unpacking, comparisons: arithmetic whose operands are not simply one destination and its sources.
#include <bit>

#include "sim/decode/decoder.hpp"

namespace course::sim {

void Decoder::move(const Instruction& i) {
  const Type type = i.types.back();
  const Operand& to = i.operands[0];
  const Operand& from = i.operands[1];
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

// Little end first: element 0 is the low part.
void Decoder::pack(const Operand& to, const std::vector<Operand>& parts, Type type) {
  const SlotKind kind = slot_kind_of(type);
  const Result out = result(to, kind, false);
  const int part_bits = ptx::bits_of(type) / static_cast<int>(parts.size());
  if (kind == SlotKind::wide && parts.size() == 2) {
    simple("pack.b64", out.slot,
           {source(parts[0], SlotKind::narrow, Type::b32), source(parts[1], SlotKind::narrow, Type::b32)});
    return finish(out);
  }
  const bool wide = kind == SlotKind::wide;
  std::uint32_t gathered = MicroOp::kNoSlot;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    helper_ = k + 1 < parts.size();
    const std::uint32_t raw = source(parts[k], SlotKind::narrow, Type::b32);
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
  {  // a destination may be the register taken apart
    helper_ = true;
    const std::uint32_t copy = temporary(kind);
    simple(wide ? "mov.wide" : "mov.narrow", copy, {in});
    in = copy;
    helper_ = false;
  }
  for (std::size_t k = 0; k < parts.size(); ++k) {
    if (parts[k].kind == Operand::Kind::sink) continue;
    helper_ = k > 0;
    const Result out = result(parts[k], SlotKind::narrow, false);
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

// setp.cmp[.boolop][.ftz].type p[|q], a, b[, c]
void Decoder::compare(const Instruction& i) {
  std::string key = "setp", boolean;
  for (const auto& m : i.modifiers) {
    if (m == "and" || m == "or" || m == "xor")
      boolean = m;
    else
      key += "." + std::string(m);
  }
  const OpRow& r = row(key);
  const Type type = i.types.back();
  const std::uint32_t a = source(i.operands[1], r.sources[0], type),
                      b = source(i.operands[2], r.sources[1], type);
  const bool pair = i.operands[0].kind == Operand::Kind::pair;
  const Operand& first = pair ? i.operands[0].parts[0] : i.operands[0];
  const Result p = result(first, SlotKind::predicate, false);
  if (!pair && boolean.empty()) return simple(key, p.slot, {a, b});
  const std::uint32_t compared = temporary(SlotKind::predicate);
  simple(key, compared, {a, b});
  helper_ = true;
  std::uint32_t c = MicroOp::kNoSlot;
  if (!boolean.empty()) c = predicate_source(i.operands[3]);
  helper_ = true;
  if (pair) {
    const Result q = result(i.operands[0].parts[1], SlotKind::predicate, false);
    const std::uint32_t opposite = temporary(SlotKind::predicate);
    simple("not.pred", opposite, {compared});
    if (boolean.empty())
      simple("mov.pred", q.slot, {opposite});
    else {
      const std::uint32_t keep = temporary(SlotKind::predicate);  // c may be one of the results
      simple("mov.pred", keep, {c});
      c = keep;
      simple(boolean + ".pred", q.slot, {opposite, c});
    }
  }
  if (boolean.empty())
    simple("mov.pred", p.slot, {compared});
  else
    simple(boolean + ".pred", p.slot, {compared, c});
  helper_ = false;
}

// set.cmp[.boolop][.ftz].dtype.stype d, a, b[, c]: all ones or 1.0 where the comparison holds.
void Decoder::set(const Instruction& i) {
  std::string key = "setp", boolean;
  const Type to = i.types.front(), from = i.types.back();
  bool seen_type = false;
  for (const auto& m : i.modifiers) {
    if (m == "and" || m == "or" || m == "xor") {
      boolean = m;
    } else if (!seen_type && m == ptx::spelling(to)) {
      seen_type = true;
    } else {
      key += "." + std::string(m);
    }
  }
  const OpRow& r = row(key);
  const std::uint32_t a = source(i.operands[1], r.sources[0], from),
                      b = source(i.operands[2], r.sources[1], from);
  std::uint32_t holds = temporary(SlotKind::predicate);
  simple(key, holds, {a, b});
  helper_ = true;
  if (!boolean.empty()) {
    const std::uint32_t c = predicate_source(i.operands[3]);
    helper_ = true;
    const std::uint32_t both = temporary(SlotKind::predicate);
    simple(boolean + ".pred", both, {holds, c});
    holds = both;
  }
  const Result out = result(i.operands[0], SlotKind::narrow, is_signed(to));
  const std::uint64_t yes = to == Type::f32 ? std::bit_cast<std::uint32_t>(1.0f) : 0xffffffffu;
  simple("selp.b32", out.slot, {constant(SlotKind::narrow, yes), constant(SlotKind::narrow, 0), holds});
  finish(out);
  helper_ = false;
}

}  // namespace course::sim
