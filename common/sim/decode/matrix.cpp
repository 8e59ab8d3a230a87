// SPDX-License-Identifier: MIT
// Matrices that a warp holds in its registers: mma and wmma multiply them (ops/matrix_rows.cpp); ldmatrix, stmatrix and
// wmma's loads and stores are taken apart into ordinary loads and stores, so that whoever watches memory sees them as those.
// Where elements lie: ../fragment.hpp.
// Source: NVIDIA, "PTX ISA", version 9.0, section 9.7.15.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "sim/decode/decoder.hpp"
#include "sim/fragment.hpp"

namespace course::sim {

namespace {

constexpr std::array<std::pair<std::string_view, Element>, 13> kElements{{{"f16", Element::f16},
                                                                          {"bf16", Element::bf16},
                                                                          {"tf32", Element::tf32},
                                                                          {"f32", Element::f32},
                                                                          {"f64", Element::f64},
                                                                          {"s32", Element::s32},
                                                                          {"s8", Element::s8},
                                                                          {"u8", Element::u8},
                                                                          {"s4", Element::s4},
                                                                          {"u4", Element::u4},
                                                                          {"b1", Element::b1},
                                                                          {"e4m3", Element::e4m3},
                                                                          {"e5m2", Element::e5m2}}};

std::vector<Element> elements_of(const Instruction& i) {
  std::vector<Element> all;
  for (const auto& m : i.modifiers)
    for (const auto& [name, element] : kElements)
      if (m == name) all.push_back(element);
  return all;
}

// ".m16n8k16"
bool read_shape(const Instruction& i, MatrixForm& form) {
  for (const auto& m : i.modifiers) {
    int x = 0, y = 0, z = 0;
    if (m.size() > 1 && m[0] == 'm' && std::sscanf(std::string(m).c_str(), "m%dn%dk%d", &x, &y, &z) == 3) {
      form.m = x, form.n = y, form.k = z;
      return true;
    }
  }
  return false;
}

enum class Family { half, brain, tensor, byte_float, doubles, bytes, nibbles, bits, none };
Family family_of(Element a, Element b) {
  const auto among = [&](Element x, Element y) { return (a == x || a == y) && (b == x || b == y); };
  if (among(Element::s8, Element::u8)) return Family::bytes;
  if (among(Element::s4, Element::u4)) return Family::nibbles;
  if (among(Element::e4m3, Element::e5m2)) return Family::byte_float;
  if (a != b) return Family::none;
  switch (a) {
    case Element::f16: return Family::half;
    case Element::bf16: return Family::brain;
    case Element::tf32: return Family::tensor;
    case Element::f64: return Family::doubles;
    case Element::b1: return Family::bits;
    default: return Family::none;
  }
}

struct KnownShape {
  Family family;
  int m, n, k;
};
constexpr KnownShape kMmaShapes[] = {
    {Family::half, 8, 8, 4},      {Family::half, 16, 8, 8},        {Family::half, 16, 8, 16},
    {Family::brain, 16, 8, 8},    {Family::brain, 16, 8, 16},      {Family::tensor, 16, 8, 4},
    {Family::tensor, 16, 8, 8},   {Family::byte_float, 16, 8, 16}, {Family::byte_float, 16, 8, 32},
    {Family::doubles, 8, 8, 4},   {Family::doubles, 16, 8, 4},     {Family::doubles, 16, 8, 8},
    {Family::doubles, 16, 8, 16}, {Family::bytes, 8, 8, 16},       {Family::bytes, 16, 8, 16},
    {Family::bytes, 16, 8, 32},   {Family::nibbles, 8, 8, 32},     {Family::nibbles, 16, 8, 32},
    {Family::nibbles, 16, 8, 64}, {Family::bits, 8, 8, 128},       {Family::bits, 16, 8, 128},
    {Family::bits, 16, 8, 256}};
constexpr KnownShape kWmmaShapes[] = {
    {Family::half, 16, 16, 16},  {Family::half, 32, 8, 16},  {Family::half, 8, 32, 16},
    {Family::brain, 16, 16, 16}, {Family::brain, 32, 8, 16}, {Family::brain, 8, 32, 16},
    {Family::tensor, 16, 16, 8}, {Family::doubles, 8, 8, 4}, {Family::bytes, 16, 16, 16},
    {Family::bytes, 32, 8, 16},  {Family::bytes, 8, 32, 16}, {Family::nibbles, 8, 8, 32},
    {Family::bits, 8, 8, 128}};

bool is_known(const MatrixForm& f, bool wmma) {
  const auto is_it = [&](const KnownShape& s) {
    return s.family == family_of(f.a, f.b) && s.m == f.m && s.n == f.n && s.k == f.k;
  };
  return wmma ? std::any_of(std::begin(kWmmaShapes), std::end(kWmmaShapes), is_it)
              : std::any_of(std::begin(kMmaShapes), std::end(kMmaShapes), is_it);
}

// Accumulators: f16 and FP8 may have either float; the others have one type.
bool takes(Family family, Element sum) {
  switch (family) {
    case Family::half:
    case Family::byte_float: return sum == Element::f16 || sum == Element::f32;
    case Family::brain:
    case Family::tensor: return sum == Element::f32;
    case Family::doubles: return sum == Element::f64;
    default: return sum == Element::s32;
  }
}

SlotKind kind_of(Element e) {
  return e == Element::f64 ? SlotKind::wide : SlotKind::narrow;
}

// The operand's registers: in braces, or a single one without.
std::vector<Operand> parts_of(const Operand& operand) {
  return operand.kind == Operand::Kind::vector ? operand.parts : std::vector<Operand>{operand};
}

constexpr std::uint32_t slot_bytes(SlotKind kind) {
  return kind == SlotKind::wide ? 256 : 128;
}

}  // namespace

// Brings the first `n` registers of an operand into slots that lie one after the other; gives the first.
std::uint32_t Decoder::gather(const Operand& operand, std::size_t n, SlotKind kind) {
  const std::vector<Operand> parts = parts_of(operand);
  if (parts.size() < n || parts.size() % n != 0)
    unsupported(fmt::format("{} registers where {} are needed", parts.size(), n));
  std::vector<std::uint32_t> slots;
  for (std::size_t k = 0; k < n; ++k)
    slots.push_back(source(parts[k], kind, kind == SlotKind::wide ? Type::f64 : Type::b32));
  bool in_order = true;
  for (std::size_t k = 1; k < n; ++k) in_order = in_order && slots[k] == slots[k - 1] + slot_bytes(kind);
  if (in_order) return slots[0];
  const bool was_helper = std::exchange(helper_, true);
  std::uint32_t first = MicroOp::kNoSlot;
  for (std::size_t k = 0; k < n; ++k) {
    const std::uint32_t to = new_slot(kind);
    if (k == 0) first = to;
    simple(kind == SlotKind::wide ? "mov.wide" : "mov.narrow", to, {slots[k]});
  }
  helper_ = was_helper;
  return first;
}

// mma.sync.aligned.shape.row.col[.satfinite].dtype.atype.btype.ctype[.xor.popc] d, a, b, c
// wmma.mma[.op.popc].sync.aligned.alayout.blayout.shape.…: of f16, only the types of d and c are named
void Decoder::multiply_matrices(const Instruction& i) {
  const bool wmma = i.opcode == "wmma";
  if (!i.has("sync")) unsupported("the form without .sync was removed from sm_70 on");
  MatrixForm form;
  std::vector<Element> types = elements_of(i);
  if (wmma && types.size() == 2) types = {types[0], Element::f16, Element::f16, types[1]};
  if (types.size() != 4 || !read_shape(i, form)) unsupported();
  form.d = types[0], form.a = types[1], form.b = types[2], form.c = types[3];
  const Family family = family_of(form.a, form.b);
  if (!is_known(form, wmma) || !takes(family, form.d) || !takes(family, form.c))
    unsupported("not supported: this shape with these types");
  for (const auto& m : i.modifiers)
    if (m == "sp" || m.starts_with("sp::") || m.starts_with("kind::") || m.starts_with("block_scale"))
      unsupported(fmt::format("not supported: .{}", m));
  form.quads = family == Family::half && form.k == 4;
  form.satfinite = i.has("satfinite");
  form.conjunction = i.has("and");
  std::vector<bool> by_rows;
  for (const auto& m : i.modifiers)
    if (m == "row" || m == "col") by_rows.push_back(m == "row");
  if (by_rows.size() == 2) form.a_by_rows = by_rows[0], form.b_by_rows = by_rows[1];

  const SlotKind kind = kind_of(form.a);
  const auto count = [&](Part part, Element e) {
    return static_cast<std::size_t>(Fragment{form, part, e}.registers());
  };
  const std::uint32_t a = gather(i.operands.at(1), count(Part::a, form.a), kind);
  const std::uint32_t b = gather(i.operands.at(2), count(Part::b, form.b), kind);
  const std::uint32_t c = gather(i.operands.at(3), count(Part::c, form.c), kind_of(form.c));
  open_sync_block();
  const std::vector<Operand> to = parts_of(i.operands.at(0));
  const std::size_t n = count(Part::c, form.d);
  if (to.size() != n) unsupported(fmt::format("{} registers where {} are needed", to.size(), n));
  std::vector<std::uint32_t> out;
  for (std::size_t k = 0; k < n; ++k) out.push_back(new_slot(kind_of(form.d)));
  MicroOp& op = emit(family == Family::doubles                              ? "mma.double"
                     : family == Family::bits                               ? "mma.bits"
                     : family == Family::bytes || family == Family::nibbles ? "mma.integer"
                                                                            : "mma.float");
  op.imm = form.packed();
  op.src[0] = a, op.src[1] = b, op.src[2] = c, op.src[3] = constant(SlotKind::narrow, kAllLanes);
  op.dst[0] = out[0];
  const bool was_helper = std::exchange(helper_, true);
  for (std::size_t k = 0; k < n; ++k) {
    const SlotKind width = kind_of(form.d);
    const Result r = result(to[k], width, false);
    simple(width == SlotKind::wide ? "mov.wide" : "mov.narrow", r.slot, {out[k]});
    finish(r);
  }
  helper_ = was_helper;
}

// --- rows of 8 × 8 matrices in shared memory ----------------------------------------------------------------------

// The address in shared memory that a lane gives, as a 32-bit slot.
std::uint32_t Decoder::row_address(const Operand& operand) {
  const bool was_helper = std::exchange(helper_, true);
  const bool generic = !current_->has("shared") && !current_->has("shared::cta");
  const std::uint32_t at = generic_address(operand, generic ? Space::generic : Space::shared);
  const std::uint32_t offset = temporary(SlotKind::wide), narrow = temporary(SlotKind::narrow);
  simple("sub.u64", offset, {at, constant(SlotKind::wide, kSharedWindow)});
  simple("cvt.u32.u64", narrow, {offset});
  helper_ = was_helper;
  return narrow;
}

// An ordinary load or store; its registers are the caller's to fill in.
MicroOp& Decoder::plain_access(std::string_view key, std::uint32_t at, bool wide, std::int64_t offset,
                               int bytes) {
  MicroOp& op = emit(key);
  op.src[0] = at;
  op.wide_src = wide ? 1 : 0;
  op.imm = offset;
  op.width = static_cast<std::uint8_t>(bytes);
  op.order = kWeak | kScopeDevice;
  const bool store = op.kind == OpKind::store;
  op.n_src = store ? 2 : 1;
  op.n_dst = store ? 0 : 1;
  return op;
}

namespace {
int matrices(const Instruction& i) {
  return i.has("x4") ? 4 : i.has("x2") ? 2 : i.has("x1") ? 1 : 0;
}
}  // namespace

// ldmatrix.sync.aligned.m8n8.num[.trans][.shared].b16 {r, …}, [p] · stmatrix.… [p], {r, …}
// Lane 8 k + j gives the address of row j of matrix k. In register k a lane gets two neighbours of row lane ÷ 4, or of that column.
void Decoder::load_matrix(const Instruction& i) {
  const int n = matrices(i);
  if (!i.has("m8n8") || !i.has("b16") || n == 0) unsupported("not supported: shape or type");
  const bool store = i.opcode == "stmatrix", across = i.has("trans");
  const std::vector<Operand> registers = parts_of(i.operands.at(store ? 1 : 0));
  if (registers.size() != static_cast<std::size_t>(n)) unsupported(".num and the number of registers differ");
  const std::uint32_t rows = row_address(i.operands.at(store ? 0 : 1));
  const std::uint32_t lane = special("%laneid", SlotKind::narrow);
  const bool was_helper = std::exchange(helper_, true);
  const auto number = [&](std::uint32_t v) { return constant(SlotKind::narrow, v); };
  const auto calculate = [&](const char* key, std::uint32_t a, std::uint32_t b) {
    const std::uint32_t out = temporary(SlotKind::narrow);
    simple(key, out, {a, b});
    return out;
  };
  const std::uint32_t group = calculate("shr.u32", lane, number(2)),
                      turn = calculate("and.b32", lane, number(3));
  // Which row of the matrix a lane accesses, and where in it: two elements at once, or one in each of two rows.
  const std::uint32_t row = across ? calculate("shl.b32", turn, number(1)) : group;
  const std::uint32_t place =
      across ? calculate("shl.b32", group, number(1)) : calculate("shl.b32", turn, number(2));
  std::vector<std::uint32_t> values;
  if (store)
    for (const Operand& r : registers) values.push_back(source(r, SlotKind::narrow, Type::b32));
  std::vector<std::uint32_t> from;
  for (int k = 0; k < n; ++k)
    for (int j = 0; j < (across ? 2 : 1); ++j)
      from.push_back(calculate("add.u32", row, number(static_cast<std::uint32_t>(8 * k + j))));
  open_sync_block();
  std::vector<std::uint32_t> at;
  for (const std::uint32_t f : from) {
    helper_ = !at.empty();
    MicroOp& op = emit("shfl.idx");
    op.imm = static_cast<std::int64_t>(ShuffleMode::index);
    op.src[0] = rows, op.src[1] = f, op.src[2] = number(31), op.src[3] = number(kAllLanes);
    const std::uint32_t address = op.dst[0] = temporary(SlotKind::narrow);
    op.n_src = 3;
    op.n_dst = 1;
    helper_ = true;
    at.push_back(calculate("add.u32", address, place));
  }
  const auto access = [&](std::uint32_t address, std::uint32_t value, int bytes) {
    MicroOp& op =
        plain_access(fmt::format("{}.shared.u{}", store ? "st" : "ld", 8 * bytes), address, false, 0, bytes);
    op.space = MemorySpace::shared;
    (store ? op.src[1] : op.dst[0]) = value;
  };
  for (std::size_t k = 0; k < static_cast<std::size_t>(n); ++k) {
    if (store) {
      if (!across) access(at[k], values[k], 4);
      if (across) {
        access(at[2 * k], values[k], 2);
        access(at[2 * k + 1], calculate("shr.u32", values[k], number(16)), 2);
      }
      continue;
    }
    const Result out = result(registers[k], SlotKind::narrow, false);
    if (across) {
      const std::uint32_t low = temporary(SlotKind::narrow), high = temporary(SlotKind::narrow);
      access(at[2 * k], low, 2);
      access(at[2 * k + 1], high, 2);
      simple("or.b32", out.slot, {low, calculate("shl.b32", high, number(16))});
    } else {
      access(at[k], out.slot, 4);
    }
    finish(out);
  }
  helper_ = was_helper;
}
void Decoder::store_matrix(const Instruction& i) {
  load_matrix(i);
}

// movmatrix.sync.aligned.m8n8.trans.b16 d, a
void Decoder::move_matrix(const Instruction& i) {
  if (!i.has("m8n8") || !i.has("trans") || !i.has("b16")) unsupported("not supported: shape or type");
  const std::uint32_t a = source(i.operands.at(1), SlotKind::narrow, Type::b32);
  open_sync_block();
  const Result out = result(i.operands.at(0), SlotKind::narrow, false);
  MicroOp& op = emit("movmatrix");
  op.src[0] = a;
  op.src[3] = constant(SlotKind::narrow, kAllLanes);
  op.dst[0] = out.slot;
  finish(out);
}

// --- wmma's loads and stores --------------------------------------------------------------------------------------

void Decoder::warp_matrix(const Instruction& i) {
  if (i.has("mma")) return multiply_matrices(i);
  load_fragment(i);
}

// wmma.load.{a,b,c}.sync.aligned.layout.shape[.space].type {r, …}, [p][, stride] · wmma.store.d.… [p], {r, …}[, stride]
// Lines lie `stride` elements apart: rows, or columns. An element's place is linear in the lane's group and turn.
void Decoder::load_fragment(const Instruction& i) {
  const bool store = i.has("store"), by_rows = i.has("row");
  MatrixForm form;
  const std::vector<Element> types = elements_of(i);
  if (types.size() != 1 || !read_shape(i, form) || (by_rows == i.has("col"))) unsupported();
  const Element element = types[0];
  const Part part = i.has("a") ? Part::a : i.has("b") ? Part::b : Part::c;
  if (part == Part::a || part == Part::b) {
    form.a = form.b = element;
    if (!is_known(form, true)) unsupported("not supported: this shape with this type");
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
  // In bytes.
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
  // Lane 1 is a turn ahead, lane 4 a group: how much that is of lines and along them.
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
      access(r % n, 0, out.slot, register_bytes);  // registers beyond n hold the same once more
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
