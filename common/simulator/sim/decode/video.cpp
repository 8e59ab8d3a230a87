// SPDX-License-Identifier: MIT
// Video instructions: modifiers and selectors, encoded for ops/video_rows.cpp.
#include "sim/ops/video.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "sim/decode/decoder.hpp"

namespace course::sim {
namespace {

using Op = VideoForm::Op;

struct Name {
  Op op;
  std::uint8_t lanes;
};

const Name* video_name(std::string_view opcode) {
  static const std::map<std::string, Name, std::less<>> kNames = [] {
    std::map<std::string, Name, std::less<>> names;
    const std::pair<const char*, Op> ops[] = {
        {"vadd", Op::add}, {"vsub", Op::sub}, {"vabsdiff", Op::difference},
        {"vmin", Op::min}, {"vmax", Op::max}, {"vset", Op::set}};
    for (const auto& [name, op] : ops)
      for (const std::uint8_t lanes : std::initializer_list<std::uint8_t>{1, 2, 4})
        names.emplace(lanes == 1 ? std::string(name) : name + std::to_string(lanes), Name{op, lanes});
    names.emplace("vshl", Name{Op::shl, 1});
    names.emplace("vshr", Name{Op::shr, 1});
    names.emplace("vmad", Name{Op::mad, 1});
    names.emplace("vavrg2", Name{Op::average, 2});
    names.emplace("vavrg4", Name{Op::average, 4});
    return names;
  }();
  const auto it = kNames.find(opcode);
  return it == kNames.end() ? nullptr : &it->second;
}

// Parses "b2", "h1" or "".
std::optional<std::uint8_t> part_of(std::string_view name) {
  if (name.empty()) return VideoForm::whole;
  if (name.size() != 2 || name[1] < '0') return std::nullopt;
  const auto k = static_cast<std::uint8_t>(name[1] - '0');
  if (name[0] == 'b' && k < 4) return static_cast<std::uint8_t>(VideoForm::byte0 + k);
  if (name[0] == 'h' && k < 2) return static_cast<std::uint8_t>(VideoForm::half0 + k);
  return std::nullopt;
}

// Parses "b3210", "h10": the source position of each lane, the highest lane first. If empty, lane k comes
// from position k, for the second operand from position lanes + k.
std::optional<std::uint16_t> places_named(std::string_view name, int lanes, bool second) {
  std::uint16_t places = 0;
  if (!name.empty() && (name[0] != (lanes == 2 ? 'h' : 'b') || static_cast<int>(name.size()) != lanes + 1))
    return std::nullopt;
  for (int k = 0; k < lanes; ++k) {
    const int place =
        name.empty() ? k + (second ? lanes : 0) : name[static_cast<std::size_t>(lanes - k)] - '0';
    if (place < 0 || place >= 2 * lanes) return std::nullopt;
    places = static_cast<std::uint16_t>(places | place << 4 * k);
  }
  return places;
}

// Parses a set of lanes: "b20" is lanes 0 and 2.
std::optional<std::uint8_t> lanes_named(std::string_view name, int lanes) {
  if (name.empty()) return static_cast<std::uint8_t>((1 << lanes) - 1);
  std::uint8_t mask = 0;
  for (const char c : name.substr(1)) {
    if (c < '0' || c >= '0' + lanes) return std::nullopt;
    mask = static_cast<std::uint8_t>(mask | 1 << (c - '0'));
  }
  return mask;
}

}  // namespace

// vop.dtype.atype.btype[.sat][.op2] d[.dsel], a[.asel], b[.bsel][, c]; vmad with signs and .po; vset without
// dtype
bool Decoder::video(const Instruction& i) {
  const Name* const name = video_name(i.opcode);
  if (name == nullptr) return false;
  VideoForm f;
  f.op = name->op;
  f.lanes = name->lanes;
  const bool sets = f.op == Op::set;
  if (i.types.size() != (sets ? 2u : 3u) && !(sets && f.lanes > 1 && i.types.size() == 2))
    unsupported("types");
  const std::size_t first = sets ? 0 : 1;
  f.a_signed = is_signed(i.types[first]);
  f.b_signed = is_signed(i.types[first + 1]);
  f.d_signed = !sets && is_signed(i.types[0]);
  f.saturate = i.has("sat");
  f.wrap = i.has("wrap");
  f.plus_one = i.has("po");
  f.scale = i.has("shr7") ? 7 : i.has("shr15") ? 15 : 0;
  f.second = i.has("add")                      ? VideoForm::Second::add
             : i.has("min") && f.op != Op::min ? VideoForm::Second::min
             : i.has("max") && f.op != Op::max ? VideoForm::Second::max
                                               : VideoForm::Second::none;
  static constexpr const char* kComparisons[] = {"eq", "ne", "lt", "le", "gt", "ge"};
  for (std::size_t k = 0; k < std::size(kComparisons); ++k)
    if (i.has(kComparisons[k])) f.compare = static_cast<VideoForm::Compare>(k);

  if (i.operands.size() < 3) unsupported("number of operands");
  const Operand &d = i.operands.at(0), &a = i.operands.at(1), &b = i.operands.at(2);
  if (f.lanes == 1) {
    const auto da = part_of(d.name), aa = part_of(a.name), ba = part_of(b.name);
    if (!da || !aa || !ba) unsupported("selector");
    f.d_select = *da;
    f.a_select = *aa;
    f.b_select = *ba;
  } else {
    const auto mask = lanes_named(d.name, f.lanes);
    const auto aa = places_named(a.name, f.lanes, false), ba = places_named(b.name, f.lanes, true);
    if (!mask || !aa || !ba) unsupported("selector");
    f.d_select = *mask;
    f.a_select = *aa;
    f.b_select = *ba;
  }
  const bool has_c = i.operands.size() > 3;
  if (f.op == Op::mad && !has_c) unsupported("number of operands");
  f.negate_product = a.negated != b.negated;
  f.negate_c = has_c && i.operands.at(3).negated;
  const std::uint32_t in[3] = {
      source(a, SlotKind::narrow, Type::u32), source(b, SlotKind::narrow, Type::u32),
      has_c ? source(i.operands.at(3), SlotKind::narrow, Type::u32) : constant(SlotKind::narrow, 0)};
  const Result out = result(d, SlotKind::narrow, f.d_signed);
  MicroOp& op = emit(f.op == Op::mad ? "video.mad" : f.lanes == 1 ? "video.scalar" : "video.simd");
  op.imm = f.packed();
  std::copy_n(in, 3, op.src);
  op.dst[0] = out.slot;
  finish(out);
  return true;
}

}  // namespace course::sim
