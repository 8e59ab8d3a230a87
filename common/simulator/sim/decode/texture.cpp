// SPDX-License-Identifier: MIT
// Textures and surfaces, accessed through objects whose handle is in a register.
// tex[.level | .grad].geometry.v4.dtype.ctype {d, …}, [handle, {coordinates}] · suld.b, sust.b
#include <algorithm>

#include "sim/decode/decoder.hpp"
#include "sim/memory/texture.hpp"

namespace course::sim {

namespace {

bool read_geometry(const Instruction& i, Geometry& geometry) {
  constexpr std::pair<std::string_view, Geometry> kNames[] = {{"1d", Geometry::line},
                                                              {"2d", Geometry::plane},
                                                              {"3d", Geometry::volume},
                                                              {"a1d", Geometry::lines},
                                                              {"a2d", Geometry::planes}};
  for (const auto& [name, value] : kNames)
    if (i.has(name)) {
      geometry = value;
      return true;
    }
  return false;
}

std::size_t coordinates_of(Geometry g) {
  switch (g) {
    case Geometry::line: return 1;
    case Geometry::plane:
    case Geometry::lines: return 2;
    default: return 3;
  }
}

}  // namespace

// The handle and the coordinates, as sources of the next op.
std::vector<std::uint32_t> Decoder::texture_sources(const Operand& place, std::size_t n, Type type) {
  if (place.kind != Operand::Kind::address || place.index < 0)
    unsupported("not supported: only texture and surface objects, no references to module variables");
  std::vector<Operand> coordinates = place.parts;
  if (coordinates.size() == 1 && coordinates[0].kind == Operand::Kind::vector) {
    std::vector<Operand> inner = coordinates[0].parts;
    coordinates = std::move(inner);
  }
  if (coordinates.size() < n) unsupported("coordinates are missing");
  std::vector<std::uint32_t> slots{register_slot(place.index)};
  for (std::size_t k = 0; k < n; ++k) slots.push_back(source(coordinates[k], SlotKind::narrow, type));
  return slots;
}

void Decoder::texture(const Instruction& i) {
  TextureForm form;
  if (!read_geometry(i, form.geometry) || i.has("base"))
    unsupported("not supported: this geometry or level of detail");
  const std::vector<Operand>& to = i.operands.at(0).parts;
  if (to.size() != 4 || !i.has("v4")) unsupported("not supported: results other than four of 32 bits");
  form.whole_coordinates = last_type(i) == Type::s32;
  const auto slots = texture_sources(i.operands.at(1), coordinates_of(form.geometry), last_type(i));
  Result out[4];
  for (std::size_t k = 0; k < 4; ++k) out[k] = result(to[k], SlotKind::narrow, false);
  MicroOp& op = emit("tex");
  op.imm = form.packed();
  op.space = MemorySpace::global;
  std::copy(slots.begin(), slots.end(), op.src);
  op.n_src = static_cast<std::uint8_t>(slots.size());
  op.n_dst = 4;
  for (std::size_t k = 0; k < 4; ++k) op.dst[k] = out[k].slot;
  for (const Result& r : out) finish(r);
}

void Decoder::surface(const Instruction& i) {
  const bool store = i.opcode == "sust";
  TextureForm form;
  if (!i.has("b") || !read_geometry(i, form.geometry))
    unsupported("not supported: this form of surface access");
  const Type type = last_type(i);
  form.bytes = static_cast<std::uint8_t>(ptx::bits_of(type) / 8);
  form.count = i.has("v4") ? 4 : i.has("v2") ? 2 : 1;
  form.beyond = i.has("zero") ? Beyond::zero : i.has("clamp") ? Beyond::clamp : Beyond::trap;
  const Operand& value = i.operands.at(store ? 1 : 0);
  const std::vector<Operand> single{value};
  const std::vector<Operand>& values = value.kind == Operand::Kind::vector ? value.parts : single;
  if (values.size() != form.count || form.bytes > 8) unsupported("vector width");
  const SlotKind kind = slot_kind_of(type);
  const auto slots = texture_sources(i.operands.at(store ? 0 : 1), coordinates_of(form.geometry), Type::s32);
  std::vector<Result> out;
  for (const Operand& v : values)
    out.push_back(store ? Result{source(v, kind, type)} : result(v, kind, false));
  MicroOp& op = emit(store ? "sust" : "suld");
  op.imm = form.packed();
  op.space = MemorySpace::global;
  op.width = form.bytes;
  op.count = form.count;
  std::copy(slots.begin(), slots.end(), op.src);
  op.n_src = static_cast<std::uint8_t>(slots.size());
  op.n_dst = store ? 0 : form.count;
  for (std::size_t k = 0; k < values.size(); ++k) op.dst[k] = out[k].slot;
  if (kind == SlotKind::wide) op.wide_dst = 15;
  if (!store)
    for (const Result& r : out) finish(r);
}

}  // namespace course::sim
