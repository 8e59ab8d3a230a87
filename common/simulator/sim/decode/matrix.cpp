// SPDX-License-Identifier: MIT
// mma and wmma.mma: products of matrices in a warp's registers, computed by ops/matrix_rows.cpp.
// matrix_forms.cpp: types and shapes; ldmatrix.cpp and wmma_memory.cpp: loads and stores of matrices;
// ops/fragment.hpp: the distribution of elements.
// Source: NVIDIA, "PTX ISA", version 9.0, section 9.7.15.
#include "sim/decode/matrix.hpp"

#include <fmt/format.h>

#include <utility>

namespace course::sim {
namespace {

constexpr std::uint32_t slot_bytes(SlotKind kind) {
  return kind == SlotKind::wide ? 256 : 128;
}

}  // namespace

// Copies the first `n` registers of an operand into consecutive slots; returns the first slot.
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

// mma.sync.aligned.shape.row.col[.satfinite].dtype.atype.btype.ctype d, a, b, c
// wmma.mma.sync.aligned.alayout.blayout.shape.…: for f16, only the types of d and c are given
void Decoder::multiply_matrices(const Instruction& i) {
  const bool wmma = i.opcode == "wmma";
  if (!i.has("sync")) unsupported("the form without .sync was removed from sm_70 on");
  for (const auto& m : i.modifiers) {
    if (m == "sp" || m.starts_with("sp::"))
      unsupported(i.operands.at(4), fmt::format("not supported: .{}, a sparse matrix with its metadata", m));
    if (m.starts_with("kind::") || m.starts_with("block_scale"))
      unsupported(fmt::format("not supported: .{}", m));
  }
  MatrixForm form;
  std::vector<Element> types = elements_of(i);
  if (wmma && types.size() == 2) types = {types[0], Element::f16, Element::f16, types[1]};
  if (types.size() != 4 || !read_shape(i, form)) unsupported();
  form.d = types[0], form.a = types[1], form.b = types[2], form.c = types[3];
  const Family family = family_of(form.a, form.b);
  if (!(wmma ? is_wmma(form) : is_mma(form)) || !takes(family, form.d) || !takes(family, form.c))
    unsupported("not supported: this shape with these types");
  form.satfinite = i.has("satfinite");

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
  MicroOp& op = emit(family == Family::doubles ? "mma.double"
                     : family == Family::bytes ? "mma.integer"
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

void Decoder::warp_matrix(const Instruction& i) {
  if (i.has("mma")) return multiply_matrices(i);
  access_fragment(i);
}

}  // namespace course::sim
