// SPDX-License-Identifier: MIT
// Definitions shared by the instructions on matrices: types, shapes, and the registers of an operand. Private
// to this folder.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/decode/decoder.hpp"
#include "sim/ops/fragment.hpp"

namespace course::sim {

// Types of a and b that may be combined.
enum class Family : std::uint8_t { half, brain, tensor, byte_float, doubles, bytes, none };
Family family_of(Element a, Element b);

// The element types in an instruction's modifiers, in order.
std::vector<Element> elements_of(const Instruction& i);
// Reads m, n and k from a modifier such as ".m16n8k16"; false if there is none.
bool read_shape(const Instruction& i, MatrixForm& form);

// Whether the ISA has this shape with these types of a and b.
bool is_mma(const MatrixForm& form);
bool is_wmma(const MatrixForm& form);
// Whether c or d may have this type. f16 and FP8 allow f16 and f32; the others have one type.
bool takes(Family family, Element sum);

inline SlotKind kind_of(Element e) {
  return e == Element::f64 ? SlotKind::wide : SlotKind::narrow;
}

// The registers of an operand: those in braces, or a single one.
std::vector<Operand> parts_of(const Operand& operand);

}  // namespace course::sim
