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
void Decoder::access_fragment(const Instruction& i) {
  const bool store = i.has("store"), by_rows = i.has("row");
  MatrixForm form;
  const std::vector<Element> types = elements_of(i);
  if (types.size() != 1 || !read_shape(i, form) || (by_rows == i.has("col"))) unsupported();
  const Element element = types[0];
  const Part part = i.has("a") ? Part::a : i.has("b") ? Part::b : Part::c;
  if (part == Part::a || part == Part::b) {
    form.a = form.b = element;
    if (!is_wmma(form)) unsupported("not supported: this shape with this type");
  }
  const Fragment fragment{form, part, element};
  const int bits = element_bits(element), in_register = fragment.in_register();
  const std::vector<Operand> registers = parts_of(i.operands.at(store ? 1 : 0));
  const auto n = static_cast<std::size_t>(fragment.registers());
  if (n == 0 || registers.size() % n != 0 || (part == Part::c && registers.size() != n))
    unsupported(fmt::format("{} registers where {} are needed", registers.size(), n));
  const auto line_of = [&](Cell c) { return by_rows ? c.row : c.column; };
  const auto along_of = [&](Cell c) { return by_rows ? c.column : c.row; };
  const bool whole = in_register == 1 || line_of(fragment.cell(0, 0, 1)) == line_of(fragment.cell(0, 0, 0));
  if (!whole && bits < 8) unsupported("not supported: this layout of elements smaller than a byte");

  const Access a = access_of(i);
  const SlotKind kind = kind_of(element);
  const bool was_helper = std::exchange(helper_, true);
  const auto number = [&](std::uint64_t v) { return constant(SlotKind::wide, v); };
  const auto calculate = [&](const char* key, std::uint32_t x, std::uint32_t y) {
    const std::uint32_t out = temporary(SlotKind::wide);
    simple(key, out, {x, y});
    return out;
  };
  std::vector<std::uint32_t> values;
  if (store)
    for (const Operand& r : registers)
      values.push_back(source(r, kind, kind == SlotKind::wide ? Type::f64 : Type::b32));
  // Addresses and strides are in bytes.
  const std::uint32_t base = generic_address(i.operands.at(store ? 0 : 1), a.space);
  const std::uint64_t dense = static_cast<std::uint64_t>(by_rows ? fragment.columns() : fragment.rows());
  std::uint32_t stride =
      i.operands.size() > 2 ? source(i.operands.at(2), SlotKind::wide, Type::u32) : number(dense);
  stride = calculate("mul.lo.u64", stride, number(static_cast<std::uint64_t>(bits)));
  simple("shr.u64", stride, {stride, constant(SlotKind::narrow, 3)});
  Operand lane_number;
  lane_number.kind = Operand::Kind::special;
  lane_number.name = "%laneid";
  const std::uint32_t lane = source(lane_number, SlotKind::wide, Type::u32);
  const std::uint32_t group = temporary(SlotKind::wide);
  simple("shr.u64", group, {lane, constant(SlotKind::narrow, 2)});
  const std::uint32_t turn = calculate("and.b64", lane, number(3));
  // Lane 1 is the next lane of a group, lane 4 the first of the next group. Compute how far these are apart,
  // in lines and within a line.
  const auto lane_part = [&](const auto& coordinate) {
    const Cell origin = fragment.cell(0, 0, 0);
    const int by_turn = coordinate(fragment.cell(1, 0, 0)) - coordinate(origin);
    const int by_group = coordinate(fragment.cell(4, 0, 0)) - coordinate(origin);
    return calculate("mul.lo.u64", by_turn != 0 ? turn : group,
                     number(static_cast<std::uint64_t>(by_turn != 0 ? by_turn : by_group)));
  };
  std::uint32_t along =
      calculate("mul.lo.u64", lane_part(along_of), number(static_cast<std::uint64_t>(bits)));
  simple("shr.u64", along, {along, constant(SlotKind::narrow, 3)});
  const std::uint32_t first = calculate("add.u64", calculate("add.u64", base, along),
                                        calculate("mul.lo.u64", lane_part(line_of), stride));
  std::map<int, std::uint32_t> lines{{0, first}};
  for (std::size_t r = 0; r < n; ++r)
    for (int j = 0; j < in_register; ++j) {
      const int line = line_of(fragment.cell(0, static_cast<int>(r), j));
      if (lines.contains(line)) continue;
      lines[line] = calculate("add.u64", first,
                              calculate("mul.lo.u64", stride, number(static_cast<std::uint64_t>(line))));
    }
  open_sync_block();
  helper_ = false;
  emit("warp_barrier").src[3] = constant(SlotKind::narrow, kAllLanes);
  helper_ = true;
  const auto access = [&](std::size_t r, int j, std::uint32_t value, int bytes) {
    const Cell c = fragment.cell(0, static_cast<int>(r), j);
    MicroOp& op = plain_access(fmt::format("{}.generic.u{}", store ? "st" : "ld", 8 * bytes),
                               lines.at(line_of(c)), true, along_of(c) * bits / 8, bytes);
    op.space = MemorySpace::generic;
    (store ? op.src[1] : op.dst[0]) = value;
    if (bytes == 8) (store ? op.wide_src : op.wide_dst) |= store ? 2 : 1;
  };
  const int register_bytes = kind == SlotKind::wide ? 8 : 4;
  const auto shifted = [&](const char* key, std::uint32_t x, int by) {
    const std::uint32_t out = temporary(SlotKind::narrow);
    simple(key, out, {x, constant(SlotKind::narrow, static_cast<std::uint64_t>(by))});
    return out;
  };
  for (std::size_t r = 0; r < registers.size(); ++r) {
    if (store) {
      for (int j = 0; j < (whole ? 1 : in_register); ++j)
        access(r, j, j == 0 ? values[r] : shifted("shr.u32", values[r], j * bits),
               whole ? register_bytes : bits / 8);
      continue;
    }
    const Result out = result(registers[r], kind, false);
    if (whole) {
      access(r % n, 0, out.slot, register_bytes);  // registers from n on repeat the same elements
    } else {
      std::uint32_t word = MicroOp::kNoSlot;
      for (int j = 0; j < in_register; ++j) {
        const std::uint32_t part_slot = temporary(SlotKind::narrow);
        access(r % n, j, part_slot, bits / 8);
        if (j == 0) {
          word = part_slot;
          continue;
        }
        const std::uint32_t both = temporary(SlotKind::narrow);
        simple("or.b32", both, {word, shifted("shl.b32", part_slot, j * bits)});
        word = both;
      }
      simple("mov.narrow", out.slot, {word});
    }
    finish(out);
  }
  helper_ = was_helper;
}

}  // namespace course::sim
