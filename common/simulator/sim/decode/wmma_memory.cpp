// SPDX-License-Identifier: MIT
// Loads and stores of wmma, decoded as ordinary ones, so that observers of memory see these. The distribution
// of elements: ops/fragment.hpp.
// Source: NVIDIA, "PTX ISA", version 9.0, section 9.7.15.4.
#include <fmt/format.h>

#include <map>
#include <utility>

#include "sim/decode/matrix.hpp"

namespace course::sim {

// wmma.load.{a,b,c}.sync.aligned.layout.shape[.space].type {r, …}, [p][, stride]
// wmma.store.d.… [p], {r, …}[, stride]
// Lines (rows or columns) lie `stride` elements apart. An element's index is linear in the lane's group and
// in its index within the group.
struct Decoder::FragmentAccess {
  bool store, by_rows;
  Fragment fragment;
  std::vector<Operand> registers;
  std::vector<std::uint32_t> values = {};   // to be stored
  std::map<int, std::uint32_t> lines = {};  // the lane's address in each line
  int line_of(Cell c) const { return by_rows ? c.row : c.column; }
  int along_of(Cell c) const { return by_rows ? c.column : c.row; }
  int bits() const { return element_bits(fragment.element); }
  SlotKind kind() const { return kind_of(fragment.element); }
  // Whether one access moves a whole register: its elements lie next to each other.
  bool whole() const {
    return fragment.in_register() == 1 || line_of(fragment.cell(0, 0, 1)) == line_of(fragment.cell(0, 0, 0));
  }
  int bytes() const { return !whole() ? bits() / 8 : kind() == SlotKind::wide ? 8 : 4; }
};

Decoder::FragmentAccess Decoder::fragment_access(const Instruction& i) const {
  const bool store = i.has("store"), by_rows = i.has("row");
  MatrixForm form;
  const std::vector<Element> types = elements_of(i);
  if (types.size() != 1 || !read_shape(i, form) || (by_rows == i.has("col"))) unsupported();
  const Part part = i.has("a") ? Part::a : i.has("b") ? Part::b : Part::c;
  if (part == Part::a || part == Part::b) {
    form.a = form.b = types[0];
    if (!is_wmma(form)) unsupported("not supported: this shape with this type");
  }
  const FragmentAccess f{store, by_rows, {form, part, types[0]}, parts_of(i.operands.at(store ? 1 : 0))};
  const auto n = static_cast<std::size_t>(f.fragment.registers());
  if (n == 0 || f.registers.size() % n != 0 || (part == Part::c && f.registers.size() != n))
    unsupported(fmt::format("{} registers where {} are needed", f.registers.size(), n));
  return f;
}

// Emits a row of two sources, and returns the slot of its result.
std::uint32_t Decoder::calculate(std::string_view key, SlotKind kind, std::uint32_t x, std::uint32_t y) {
  const std::uint32_t out = temporary(kind);
  simple(key, out, {x, y});
  return out;
}

// The lane's address in each line of which it has an element.
std::map<int, std::uint32_t> Decoder::line_addresses(const Instruction& i, const FragmentAccess& f) {
  const Fragment& fragment = f.fragment;
  const auto number = [&](int v) { return constant(SlotKind::wide, static_cast<std::uint64_t>(v)); };
  const auto wide = [&](std::string_view key, std::uint32_t x, std::uint32_t y) {
    return calculate(key, SlotKind::wide, x, y);
  };
  // Addresses and strides are in bytes.
  const std::uint32_t base = generic_address(i.operands.at(f.store ? 0 : 1), access_of(i).space);
  std::uint32_t stride = i.operands.size() > 2 ? source(i.operands.at(2), SlotKind::wide, Type::u32)
                                               : number(f.by_rows ? fragment.columns() : fragment.rows());
  stride = wide("mul.lo.u64", stride, number(f.bits()));
  simple("shr.u64", stride, {stride, constant(SlotKind::narrow, 3)});
  Operand lane_number;
  lane_number.kind = Operand::Kind::special;
  lane_number.name = "%laneid";
  const std::uint32_t lane = source(lane_number, SlotKind::wide, Type::u32);
  const std::uint32_t group = wide("shr.u64", lane, constant(SlotKind::narrow, 2));
  const std::uint32_t turn = wide("and.b64", lane, number(3));
  // Lane 1 is the next lane of a group, lane 4 the first of the next group. Compute how far these are apart,
  // in lines and within a line.
  const auto lane_part = [&](int (FragmentAccess::*coordinate)(Cell) const) {
    const int origin = (f.*coordinate)(fragment.cell(0, 0, 0));
    const int by_turn = (f.*coordinate)(fragment.cell(1, 0, 0)) - origin;
    const int by_group = (f.*coordinate)(fragment.cell(4, 0, 0)) - origin;
    return wide("mul.lo.u64", by_turn != 0 ? turn : group, number(by_turn != 0 ? by_turn : by_group));
  };
  const std::uint32_t along = wide("mul.lo.u64", lane_part(&FragmentAccess::along_of), number(f.bits()));
  simple("shr.u64", along, {along, constant(SlotKind::narrow, 3)});
  const std::uint32_t first = wide("add.u64", wide("add.u64", base, along),
                                   wide("mul.lo.u64", lane_part(&FragmentAccess::line_of), stride));
  std::map<int, std::uint32_t> lines{{0, first}};
  for (int r = 0; r < fragment.registers(); ++r)
    for (int j = 0; j < fragment.in_register(); ++j)
      if (const int line = f.line_of(fragment.cell(0, r, j)); !lines.contains(line))
        lines[line] = wide("add.u64", first, wide("mul.lo.u64", stride, number(line)));
  return lines;
}

// Loads or stores `slot`: element j of register r, and those after it if one access moves the register.
void Decoder::access_element(const FragmentAccess& f, std::size_t r, int j, std::uint32_t slot) {
  const int bytes = f.bytes();
  // Registers from fragment.registers() on repeat the same elements.
  const Cell c = f.fragment.cell(0, static_cast<int>(r) % f.fragment.registers(), j);
  MicroOp& op = plain_access(fmt::format("{}.generic.u{}", f.store ? "st" : "ld", 8 * bytes),
                             f.lines.at(f.line_of(c)), true, f.along_of(c) * f.bits() / 8, bytes);
  op.space = MemorySpace::generic;
  (f.store ? op.src[1] : op.dst[0]) = slot;
  if (bytes == 8) (f.store ? op.wide_src : op.wide_dst) |= f.store ? 2 : 1;
}

std::uint32_t Decoder::shifted(const char* key, std::uint32_t x, int by) {
  return calculate(key, SlotKind::narrow, x, constant(SlotKind::narrow, static_cast<std::uint64_t>(by)));
}

void Decoder::load_elements(const FragmentAccess& f, std::size_t r) {
  const Result out = result(f.registers[r], f.kind(), false);
  if (f.whole()) {
    access_element(f, r, 0, out.slot);
  } else {
    std::uint32_t word = MicroOp::kNoSlot;
    for (int j = 0; j < f.fragment.in_register(); ++j) {
      const std::uint32_t part = temporary(SlotKind::narrow);
      access_element(f, r, j, part);
      word =
          j == 0 ? part : calculate("or.b32", SlotKind::narrow, word, shifted("shl.b32", part, j * f.bits()));
    }
    simple("mov.narrow", out.slot, {word});
  }
  finish(out);
}

void Decoder::access_fragment(const Instruction& i) {
  FragmentAccess f = fragment_access(i);
  const bool was_helper = std::exchange(helper_, true);
  if (f.store)
    for (const Operand& r : f.registers)
      f.values.push_back(source(r, f.kind(), f.kind() == SlotKind::wide ? Type::f64 : Type::b32));
  f.lines = line_addresses(i, f);
  open_sync_block();
  helper_ = false;
  emit("warp_barrier").src[3] = constant(SlotKind::narrow, kAllLanes);
  helper_ = true;
  for (std::size_t r = 0; r < f.registers.size(); ++r) {
    if (!f.store) {
      load_elements(f, r);
      continue;
    }
    for (int j = 0; j < (f.whole() ? 1 : f.fragment.in_register()); ++j)
      access_element(f, r, j, j == 0 ? f.values[r] : shifted("shr.u32", f.values[r], j * f.bits()));
  }
  helper_ = was_helper;
}

}  // namespace course::sim
