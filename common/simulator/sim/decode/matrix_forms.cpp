// SPDX-License-Identifier: MIT
// The matrices of mma and wmma: tables of types and shapes.
// Source: NVIDIA, "PTX ISA", version 9.0, sections 9.7.15.2 to 9.7.15.5.
#include <algorithm>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>

#include "sim/decode/matrix.hpp"

namespace course::sim {
namespace {

constexpr struct {
  std::string_view name;
  Element element;
} kElements[] = {{"f16", Element::f16},  {"bf16", Element::bf16}, {"tf32", Element::tf32},
                 {"f32", Element::f32},  {"f64", Element::f64},   {"s32", Element::s32},
                 {"s8", Element::s8},    {"u8", Element::u8},     {"e4m3", Element::e4m3},
                 {"e5m2", Element::e5m2}};

struct KnownShape {
  Family family;
  int m, n, k;
};
constexpr KnownShape kMmaShapes[] = {
    {Family::half, 16, 8, 8},        {Family::half, 16, 8, 16},       {Family::brain, 16, 8, 8},
    {Family::brain, 16, 8, 16},      {Family::tensor, 16, 8, 4},      {Family::tensor, 16, 8, 8},
    {Family::byte_float, 16, 8, 16}, {Family::byte_float, 16, 8, 32}, {Family::doubles, 8, 8, 4},
    {Family::doubles, 16, 8, 4},     {Family::doubles, 16, 8, 8},     {Family::doubles, 16, 8, 16},
    {Family::bytes, 8, 8, 16},       {Family::bytes, 16, 8, 16},      {Family::bytes, 16, 8, 32},
};
constexpr KnownShape kWmmaShapes[] = {
    {Family::half, 16, 16, 16},  {Family::half, 32, 8, 16},  {Family::half, 8, 32, 16},
    {Family::brain, 16, 16, 16}, {Family::brain, 32, 8, 16}, {Family::brain, 8, 32, 16},
    {Family::tensor, 16, 16, 8}, {Family::doubles, 8, 8, 4}, {Family::bytes, 16, 16, 16},
    {Family::bytes, 32, 8, 16},  {Family::bytes, 8, 32, 16},
};

bool is_among(std::span<const KnownShape> shapes, const MatrixForm& f) {
  return std::ranges::any_of(shapes, [&](const KnownShape& s) {
    return s.family == family_of(f.a, f.b) && s.m == f.m && s.n == f.n && s.k == f.k;
  });
}

}  // namespace

std::vector<Element> elements_of(const Instruction& i) {
  std::vector<Element> all;
  for (const auto& m : i.modifiers)
    for (const auto& [name, element] : kElements)
      if (m == name) all.push_back(element);
  return all;
}

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

Family family_of(Element a, Element b) {
  const auto among = [&](Element x, Element y) { return (a == x || a == y) && (b == x || b == y); };
  if (among(Element::s8, Element::u8)) return Family::bytes;
  if (among(Element::e4m3, Element::e5m2)) return Family::byte_float;
  if (a != b) return Family::none;
  switch (a) {
    case Element::f16: return Family::half;
    case Element::bf16: return Family::brain;
    case Element::tf32: return Family::tensor;
    case Element::f64: return Family::doubles;
    default: return Family::none;
  }
}

bool is_mma(const MatrixForm& form) {
  return is_among(kMmaShapes, form);
}
bool is_wmma(const MatrixForm& form) {
  return is_among(kWmmaShapes, form);
}

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

std::vector<Operand> parts_of(const Operand& operand) {
  return operand.kind == Operand::Kind::vector ? operand.parts : std::vector<Operand>{operand};
}

}  // namespace course::sim
